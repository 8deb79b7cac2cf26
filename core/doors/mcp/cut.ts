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
  readonly unit: 'characters' | 'items' | 'fields';
}

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

/**
 * Cuts a value so that its JSON has about so many characters at most. Long texts lose their ends,
 * long lists their middles.
 *
 * @param path where the value stands in its call
 */
export const cutter = (): ((value: Json, room: number, path: string) => Cut) => {
  const sizes = new Sizes();
  return (value, room, path) => {
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
      const most = Math.max(1, Math.floor(space / leastRoom));
      const kept = all.slice(0, most);
      if (kept.length < all.length)
        gaps.push({ path: at, from: kept.length, of: all.length, unit: 'fields' });
      const names = kept.reduce((sum, [name]) => sum + name.length + 4, 2);
      const share = divideRoom(
        kept.map(([, item]) => sizes.getSize(item)),
        space - names,
      );
      return Object.fromEntries(
        kept.map(([name, item]) => [
          name,
          cut(item ?? null, Math.max(0, share), at === '' ? name : `${at}.${name}`),
        ]),
      );
    };
    return { value: cut(value, room, path), gaps };
  };
};

/** How to get what a gap left out. */
export const wayTo = ({ path, from, unit }: Gap, callId?: string): string =>
  `get_call${callId === undefined ? '' : ` of ${toWord(callId)}`} with path ${toWord(path)}${unit === 'fields' ? '' : ` and offset ${from}`}`;

/** How many gaps a reply names. */
const maxNamed = 8;

/** What was cut out, the largest first, each in one line. */
export const gapTexts = (gaps: readonly Gap[], get: (gap: Gap) => string = (gap) => wayTo(gap)): string[] => {
  const bySize = gaps.toSorted((a, b) => b.of - b.from - (a.of - a.from));
  const named = bySize
    .slice(0, maxNamed)
    .map(
      (gap) =>
        `${toWord(gap.path)}: ${gap.unit} from ${gap.from.toLocaleString('en-US')} on, of ${gap.of.toLocaleString('en-US')}: ${get(gap)}`,
    );
  const more = gaps.length - named.length;
  return more > 0 ? [...named, `${more} more values were cut; each ends in …`] : named;
};
