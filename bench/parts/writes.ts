/**
 * What storing calls takes: write and read units by index, requests, and the bytes that are stored.
 * Nothing of it depends on the machine's speed.
 */
import type { Store } from '../../core/storage/index.ts';
import type { Bench } from '../harness/bench.ts';
import { type Call, jsonBytes, withoutThreads } from '../harness/calls.ts';
import { totalUnits, type Used, unitsEach } from '../harness/capacity.ts';
import { counted, type Figure } from '../harness/figures.ts';
import type { Part } from '../harness/part.ts';
import { batchSize, sendAll, type Way } from '../harness/reporting.ts';
import { storedBytes } from '../harness/stored.ts';

/** Calls reported in one way, and what should not be exceeded, a call. */
interface Situation {
  readonly name: string;
  readonly way: Way;
  readonly calls: readonly Call[];
  /** Write units. */
  readonly units?: number;
  /** Bytes stored, index rows included, as a share of the JSON received. */
  readonly bytes?: number;
}

const situations = (calls: readonly Call[], maxAlone: number): Situation[] => {
  const outside = withoutThreads(calls);
  return [
    { name: 'together', way: 'together', calls: outside, units: 3.3, bytes: 0.2 },
    { name: 'apart', way: 'apart', calls: outside, units: 5.5, bytes: 0.32 },
    { name: 'together, in threads', way: 'together', calls, units: 4.4, bytes: 0.2 },
    { name: 'apart, in threads', way: 'apart', calls, units: 7, bytes: 0.32 },
    { name: 'each alone', way: 'alone', calls: outside.slice(0, maxAlone) },
    { name: 'each alone, in threads', way: 'alone', calls: calls.slice(0, maxAlone) },
  ];
};

const used = (name: string, { writes, reads, requests }: Used, count: number, atMost?: number): Figure[] => [
  counted(`${name}: write units`, 'units a call', totalUnits(writes) / count, {
    of: unitsEach(writes, count),
    ...(atMost !== undefined && { atMost }),
  }),
  counted(`${name}: read units`, 'units a call', totalUnits(reads) / count, { of: unitsEach(reads, count) }),
  counted(`${name}: requests`, 'requests a call', requests / count),
];

const storedFigures = async (bench: Bench, store: Store, situation: Situation): Promise<Figure[]> => {
  const { name, calls, bytes: atMost } = situation;
  const held = await storedBytes(store, bench.schemaOf(store.table));
  const { items, segments, indexes, rows, segmentUnits, billed } = held;
  const stored = items + segments + indexes;
  return [
    counted(`${name}: bytes stored`, 'share of JSON', stored / jsonBytes(calls), {
      ...(atMost !== undefined && { atMost }),
    }),
    counted(`${name}: bytes stored, each`, 'bytes a call', stored / calls.length, {
      of: unitsEach({ items, segments, 'index rows': indexes }, calls.length),
    }),
    counted(`${name}: write units of segments`, 'units a call', segmentUnits / calls.length),
    counted(`${name}: bytes billed`, 'bytes a call', billed / calls.length),
    counted(`${name}: items and rows`, 'rows a call', rows / calls.length),
  ];
};

/** What one situation takes, and what the same requests take when they are sent again. */
const measure = async (bench: Bench, situation: Situation): Promise<Figure[]> => {
  const { name, way, calls, units } = situation;
  const store = await bench.newStore();
  const report = () => sendAll(store, calls, way);
  const first = used(name, await bench.capacity.during(report), calls.length, units);
  const stored = await storedFigures(bench, store, situation);
  const again = used(`${name}, again`, await bench.capacity.during(report), calls.length);
  return [...first, ...stored, ...again];
};

/**
 * The figures of all situations.
 *
 * @param maxAlone how many of the calls are reported one request at a time at the most: they are
 * all alike
 */
export const writeFigures = async (
  bench: Bench,
  calls: readonly Call[],
  maxAlone = 300,
): Promise<Figure[]> => {
  const figures: Figure[] = [];
  for (const situation of situations(calls, maxAlone)) figures.push(...(await measure(bench, situation)));
  return figures;
};

/** Write units, requests and stored bytes of reporting calls. */
export const writes: Part = {
  name: 'writes',
  title: `Storing calls, in batches of ${batchSize} calls (units: DynamoDB Local; bytes: DynamoDB's rules of size)`,
  run: async ({ bench, calls }) => writeFigures(await bench(), calls),
};
