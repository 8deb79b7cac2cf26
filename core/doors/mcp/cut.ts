import { toWord } from './mend.ts';
import type { Json, JsonFields } from './reply.ts';
import { isFields } from './reply.ts';

/** A part of a value that was cut out. */
export interface Gap {
  /** The path of the value: `inputs.messages.3.content`. */
  readonly path: string;
  /** The first character of a text, item of a list or field of an object that is missing. */
  readonly from: number;
  /** How many there are in all. */
  readonly of: number;
  /** What is counted. Of a `value` nothing is shown: its size is that of its JSON. */
  readonly unit: 'characters' | 'items' | 'fields' | 'value';
}

type Field = readonly [name: string, value: Json | undefined];

/** A value with as much as there was room for, and what is missing. */
export interface Cut {
  readonly value: Json;
  readonly gaps: readonly Gap[];
}

/** The characters of values as JSON. Those of lists and objects are worked out once. */
class Sizes {
  readonly #known = new WeakMap<object, number>();

  getSize(value: Json | undefined): number {
    if (typeof value === 'string') return JSON.stringify(value).length;
    if (typeof value !== 'object' || value === null) return String(value).length;
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    const parts = Array.isArray(value)
      ? value.map((item) => this.getSize(item) + 1)
      : Object.entries(value).map(([name, item]) => name.length + 4 + this.getSize(item));
    const size = parts.reduce((sum, part) => sum + part, 2);
    this.#known.set(value, size);
    return size;
  }
}

/** Less than this shows nothing of a value. */
const leastRoom = 40;

/**
 * Divides room among values: those that need little get all of it, and the others an equal share of
 * the rest. So what is long is cut first.
 *
 * @returns the room of the largest share
 */
const divideRoom = (needs: readonly number[], room: number): number => {
  const sorted = [...needs].sort((a, b) => a - b);
  let left = room;
  for (const [i, need] of sorted.entries()) {
    const share = left / (sorted.length - i);
    if (need > share) return Math.floor(share);
    left -= need;
  }
  return Number.POSITIVE_INFINITY;
};

/** The first characters of a text that take no more room than that as JSON. */
const beginning = (text: string, room: number): string => {
  let end = Math.min(text.length, room);
  for (;;) {
    const size = JSON.stringify(text.slice(0, end)).length;
    if (size <= room || end === 0) break;
    end = Math.max(0, Math.floor((end * room) / size) - 1);
  }
  // A pair of surrogates stays together.
  return text.slice(0, end).toWellFormed() === text.slice(0, end)
    ? text.slice(0, end)
    : text.slice(0, end - 1);
};

/** The path of a field of a value. */
export const pathBelow = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

/**
 * Cuts a value so that its JSON has about so many characters at most. Long texts lose their ends,
 * long lists their middles, and objects their longest fields.
 *
 * @param path where the value stands in its call
 * @param keepsFields whether each field of the value itself is shown, with little of it perhaps
 */
export const cutter = (): ((value: Json, room: number, path: string, keepsFields?: boolean) => Cut) => {
  const sizes = new Sizes();
  return (value, room, path, keepsFields = false) => {
    const gaps: Gap[] = [];
    const cut = (value: Json, space: number, at: string): Json => {
      if (sizes.getSize(value) <= space) return value;
      if (typeof value === 'string') return cutText(value, space, at);
      if (Array.isArray(value)) return cutList(value, space, at);
      return isFields(value) ? cutFields(value, space, at) : value;
    };
    const cutText = (text: string, space: number, at: string): Json => {
      const kept = beginning(text, Math.max(0, space - 3));
      gaps.push({ path: at, from: kept.length, of: text.length, unit: 'characters' });
      return `${kept}…`;
    };
    const cutList = (list: readonly Json[], space: number, at: string): Json => {
      const most = Math.floor(space / leastRoom);
      const head = most >= list.length ? list.length : Math.ceil(most / 2);
      const tail = most >= list.length ? 0 : Math.floor(most / 2);
      const kept = [...list.keys()].filter((i) => i < head || i >= list.length - tail);
      const missing = list.length - kept.length;
      if (missing > 0) gaps.push({ path: at, from: head, of: list.length, unit: 'items' });
      const share = divideRoom(
        kept.map((i) => sizes.getSize(list[i]) + 1),
        space - 2 - (missing > 0 ? leastRoom : 0),
      );
      const shown = kept.map((i) => cut(list[i] ?? null, share, `${at}.${i}`));
      if (missing === 0) return shown;
      return [...shown.slice(0, head), `… ${missing} items left out …`, ...shown.slice(head)];
    };
    const cutFields = (fields: JsonFields, space: number, at: string): Json => {
      const all = Object.entries(fields);
      const kept = keepsFields && fields === value ? all : shortestOf(all, space);
      const lost = all.filter((entry) => !kept.includes(entry));
      // The call itself has no path: each of its fields has one.
      if (at === '')
        for (const [name, item] of lost)
          gaps.push({ path: name, from: 0, of: sizes.getSize(item), unit: 'value' });
      else if (lost.length > 0) gaps.push({ path: at, from: kept.length, of: all.length, unit: 'fields' });
      const names = kept.reduce((sum, [name]) => sum + name.length + 4, 2);
      const share = divideRoom(
        kept.map(([, item]) => sizes.getSize(item)),
        space - names,
      );
      return Object.fromEntries(
        kept.map(([name, item]) => [name, cut(item ?? null, Math.max(0, share), pathBelow(at, name))]),
      );
    };
    /** Those fields that there is room for, the shortest first, in their order: at least one. */
    const shortestOf = (all: readonly Field[], space: number): readonly Field[] => {
      const needed = ([name, item]: Field): number =>
        name.length + 4 + Math.min(leastRoom, sizes.getSize(item));
      let left = space;
      const kept = new Set(
        all
          .toSorted(([, a], [, b]) => sizes.getSize(a) - sizes.getSize(b))
          .filter((field, i) => {
            left -= needed(field);
            return i === 0 || left >= 0;
          }),
      );
      return all.filter((field) => kept.has(field));
    };
    return { value: cut(value, room, path), gaps };
  };
};

/** How to get what a gap left out. */
export const wayTo = ({ path, from, unit }: Gap, callId?: string): string =>
  `get_call${callId === undefined ? '' : ` of ${toWord(callId)}`} with path ${toWord(path)}${unit === 'fields' || unit === 'value' ? '' : ` and offset ${from}`}`;

/** How many gaps a reply names. */
const maxNamed = 8;

/** What is missing of a value, and how to get it. */
const gapText = (gap: Gap, get: (gap: Gap) => string): string => {
  const { from, of, unit } = gap;
  const [first, all] = [from, of].map((count) => count.toLocaleString('en-US'));
  if (unit === 'value') return `left out, ${all} characters: ${get(gap)}`;
  if (unit === 'fields') return `${first} of ${all} fields shown: ${get(gap)}`;
  return `${unit} from ${first} on, of ${all}: ${get(gap)}`;
};

/** How gaps are told of. */
interface Telling {
  /** @default - {@link wayTo} */
  readonly get?: (gap: Gap) => string;
  /** How many have a line of their own. @default 8 */
  readonly most?: number;
  /** The paths that lead to the others. @default - none */
  readonly places?: readonly string[];
}

/** What was cut out, the largest first, each in one line. */
export const gapTexts = (
  gaps: readonly Gap[],
  { get = (gap) => wayTo(gap), most = maxNamed, places = [] }: Telling = {},
): string[] => {
  const bySize = gaps.toSorted((a, b) => b.of - b.from - (a.of - a.from));
  const named = bySize.slice(0, most).map((gap) => gapText(gap, get));
  const rest = bySize.slice(most);
  if (rest.length === 0) return named;
  const ways = places.filter((place) =>
    rest.some(({ path }) => path === place || path.startsWith(`${place}.`)),
  );
  const way = ways.length > 0 ? `get_call with each path: ${ways.map(toWord).join(', ')}` : 'each ends in …';
  return [...named, `${rest.length}${most > 0 ? ' more' : ''} values were cut: ${way}`];
};

/** How many gaps a reply of so many characters names. */
export const namedIn = (maxCharacters: number): number =>
  Math.max(1, Math.min(maxNamed, Math.floor(maxCharacters / 1500)));
