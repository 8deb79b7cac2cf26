/**
 * What storing calls uses: write and read units by index, requests, and stored bytes. It is
 * independent of the machine's speed.
 */
import type { Store } from '../../core/foundations/storage/index.ts';
import type { Bench } from '../harness/bench.ts';
import { type Call, jsonBytes, withoutThreads } from '../harness/calls.ts';
import { type CapacityUsed, totalUnits, unitsEach } from '../harness/capacity.ts';
import { counted, type Figure } from '../harness/figures.ts';
import type { BenchPart } from '../harness/part.ts';
import { batchSize, type ReportMode, sendAll } from '../harness/reporting.ts';
import { storedBytes } from '../harness/stored.ts';

/** Calls with the mode in which they are reported, and bounds per call. */
interface Situation {
  readonly name: string;
  readonly mode: ReportMode;
  readonly calls: readonly Call[];
  /** Write units. */
  readonly units?: number;
  /** Stored bytes with index rows, as a share of the JSON received. */
  readonly bytes?: number;
}

const situations = (calls: readonly Call[], maxAlone: number): Situation[] => {
  const outside = withoutThreads(calls);
  return [
    { name: 'together', mode: 'together', calls: outside, units: 3.3, bytes: 0.2 },
    { name: 'whole', mode: 'whole', calls: outside, units: 3.3, bytes: 0.2 },
    { name: 'apart', mode: 'apart', calls: outside, units: 5.5, bytes: 0.32 },
    { name: 'together, in threads', mode: 'together', calls, units: 4.4, bytes: 0.2 },
    { name: 'apart, in threads', mode: 'apart', calls, units: 7, bytes: 0.32 },
    { name: 'each alone', mode: 'alone', calls: outside.slice(0, maxAlone) },
    { name: 'each alone, in threads', mode: 'alone', calls: calls.slice(0, maxAlone) },
  ];
};

const used = (
  name: string,
  { writes, reads, requests }: CapacityUsed,
  count: number,
  atMost?: number,
): Figure[] => [
  counted(`${name}: write units`, 'units a call', totalUnits(writes) / count, {
    of: unitsEach(writes, count),
    ...(atMost !== undefined && { atMost }),
  }),
  counted(`${name}: read units`, 'units a call', totalUnits(reads) / count, { of: unitsEach(reads, count) }),
  counted(`${name}: requests`, 'requests a call', requests / count),
];

const storedFigures = async (bench: Bench, store: Store, situation: Situation): Promise<Figure[]> => {
  const { name, calls, bytes: atMost } = situation;
  const content = await storedBytes(store, bench.schemaOf(store.table));
  const { items, segments, indexes, rows, segmentUnits, billed } = content;
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

/** Measures one situation, and the same requests sent again. */
const measure = async (bench: Bench, situation: Situation): Promise<Figure[]> => {
  const { name, mode, calls, units } = situation;
  const store = await bench.newStore('calls');
  const report = () => sendAll(store, calls, mode);
  const first = used(name, await bench.capacity.during(report), calls.length, units);
  const stored = await storedFigures(bench, store, situation);
  const again = used(`${name}, again`, await bench.capacity.during(report), calls.length);
  return [...first, ...stored, ...again];
};

/**
 * The figures of all situations.
 *
 * @param maxAlone the most calls that are reported in requests of their own, which are all alike
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
export const writes: BenchPart = {
  name: 'writes',
  title: `Storing calls, in batches of ${batchSize} calls (units: DynamoDB Local; bytes: DynamoDB's rules of size)`,
  run: async ({ bench, calls }) => writeFigures(await bench(), calls),
};
