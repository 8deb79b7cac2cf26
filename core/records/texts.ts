import { randomUUID } from 'node:crypto';
import { decodeMessagePack, encodeMessagePack } from '../../foundations/encoding/index.ts';
import { mapAhead } from '../../foundations/listing/index.ts';
import {
  asBytes,
  type Cursor,
  deleteItems,
  type Item,
  type Page,
  type PageOptions,
  putItems,
  queryPage,
  type RequestBudget,
  type Table,
} from '../../foundations/storage/index.ts';
import type { Micros, ProjectId } from '../../foundations/wire/index.ts';
import { toPartition } from './partitions.ts';
import { type Hour, readMarks, readNumber, textGroups, textKey, textParts, toExpiry } from './rollups.ts';

/*
 * Which trigrams the texts of finished hours have, so that a search leaves out calls that cannot hold what it
 * looks for. docs/decisions/0317 has the reasons. A trigram is three UTF-16 units of JSON text in lower case
 * without what JSON escapes: a text has the same ones by itself, in JSON, and in whatever case it is sought.
 */

/** Hashes of trigrams have so many bits. */
const hashBits = 20;
const hashes = 2 ** hashBits;

const hashOf = (a: number, b: number, c: number): number => {
  const sum = Math.imul(a, 0x9e3779b1) + Math.imul(b, 0x85ebca6b) + Math.imul(c, 0xc2b2ae35);
  return Math.imul(sum ^ (sum >>> 15), 0x2c1b3c6d) >>> (32 - hashBits);
};

/**
 * A text in lower case. At the end of a word a sigma has another one, which no other letter has: without that,
 * what a part of a text becomes is a part of what the text becomes.
 */
const fold = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ');

/** Whether JSON text has a unit only around texts or to escape another: no trigram reaches over it. */
const isBreak = (unit: number): boolean => unit < 0x20 || unit === 0x22 || unit === 0x5c;

const eachHash = (folded: string, take: (hash: number) => void): void => {
  let a = 0;
  let b = 0;
  for (let i = 0; i < folded.length; i++) {
    const c = folded.charCodeAt(i);
    if (isBreak(c)) {
      a = 0;
      b = 0;
      continue;
    }
    if (a !== 0) take(hashOf(a, b, c));
    a = b;
    b = c;
  }
};

/** The most trigrams of a text that are looked for. More would hardly leave out more. */
const maxSought = 64;

/**
 * The hashes of trigrams that a call has if one of its texts, or its JSON, contains a text. Halves of pairs have
 * no trigrams: JSON escapes them where they are alone, and elsewhere they are another letter's.
 */
export const hashesOf = (text: string): readonly number[] => {
  const found = new Set<number>();
  eachHash(fold(text.replaceAll(/\p{Surrogate}/gu, '"')), (hash) => found.add(hash));
  const all = [...found];
  const step = Math.max(1, all.length / maxSought);
  return Array.from({ length: Math.min(all.length, maxSought) }, (_, i) => all[Math.floor(i * step)] ?? 0);
};

/** What the texts of calls have to have: all trigrams, or what several or one of several ask for. */
export type TextTest =
  | { readonly kind: 'hashes'; readonly hashes: readonly number[] }
  | { readonly kind: 'all' | 'any'; readonly of: readonly TextTest[] };

/** The hashes that a test asks about. */
const asked = (test: TextTest): readonly number[] =>
  test.kind === 'hashes' ? test.hashes : test.of.flatMap(asked);

const passes = (test: TextTest, has: (hash: number) => boolean): boolean => {
  if (test.kind === 'hashes') return test.hashes.every(has);
  return test.kind === 'all'
    ? test.of.every((each) => passes(each, has))
    : test.of.some((each) => passes(each, has));
};

/**
 * Calls that lie beside each other in time, and the hashes of their trigrams: mapped to a range of `count`
 * times 2 ** `bits`, in order, each as how far it is from the last (Golomb and Rice). One in 2 ** `bits` seems to be
 * there that is not.
 */
export interface TextGroup {
  /** When the first call starts, and the last. */
  readonly from: Micros;
  readonly to: Micros;
  readonly calls: number;
  readonly count: number;
  readonly bits: number;
  /** Null for calls whose texts are too many to tell: anything may be among them. */
  readonly packed: Uint8Array | null;
}

const mapper = (count: number, bits: number) => {
  const factor = (count * 2 ** bits) / hashes;
  return (hash: number): number => Math.floor(hash * factor);
};

/** Packs hashes, each once. */
const packHashes = (list: readonly number[], bits: number): Uint8Array => {
  const sorted = Float64Array.from(list, mapper(list.length, bits)).sort();
  const bytes = Buffer.alloc(Math.ceil((list.length * (bits + 2) + 64) / 8));
  let at = 0;
  const one = (): void => {
    bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (1 << (at & 7));
    at++;
  };
  let last = -1;
  for (const value of sorted) {
    if (value === last) continue;
    const gap = value - last - 1;
    for (let i = gap >> bits; i > 0; i--) one();
    at++;
    for (let bit = 0; bit < bits; bit++) {
      if ((gap >> bit) & 1) one();
      else at++;
    }
    last = value;
  }
  return bytes.subarray(0, Math.ceil(at / 8));
};

/**
 * Goes through packed hashes, and tells which of some values are not among them.
 *
 * @param wanted the values, in order
 * @param miss takes one that is not there; gives whether to go on
 * @returns whether it went on to the end
 */
const eachMissing = (
  packed: Uint8Array,
  bits: number,
  wanted: readonly number[],
  miss: (value: number) => boolean,
): boolean => {
  const mask = 2 ** bits - 1;
  /** The bits that come next, from the lowest on, and how many there are. */
  let ahead = 0;
  let have = 0;
  let at = 0;
  const fill = (): void => {
    for (; have <= 24 && at < packed.length; have += 8) ahead |= (packed[at++] ?? 0) << have;
  };
  /** The next value; infinite behind the last. */
  const read = (last: number): number => {
    let quotient = 0;
    for (;;) {
      fill();
      if (have === 0) return Number.POSITIVE_INFINITY;
      const ones = ahead === -1 ? have : Math.min(have, 31 - Math.clz32(~ahead & -~ahead));
      quotient += ones;
      const used = Math.min(have, ones + 1);
      have -= used;
      ahead = used > 31 ? 0 : ahead >>> used;
      if (ones < used) break;
    }
    fill();
    if (have < bits) return Number.POSITIVE_INFINITY;
    const value = last + quotient * 2 ** bits + (ahead & mask) + 1;
    ahead >>>= bits;
    have -= bits;
    return value;
  };
  let value = -1;
  for (const each of wanted) {
    while (value < each) value = read(value);
    if (value !== each && !miss(each)) return false;
  }
  return true;
};

/** Makes the test whether calls of a group may have what is looked for. It is never wrong that they have not. */
export const groupTest = (test: TextTest): ((group: TextGroup) => boolean) => {
  const all = [...new Set(asked(test))].sort((a, b) => a - b);
  return ({ packed, count, bits }) => {
    if (packed === null) return true;
    const map = mapper(count, bits);
    const missing = new Set<number>();
    // The first one or few that are missing mostly decide.
    return eachMissing(packed, bits, all.map(map), (value) => {
      missing.add(value);
      return passes(test, (hash) => !missing.has(map(hash)));
    });
  };
};

/** About how many calls a group has; more where their texts have much that is new. */
const groupCalls = 32;
const maxGroupCalls = 512;
/** The bytes that a call may take, and those around the hashes of a group. */
const callBytes = 72;
const groupBytes = 24;
/** A hash takes so many bits beside those of its rest, on average. */
const quotientBits = 1.6;
const maxBits = 8;
/** As many bits leave out most. A group that has not enough grows first. */
const goodBits = 5;
/** An hour with few calls takes a write unit all the same. */
const leastBytes = 900;

const bitsFor = (bytes: number, count: number): number =>
  Math.min(maxBits, Math.floor(((bytes - groupBytes) * 8) / Math.max(1, count) - quotientBits));

interface OpenGroup {
  readonly number: number;
  from: Micros;
  to: Micros;
  calls: number;
  readonly found: number[];
}

/** The number of the group that each hash was met in last: whatever else is made meanwhile, none is missed. */
let met: Uint32Array | undefined;
let lastGroup = 0;

/** Makes the groups of one hour of calls that come in order of time, forwards or backwards. */
export class GroupMaker {
  #packed: TextGroup[] = [];
  #open: OpenGroup[] = [];
  #bytes = 0;

  /** @param texts of the call, as JSON */
  add(startedAt: Micros, texts: readonly string[]): void {
    let group = this.#open.at(-1);
    // Calls that start at the same time stay together.
    if (!group || (this.#isFull(group) && startedAt !== group.to && startedAt !== group.from)) {
      // A last group of few calls is going to be joined with the one before.
      if (this.#open.length > 1) this.#close();
      group = { number: ++lastGroup, from: startedAt, to: startedAt, calls: 0, found: [] };
      this.#open.push(group);
    }
    group.from = Math.min(group.from, startedAt);
    group.to = Math.max(group.to, startedAt);
    group.calls++;
    met ??= new Uint32Array(hashes);
    const seen = met;
    const { number, found } = group;
    for (const text of texts)
      eachHash(fold(text), (hash) => {
        if (seen[hash] === number) return;
        seen[hash] = number;
        found.push(hash);
      });
  }

  /** The groups of all that was added, in order of time. */
  finish(): TextGroup[] {
    const last = this.#open.at(-1);
    const before = this.#open.at(-2);
    if (last && before && last.calls < groupCalls / 2) {
      this.#open = [
        {
          ...last,
          from: Math.min(last.from, before.from),
          to: Math.max(last.to, before.to),
          calls: last.calls + before.calls,
          found: [...new Set([...before.found, ...last.found])],
        },
      ];
    }
    while (this.#open.length > 0) this.#close();
    return this.#packed.sort((a, b) => a.from - b.from);
  }

  #isFull({ calls, found }: OpenGroup): boolean {
    if (calls < groupCalls) return false;
    return calls >= maxGroupCalls || bitsFor(calls * callBytes, found.length) >= goodBits;
  }

  #close(): void {
    const group = this.#open.shift();
    if (!group) return;
    const { from, to, calls, found } = group;
    const bytes = Math.max(calls * callBytes, this.#bytes === 0 ? leastBytes : 0);
    this.#bytes += bytes;
    const bits = bitsFor(bytes, found.length);
    const packed = bits < 1 ? null : packHashes(found, bits);
    this.#packed.push({ from, to, calls, count: found.length, bits: Math.max(bits, 0), packed });
  }
}

/* An item has MessagePack, [version, mark, from, to, groups, stamp]. `rollups.ts` has its key. */

const version = 1;
/** The groups of an hour are stored in parts of about so many bytes. */
const partBytes = 300_000;
/** A part has at least so many bytes if another follows. */
const leastPartBytes = partBytes - maxGroupCalls * callBytes;

/** The groups of an hour, and the hours around it that have no calls. */
export interface TextHour {
  readonly hour: Hour;
  /** The latest mark of the hours that it is about. */
  readonly mark: number;
  /** The hours that it is about, inclusive. */
  readonly from: Hour;
  readonly to: Hour;
  readonly groups: readonly TextGroup[];
}

type PackedGroup = [
  from: number,
  length: number,
  calls: number,
  count: number,
  bits: number,
  packed: Uint8Array | null,
];

const toParts = (projectId: ProjectId, text: TextHour): Item[] => {
  const parts: PackedGroup[][] = [[]];
  let bytes = 0;
  for (const { from, to, calls, count, bits, packed } of text.groups) {
    bytes += packed?.length ?? 0;
    if (bytes > partBytes) {
      parts.push([]);
      bytes = packed?.length ?? 0;
    }
    parts.at(-1)?.push([from, to - from, calls, count, bits, packed]);
  }
  // Two searches may note an hour at once, each with groups of its own.
  const stamp = parts.length > 1 ? randomUUID() : null;
  return parts.map((groups, part) => ({
    ...textKey(projectId, text.hour, part),
    [textParts]: parts.length,
    [textGroups]: encodeMessagePack([version, text.mark, text.from, text.to, groups, stamp]),
  }));
};

/** The keys of further parts that an hour may have had before, when its groups were others. */
const furtherParts = (projectId: ProjectId, { hour, groups }: TextHour, parts: number): Item[] => {
  const calls = groups.reduce((sum, group) => sum + group.calls, 0);
  const most = 1 + Math.floor((calls * callBytes) / leastPartBytes);
  return Array.from({ length: Math.max(0, most - parts) }, (_, i) => ({
    ...textKey(projectId, hour, parts + i),
  }));
};

interface TextPart extends TextHour {
  readonly parts: number;
  /** What the parts of an hour have in common that were written together. */
  readonly stamp: string | null;
}

/** Reads a part; undefined if its groups were taken out of it, or another release wrote it otherwise. */
const readPart = ({ s, [textParts]: parts, [textGroups]: h }: Item): TextPart | undefined => {
  const key = asBytes(s);
  const bytes = asBytes(h);
  if (!key || !bytes || typeof parts !== 'number') return undefined;
  const [found, mark, first, last, packed, stamp = null] = decodeMessagePack(bytes) as [
    number,
    number,
    Hour,
    Hour,
    PackedGroup[],
    string | null | undefined,
  ];
  if (found !== version) return undefined;
  const groups = packed.map(([from, length, calls, count, bits, hashesOfGroup]) => ({
    from,
    to: from + length,
    calls,
    count,
    bits,
    packed: hashesOfGroup,
  }));
  return { hour: readNumber(key), parts, mark, from: first, to: last, groups, stamp };
};

/** An hour whose parts were all written by one search; nothing if some are another's. */
const joinTextParts = (parts: readonly TextPart[]): TextHour[] => {
  // What is left of more parts that an hour had before is none of it.
  for (const { stamp, mark, parts: count } of parts) {
    const own = parts.filter((part) => part.stamp === stamp && part.mark === mark && part.parts === count);
    const [first] = own;
    if (first && own.length === count) return [{ ...first, groups: own.flatMap(({ groups }) => groups) }];
  }
  return [];
};

/** The items of a first page: enough for a list of what is new. */
const firstItems = 24;
/** After that, so many requests are under way at once, each for about so many bytes. */
const requestsAhead = 4;
const requestBytes = 300_000;
/** How much more time than the last one a request covers, at most. */
const maxGrowth = 4;

/** The hours of a request. */
interface HourSpan {
  readonly from: Hour;
  readonly to: Hour;
  readonly start?: Cursor | undefined;
}

/** Reads the parts of hours that are stored, as {@link readTexts} asks for them. */
class TextReader {
  readonly #read: (span: HourSpan, options?: PageOptions) => Promise<Page>;
  readonly #descending: boolean;
  /** How many hours have about {@link requestBytes}, by what was read last. */
  #length = 1;

  constructor(table: Table, projectId: ProjectId, descending: boolean, budget: RequestBudget) {
    this.#descending = descending;
    this.#read = ({ from, to, start }, options) => {
      const sort = ['s', textKey(projectId, from, 0).s, textKey(projectId, to, 0xffff).s] as const;
      const range = { partition: ['k', toPartition('texts', projectId)], sort } as const;
      return queryPage(table, range, budget, { descending, start, ...options });
    };
  }

  /** The items of some hours a page at a time, in order. After the first page, several are read at once. */
  async *pages(span: HourSpan): AsyncGenerator<readonly Item[]> {
    const first = await this.#read(span, { limit: firstItems });
    yield first.items;
    const at = hourOf(first.items.at(-1));
    if (!first.next || at === undefined) return;
    this.#learn(first.items, Math.abs((hourOf(first.items[0]) ?? at) - at) + 1);
    const spans = this.#spans(span, at, first.next);
    for await (let { page, of } of mapAhead(spans, requestsAhead, (next) => this.#readSpan(next))) {
      yield page.items;
      while (page.next) {
        page = await this.#read({ ...of, start: page.next });
        yield page.items;
      }
    }
  }

  async #readSpan(of: HourSpan) {
    const page = await this.#read(of);
    this.#learn(page.items, of.to - of.from + 1);
    return { page, of };
  }

  #learn(items: readonly Item[], hours: number): void {
    const bytes = items.reduce((sum, item) => sum + (asBytes(item[textGroups])?.length ?? 0), 0);
    const length = Math.floor((hours * requestBytes) / Math.max(1, bytes));
    this.#length = Math.max(1, Math.min(length, hours * maxGrowth));
  }

  /** What is left of a span from an hour on, of whose items some were read. */
  async *#spans(whole: HourSpan, first: Hour, cursor: Cursor): AsyncGenerator<HourSpan> {
    const descending = this.#descending;
    const options = { limit: 1, descending: !descending, attributes: ['s'] };
    const end = this.#read(whole, options).then(({ items }) => hourOf(items[0]) ?? first);
    // Whoever wants to know it sees that it failed.
    end.catch(() => {});
    try {
      let start: Cursor | undefined = cursor;
      let at = first;
      let last = first;
      while (descending ? at >= last : at <= last) {
        const hours = this.#length - 1;
        const [from, to] = descending
          ? [Math.max(whole.from, at - hours), at]
          : [at, Math.min(whole.to, at + hours)];
        yield { from, to, start };
        start = undefined;
        at = descending ? from - 1 : to + 1;
        last = await end;
      }
    } finally {
      await Promise.allSettled([end]);
    }
  }
}

const hourOf = (item: Item | undefined): Hour | undefined => {
  const key = asBytes(item?.s);
  return key && readNumber(key);
};

/**
 * Reads the groups of hours from one to another, inclusive, some at a time. An hour with a part missing is left out.
 *
 * @throws ServiceError 503 when storage does not give a page in time
 */
export async function* readTexts(
  table: Table,
  projectId: ProjectId,
  [from, to]: readonly [Hour, Hour],
  descending: boolean,
  budget: RequestBudget,
): AsyncGenerator<readonly TextHour[]> {
  let open: TextPart[] = [];
  const close = (): TextHour[] => {
    const parts = descending ? open.toReversed() : open;
    open = [];
    return joinTextParts(parts);
  };
  for await (const items of new TextReader(table, projectId, descending, budget).pages({ from, to })) {
    const hours: TextHour[] = [];
    for (const item of items) {
      const part = readPart(item);
      if (!part) continue;
      if (open[0] && open[0].hour !== part.hour) hours.push(...close());
      open.push(part);
    }
    if (hours.length > 0) yield hours;
  }
  const last = close();
  if (last.length > 0) yield last;
}

/**
 * Stores the groups of hours. They may have changed since they were read, and what was taken out of them must not
 * stay: whoever changes an hour marks it first, and then takes its groups away.
 *
 * @throws ServiceError 503 when storage does not answer in time
 */
export const storeTexts = async (
  table: Table,
  projectId: ProjectId,
  texts: readonly TextHour[],
  getDays: (hour: Hour) => number | undefined,
  budget: RequestBudget,
): Promise<void> => {
  const [first] = texts;
  if (!first) return;
  const items = texts.map((text) => toParts(projectId, text));
  const further = texts.flatMap((text, i) => furtherParts(projectId, text, items[i]?.length ?? 0));
  if (further.length > 0) await deleteItems(table, further, budget);
  await putItems(
    table,
    items.flatMap((parts, i) => {
      const { hour } = texts[i] ?? first;
      return parts.map((part) => ({ ...part, ...toExpiry(hour, getDays(hour), 1) }));
    }),
    budget,
  );
  const numbers = texts.map(({ hour }) => hour);
  const [low, high] = numbers.reduce(
    ([a, b], hour) => [Math.min(a, hour), Math.max(b, hour)],
    [first.hour, first.hour],
  );
  const marks = await readMarks(table, projectId, low, high, budget);
  const changed = items.flatMap((parts, i) => {
    const { hour, mark } = texts[i] ?? first;
    return (marks.get(hour) ?? 0) > mark ? parts.map(({ k = null, s = null }) => ({ k, s })) : [];
  });
  if (changed.length > 0) await deleteItems(table, changed, budget);
};

/** The key range of all that is stored of a project's texts. */
export const textsRange = (projectId: ProjectId) => ({
  partition: ['k', toPartition('texts', projectId)] as const,
});
