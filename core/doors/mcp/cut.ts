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

  of(value: Json | undefined): number {
    if (typeof value === 'string') return JSON.stringify(value).length;
    if (typeof value !== 'object' || value === null) return String(value).length;
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    const parts = Array.isArray(value)
      ? value.map((item) => this.of(item) + 1)
      : Object.entries(value).map(([name, item]) => name.length + 4 + this.of(item));
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
const shareOf = (needs: readonly number[], room: number): number => {
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
    const cut = (of: Json, space: number, at: string): Json => {
      if (sizes.of(of) <= space) return of;
      if (typeof of === 'string') return cutText(of, space, at);
      if (Array.isArray(of)) return cutList(of, space, at);
      return isFields(of) ? cutFields(of, space, at) : of;
    };
    const cutText = (of: string, space: number, at: string): Json => {
      const kept = beginning(of, Math.max(0, space - 3));
      gaps.push({ path: at, from: kept.length, of: of.length, unit: 'characters' });
      return `${kept}…`;
    };
    const cutList = (of: readonly Json[], space: number, at: string): Json => {
      const most = Math.floor(space / leastRoom);
      const head = most >= of.length ? of.length : Math.ceil(most / 2);
      const tail = most >= of.length ? 0 : Math.floor(most / 2);
      const kept = [...of.keys()].filter((i) => i < head || i >= of.length - tail);
      const missing = of.length - kept.length;
      if (missing > 0) gaps.push({ path: at, from: head, of: of.length, unit: 'items' });
      const share = shareOf(
        kept.map((i) => sizes.of(of[i]) + 1),
        space - 2 - (missing > 0 ? leastRoom : 0),
      );
      const shown = kept.map((i) => cut(of[i] ?? null, share, `${at}.${i}`));
      if (missing === 0) return shown;
      return [...shown.slice(0, head), `… ${missing} items left out …`, ...shown.slice(head)];
    };
    const cutFields = (of: JsonFields, space: number, at: string): Json => {
      const all = Object.entries(of);
      const most = Math.max(1, Math.floor(space / leastRoom));
      const kept = all.slice(0, most);
      if (kept.length < all.length)
        gaps.push({ path: at, from: kept.length, of: all.length, unit: 'fields' });
      const names = kept.reduce((sum, [name]) => sum + name.length + 4, 2);
      const share = shareOf(
        kept.map(([, item]) => sizes.of(item)),
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
  `get_call${callId === undefined ? '' : ` of ${callId}`} with path ${path}${unit === 'fields' ? '' : ` and offset ${from}`}`;

/** How many gaps a reply names. */
const maxNamed = 8;

/** What was cut out, the largest first, each in one line. */
export const gapTexts = (gaps: readonly Gap[], get: (gap: Gap) => string = (gap) => wayTo(gap)): string[] => {
  const bySize = gaps.toSorted((a, b) => b.of - b.from - (a.of - a.from));
  const named = bySize
    .slice(0, maxNamed)
    .map(
      (gap) =>
        `${gap.path}: ${gap.unit} from ${gap.from.toLocaleString('en-US')} on, of ${gap.of.toLocaleString('en-US')}: ${get(gap)}`,
    );
  const more = gaps.length - named.length;
  return more > 0 ? [...named, `${more} more values were cut; each ends in …`] : named;
};
