/**
 * What storing calls, tables and files takes: units by index, requests and stored bytes, which are the
 * same on every machine, and the CPU time of a batch. The usual layout is what costs are compared with.
 */

import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdCompress } from 'node:zlib';
import type { S3Client } from '@aws-sdk/client-s3';
import { createFile } from '../../core/records/files.ts';
import { createTable, updateTable } from '../../core/records/tables/index.ts';
import { type Item, itemBytes, requestBudget, type Store } from '../../foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../foundations/wire/index.ts';
import { type Bench, type BenchPart, type CapacityUsed, totalUnits, unitsEach } from '../harness/bench.ts';
import { type Call, jsonBytes, withoutThreads, zstdParams } from '../harness/calls.ts';
import { counted, type Figure, measured } from '../harness/figures.ts';
import { billedOverhead, storedBytes, writeUnits } from '../harness/item-size.ts';
import {
  batchSize,
  type ReportMode,
  sendAll,
  sendText,
  toEndItem,
  toStartItem,
} from '../harness/reporting.ts';
import { cpuEach, instantStore } from '../harness/stores.ts';

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
  const content = await storedBytes(store, bench.getSchema(store.table));
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
  title: `Storing calls, in batches of ${batchSize} calls (units and bytes: DynamoDB's rules of size)`,
  run: async ({ bench, calls }) => writeFigures(await bench(), calls),
};

// The usual layout that the service's costs are compared with. A call is one item with its fields
// as attributes and its JSON as it is. Four indexes project all of it, e.g. by time, trace, thread
// and op. Sizes follow DynamoDB's rules.

const indexCount = 4;

/** Fields as attributes: texts as they are, other values as JSON, nothing for null. */
const attributes = (fields: Readonly<Record<string, unknown>>): Item =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value === null || value === undefined
        ? []
        : [[name, typeof value === 'string' ? value : JSON.stringify(value)]],
    ),
  );

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/**
 * Write units and bytes per call of the usual layout. Reported apart, the start is put and the end
 * added to it, which writes the complete item again in every index.
 */
export const naiveFigures = (calls: readonly Call[]): Figure[] => {
  const rows = 1 + indexCount;
  const starts = calls.map(({ start }) => itemBytes(attributes(start)));
  const complete = calls.map(({ start, end }) => itemBytes(attributes({ ...start, ...end })));
  const units = (sizes: readonly number[]) => (rows * sum(sizes.map(writeUnits))) / calls.length;
  return [
    counted('together: write units', 'units a call', units(complete)),
    counted('apart: write units', 'units a call', units(starts) + units(complete)),
    counted('bytes stored', 'bytes a call', (rows * sum(complete)) / calls.length),
    counted('bytes billed', 'bytes a call', rows * (sum(complete) / calls.length + billedOverhead)),
  ];
};

// The CPU time of `/call/upsert_batch` in a function, against the least that any such service must
// do.

const compress = promisify(zstdCompress);

/** Parses the JSON, writes the payloads as JSON again and compresses them once. */
const bareMinimum = async (text: string): Promise<number> => {
  const { batch } = JSON.parse(text) as { batch: { req: Record<string, Record<string, unknown>> }[] };
  const payloads = batch.map(({ req: { start, end } }) =>
    JSON.stringify(start ? [start.attributes, start.inputs] : [end?.output, end?.summary, end?.exception]),
  );
  return (await compress(Buffer.from(payloads.join('\n')), { params: zstdParams })).length;
};

/** Bodies of `/call/upsert_batch`, as many as are full: starts and ends together. */
export const makeBodies = (calls: readonly Call[]): string[] => {
  const bodies: string[] = [];
  for (let i = 0; i + batchSize <= calls.length; i += batchSize) {
    const batch = calls.slice(i, i + batchSize).flatMap((call) => [toStartItem(call), toEndItem(call)]);
    bodies.push(JSON.stringify({ batch }));
  }
  return bodies;
};

const forEachBody = async (
  bodies: readonly string[],
  task: (body: string) => Promise<unknown>,
): Promise<void> => {
  for (const body of bodies) await task(body);
};

/** Rounds that are not measured: V8 optimizes in them. */
const warmUps = 15;

/** The number of measured rounds. Half of them pay for garbage of others, so it takes many. */
const rounds = 25;

const run = async (calls: readonly Call[]): Promise<Figure[]> => {
  const bodies = makeBodies(calls);
  const count = bodies.length * batchSize;
  const store = instantStore();
  const service: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < warmUps + rounds; round++) {
    bare.push(await cpuEach(() => forEachBody(bodies, bareMinimum), count));
    service.push(await cpuEach(() => forEachBody(bodies, (body) => sendText(store, body)), count));
  }
  const warmBare = bare.slice(warmUps);
  const warmService = service.slice(warmUps);
  const ratios = warmService.map((ms, i) => ms / (warmBare[i] ?? Number.NaN));
  return [
    measured('parse, stringify, compress', 'ms a call', warmBare),
    measured('upsert_batch, all but the network', 'ms a call', warmService),
    measured('upsert_batch against that', 'ratio', ratios, { atMost: 3 }),
  ];
};

/** CPU time of writing batches, per call. */
export const cpu: BenchPart = {
  name: 'cpu',
  title: `CPU time of batches of ${batchSize} calls, starts and ends together: parsed, checked, compressed, made into signed requests`,
  run: ({ calls }) => run(calls),
};

// What tables and files cost to write. Tables are new, share their rows, or get
// a row more. Files are small or large. All this is independent of the machine's speed.

const project = 'acme/shop' as ProjectId;
const rowCount = 10_000;

/** Rows of some 200 bytes. */
const makeRows = (count: number): JsonObject[] =>
  Array.from({ length: count }, (_, id) => {
    const word = (n: number) => ((id * 7919 + n * 104_729) % 1_000_003).toString(36);
    return { id, question: Array.from({ length: 32 }, (_, n) => word(n)).join(' '), answer: word(99) };
  });

/** Sizes in bytes that do not compress: in an item, and in the bucket. */
const files = [
  ['a file of 2 KB', 2048],
  ['a file of 1 MB', 1024 * 1024],
] as const;

/** Takes what is put, and counts it. */
const countingBucket = () => {
  let puts = 0;
  const objects = new Map<string, Uint8Array>();
  const send = async ({ input }: { input: { Key: string; Body?: Uint8Array } }) => {
    if (input.Body) {
      puts++;
      objects.set(input.Key, input.Body);
      return {};
    }
    return { Body: { transformToByteArray: async () => objects.get(input.Key) } };
  };
  return { client: { send } as unknown as S3Client, puts: () => puts };
};

/** Counts the write units and PUTs of tables and files. */
export const tableFigures = async (bench: Bench): Promise<Figure[]> => {
  const bucket = countingBucket();
  const store: Store = {
    ...(await bench.newStore('objects')),
    bucket: { name: 'none', client: bucket.client },
  };
  const figures: Figure[] = [];
  const count = async (
    name: string,
    work: (budget: ReturnType<typeof requestBudget>) => Promise<unknown>,
  ) => {
    const before = bucket.puts();
    const budget = requestBudget(120_000);
    await work(budget);
    figures.push(
      counted(`${name}: write units`, 'units', budget.meter.writeUnits),
      counted(`${name}: read units`, 'units', budget.meter.readUnits),
      counted(`${name}: PUTs`, 'requests', bucket.puts() - before),
    );
  };
  const rows = makeRows(rowCount);
  const [added = {}] = makeRows(rowCount + 1).slice(-1);
  let digest = '';
  await count('10,000 new rows', async (budget) => {
    digest = (await createTable(store, project, rows, null, budget)).digest;
  });
  await count('the same with a row more', (budget) =>
    createTable(store, project, [...rows, added], null, budget),
  );
  await count('a row more, by an update', (budget) =>
    updateTable(store, project, digest, [{ kind: 'append', row: { id: -1 } }], budget),
  );
  await count('100 new rows', (budget) =>
    createTable(
      store,
      project,
      makeRows(100).map((row) => ({ ...row, other: true })),
      null,
      budget,
    ),
  );
  for (const [name, bytes] of files)
    await count(name, (budget) => createFile(store, project, randomBytes(bytes), null, budget));
  return figures;
};

/** Units of tables and files. */
export const tablePart: BenchPart = {
  name: 'tables',
  title: 'Tables and files: what writing rows of 200 bytes and files takes',
  run: async ({ bench }) => tableFigures(await bench()),
};
