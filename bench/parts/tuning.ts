/**
 * What settings of the code cost and save: compression, segments, shards, sockets. Decisions 0002
 * and 0143 and docs/architecture.md#shards rest on these figures.
 */

import type { Store } from '../../core/foundations/storage/index.ts';
import { queryCalls } from '../../core/questions/query/index.ts';
import { type Bench, type BenchPart, totalUnits } from '../harness/bench.ts';
import { type Call, compress, payloadOf } from '../harness/calls.ts';
import { counted, type Figure, measured } from '../harness/figures.ts';
import { batchSize, benchBudget, newestBy, sendAll, toQuery } from '../harness/reporting.ts';

const groups = (calls: readonly Call[], size: number): Buffer[] =>
  Array.from({ length: Math.ceil(calls.length / size) }, (_, i) =>
    Buffer.from(
      calls
        .slice(i * size, (i + 1) * size)
        .map(payloadOf)
        .join(''),
    ),
  );

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

const compressedEach = (calls: readonly Call[], size: number, level: number): number =>
  sum(groups(calls, size).map((group) => compress(group, level).length)) / calls.length;

/** CPU time of compressing batches, in µs a call. */
const compressionTime = (calls: readonly Call[], level: number): Figure => {
  const batches = groups(calls, batchSize);
  const runs = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    for (const batch of batches) compress(batch, level);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / calls.length;
  });
  return measured(`zstd level ${level}, batches of ${batchSize}: CPU`, 'µs a call', runs);
};

const compressionFigures = (calls: readonly Call[]): Figure[] =>
  [1, 3, 6, 9].flatMap((level) => [
    ...[1, 25, batchSize].map((size) =>
      counted(`zstd level ${level}, by ${size}`, 'payload bytes a call', compressedEach(calls, size, level)),
    ),
    compressionTime(calls, level),
  ]);

/** Read units of an eventually consistent read: half a unit per started 4 KB. */
const readUnits = (bytes: number): number => Math.ceil(bytes / 4096) / 2;

const segmentFigures = (calls: readonly Call[]): Figure[] =>
  [25, 50, 100, 200, 400].flatMap((size) => {
    const segments = groups(calls, size).map((group) => compress(group, 3).length);
    return [
      counted(`${size} calls a segment: stored`, 'payload bytes a call', sum(segments) / calls.length),
      counted(`${size} calls a segment: its size`, 'bytes', sum(segments) / segments.length),
      counted(
        `${size} calls a segment: one call read`,
        'read units',
        readUnits(sum(segments) / segments.length),
      ),
    ];
  });

const drain = async (store: Store, body: object): Promise<void> => {
  await Array.fromAsync(queryCalls(store, toQuery(body), benchBudget()).calls);
};

const shardFigures = async (bench: Bench, calls: readonly Call[]): Promise<Figure[]> => {
  const project_id = calls[0]?.start.project_id;
  const newest = { project_id, ...newestBy('started_at') };
  const figures: Figure[] = [];
  for (const count of [1, 4, 16]) {
    const store: Store = { ...(await bench.newStore('calls')), shards: [count] };
    await sendAll(store, calls, 'together');
    for (const [name, body] of [
      ['newest 100', { ...newest, columns: ['ended_at'] }],
      ['all headers', { project_id, columns: ['ended_at'] }],
    ] as const) {
      const { reads, requests } = await bench.capacity.during(() => drain(store, body));
      figures.push(
        counted(`${count} shards, ${name}`, 'read units', totalUnits(reads)),
        counted(`${count} shards, ${name}: requests`, 'requests', requests),
      );
    }
  }
  return figures;
};

/** The most concurrent requests during a task. */
const maxConcurrent = async (store: Store, task: () => Promise<unknown>): Promise<number> => {
  let pending = 0;
  let max = 0;
  const name = 'underWay';
  store.table.client.middlewareStack.add(
    (next) => async (args) => {
      max = Math.max(max, ++pending);
      try {
        return await next(args);
      } finally {
        pending--;
      }
    },
    { name, override: true },
  );
  await task();
  store.table.client.middlewareStack.remove(name);
  return max;
};

const socketFigures = async (bench: Bench, calls: readonly Call[]): Promise<Figure[]> => {
  const store = await bench.newStore('calls');
  const project_id = calls[0]?.start.project_id;
  const situations: Record<string, () => Promise<unknown>> = {
    'a batch of 800 calls': () => sendAll(store, calls.slice(0, 800), 'together', 800),
    'an export': () => drain(store, { project_id }),
    'an export with sizes of traces': () => drain(store, { project_id, include_total_storage_size: true }),
  };
  const figures: Figure[] = [];
  for (const [name, task] of Object.entries(situations))
    figures.push(counted(`${name}: at once`, 'requests', await maxConcurrent(store, task)));
  return figures;
};

/** The measurements behind the settings of the code. */
export const tuning: BenchPart = {
  name: 'tuning',
  title: 'Settings of the code: compression level, segment size, shards, sockets',
  run: async ({ calls, bench }) => [
    ...compressionFigures(calls),
    ...segmentFigures(calls),
    ...(await shardFigures(await bench(), calls)),
    ...(await socketFigures(await bench(), calls)),
  ],
};
