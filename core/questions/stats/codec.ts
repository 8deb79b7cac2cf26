import { decodeMessagePack, encodeMessagePack, pack, unpack } from '../../foundations/encoding/index.ts';
import { Cell, kept, type ModelCell } from './cell.ts';
import type { Group } from './group.ts';
import type { Numbers } from './numbers.ts';
import { tokenMetrics } from './request.ts';
import type { Bins } from './sketch.ts';

/*
 * Rollups are stored as one compressed MessagePack list, [version, names, rollups]. A rollup is
 * [number, mark, groups]; a group is [op, user, status, calls, errors, latency, models]. Texts are
 * numbers in the list of names.
 */

const version = 1;

/** The rollup of an hour or a day. */
export interface Rollup {
  /** The hour or the day, counted from 1970-01-01. */
  readonly number: number;
  /** The version of the mark that it was made under; 0 for no mark. */
  readonly mark: number;
  readonly groups: readonly Group[];
}

type PackedBins = [first: number, steps: number[], counts: number[]] | null;
type PackedLatency = [
  sum: number,
  min: number,
  max: number,
  zeros: number,
  positive: PackedBins,
  negative: PackedBins,
];
type PackedModel = [name: number, calls: number, ...numbers: (readonly [number, number, number] | 0)[]];
type PackedGroup = [number, number, number, number, number, PackedLatency | null, PackedModel[]];

const packBins = (bins: Bins): PackedBins => {
  const sorted = [...bins].sort(([a], [b]) => a - b);
  const [first] = sorted;
  if (!first) return null;
  const steps = sorted.slice(1).map(([bin], i) => bin - (sorted[i]?.[0] ?? 0));
  return [first[0], steps, sorted.map(([, count]) => count)];
};

const unpackBins = (packed: PackedBins, into: Bins): void => {
  if (packed === null) return;
  const [first, steps, counts] = packed;
  let bin = first;
  into.set(bin, counts[0] ?? 0);
  for (const [i, step] of steps.entries()) {
    bin += step;
    into.set(bin, counts[i + 1] ?? 0);
  }
};

const packLatency = ({ count, sum, min, max, sketch }: Numbers): PackedLatency | null =>
  count === 0 || !sketch
    ? null
    : [sum, min, max, sketch.zeros, packBins(sketch.positive), packBins(sketch.negative)];

const restore = (numbers: Numbers, count: number, sum: number, min: number, max: number): void => {
  Object.assign(numbers, { count, sum, min, max });
};

const unpackLatency = (packed: PackedLatency | null, into: Numbers): void => {
  const { sketch } = into;
  if (packed === null || !sketch) return;
  const [sum, min, max, zeros, positive, negative] = packed;
  sketch.zeros = zeros;
  unpackBins(positive, sketch.positive);
  unpackBins(negative, sketch.negative);
  let count = zeros;
  for (const bins of [sketch.positive, sketch.negative]) for (const each of bins.values()) count += each;
  restore(into, count, sum, min, max);
};

const packModel = (name: number, cell: ModelCell): PackedModel => [
  name,
  cell.total_tokens.count,
  ...tokenMetrics.map((metric) => {
    const { sum, min, max } = cell[metric];
    return max === 0 ? 0 : ([sum, min, max] as const);
  }),
];

const unpackModel = ([, calls, ...numbers]: PackedModel, cell: ModelCell): void => {
  for (const [i, metric] of tokenMetrics.entries()) {
    const [sum, min, max] = numbers[i] || [0, 0, 0];
    restore(cell[metric], calls, sum, min, max);
  }
};

/** Packs rollups of hours or days. */
export const packRollups = (rollups: readonly Rollup[]): Promise<Uint8Array> => {
  const names = new Map<string, number>();
  const nameOf = (text: string): number => {
    const number = names.get(text) ?? names.size;
    names.set(text, number);
    return number;
  };
  const packGroup = ({ opName, userId, status, cell }: Group): PackedGroup => [
    nameOf(opName),
    nameOf(userId),
    nameOf(status),
    cell.calls,
    cell.errors,
    packLatency(cell.latency),
    [...cell.models].map(([model, each]) => packModel(nameOf(model), each)),
  ];
  const packed = rollups.map(({ number, mark, groups }) => [number, mark, groups.map(packGroup)]);
  return pack(encodeMessagePack([version, [...names.keys()], packed]));
};

/**
 * Unpacks rollups.
 *
 * @returns none if another release wrote them: they are made anew
 * @throws Error if the bytes are damaged
 */
export const unpackRollups = async (bytes: Uint8Array): Promise<Rollup[]> => {
  const [found, names, packed] = decodeMessagePack(await unpack(bytes)) as [
    number,
    string[],
    [number, number, PackedGroup[]][],
  ];
  if (found !== version) return [];
  const unpackGroup = ([op, user, status, calls, errors, latency, models]: PackedGroup): Group => {
    const cell = new Cell(kept);
    cell.calls = calls;
    cell.errors = errors;
    unpackLatency(latency, cell.latency);
    for (const model of models) unpackModel(model, cell.model(names[model[0]] ?? ''));
    return { opName: names[op] ?? '', userId: names[user] ?? '', status: names[status] ?? '', cell };
  };
  return packed.map(([number, mark, groups]) => ({ number, mark, groups: groups.map(unpackGroup) }));
};
