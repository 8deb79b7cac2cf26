/**
 * The speed of queries beside bare loops over the same items in the same run, and its growth with the
 * calls of a project.
 */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { type Level, timeRange } from '../../core/records/calls/index.ts';
import {
  type Cursor,
  documents,
  everyShard,
  getItems,
  type Item,
  queryPage,
  type Store,
  scanTable,
} from '../../foundations/storage/index.ts';
import { type IndexName, tables } from '../../foundations/storage/tables.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { type Bench, type BenchContext, type BenchPart, totalUnits } from '../harness/bench.ts';
import { type Call, repeatCalls } from '../harness/calls.ts';
import { counted, type Figure, measured } from '../harness/figures.ts';
import { benchBudget, sendAll } from '../harness/reporting.ts';
import { drain, queryShapes, startQuery } from './reading.ts';

/** A project with `size` calls, and the time to report them. */
interface Loaded {
  readonly size: number;
  readonly store: Store;
  readonly seconds: number;
  /** CPU time of this process meanwhile, in ms. The store runs in another process. */
  readonly cpuMs: number;
}

/** The duration of a task, in seconds. */
export const measureSeconds = async (task: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now();
  await task();
  return (performance.now() - startedAt) / 1000;
};

const load = async ({ calls, sizes, progress }: BenchContext, bench: Bench): Promise<Loaded[]> => {
  const loaded: Loaded[] = [];
  for (const size of sizes) {
    progress(`  loading ${size} calls`);
    const store = await bench.newStore('calls');
    const before = process.cpuUsage();
    const seconds = await measureSeconds(() => sendAll(store, repeatCalls(calls, size), 'together'));
    const { user, system } = process.cpuUsage(before);
    loaded.push({ size, store, seconds, cpuMs: (user + system) / 1000 });
  }
  return loaded;
};

const exportRounds = 5;
const firstLineRounds = 21;

/** Alternates exports of everything with a loop that reads and drops the same items. */
const exportFigures = async ({ size, store }: Loaded, call: Call): Promise<Figure[]> => {
  const project = String(call.start.project_id);
  const keys = await segmentKeys(store);
  const exports: number[] = [];
  const ratios: number[] = [];
  for (let i = 0; i < exportRounds; i++) {
    const loop = await measureSeconds(() => bareLoop(store, project, keys));
    const seconds = await measureSeconds(() => drain(startQuery(store, call, {}).json()));
    exports.push(size / seconds);
    ratios.push((100 * loop) / seconds);
  }
  return [
    measured(`export of ${size}`, 'rows a second', exports),
    measured(`export of ${size}, rows a second of the bare loop's`, '%', ratios),
  ];
};

/** Alternates the first line of everything with one bare query of an index. */
const firstLineFigures = async ({ size, store }: Loaded, call: Call): Promise<Figure[]> => {
  const project = String(call.start.project_id);
  const lines: number[] = [];
  const ratios: number[] = [];
  for (let i = 0; i < firstLineRounds; i++) {
    const bare = await measureSeconds(() => bareIndexQuery(store, project));
    const line = await measureSeconds(async () => {
      for await (const batch of startQuery(store, call, {}).json()) if (batch.length > 0) break;
    });
    lines.push(1000 * line);
    ratios.push(line / bare);
  }
  return [
    measured(`first line of ${size}`, 'ms', lines),
    measured(`first line of ${size}, beside a bare index query`, 'ratio', ratios),
  ];
};

/** Peak memory of an export, with and without a sort. */
const memoryFigures = async ({ size, store }: Loaded, call: Call): Promise<Figure[]> => {
  const sorted = { limit: 100, sort_by: [{ field: 'inputs.model', direction: 'asc' }] };
  const everything = await heapMegabytes(startQuery(store, call, {}).json());
  const newest = await heapMegabytes(startQuery(store, call, sorted).json());
  return [
    measured(`memory for everything of ${size}`, 'MB', [everything]),
    measured(`memory for 100 of ${size}, sorted by a payload's field`, 'MB', [newest]),
  ];
};

/**
 * The slope of a line through points on logarithmic scales: 0 for constant, 1 for linear growth.
 */
const logLogSlope = (points: readonly (readonly [x: number, y: number])[]): number => {
  const logs = points.map(([x, y]) => [Math.log(x), Math.log(y)] as const);
  const [mx, my] = [0, 1].map((i) => logs.reduce((sum, p) => sum + (p[i] ?? 0), 0) / logs.length) as [
    number,
    number,
  ];
  const over = logs.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0);
  return over / logs.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
};

const growing = ['newest 100, all columns', 'one thread', '50 ids', 'everything, all columns'];
const growthRounds = 5;

const growthFigures = async (
  bench: Bench,
  loaded: readonly Loaded[],
  calls: readonly [Call, ...Call[]],
): Promise<Figure[]> => {
  const unit = 'log-log slope';
  const slope = (values: readonly number[]): number =>
    logLogSlope(values.map((y, i) => [loaded[i]?.size ?? 1, y]));
  const reporting = loaded.map(({ seconds }) => seconds);
  const figures = [measured('growth: seconds of reporting', unit, [slope(reporting)])];
  for (const name of growing) {
    const body = queryShapes(calls)[name] ?? {};
    const units: number[] = [];
    /** The seconds at each size, by round. */
    const times: number[][] = Array.from({ length: growthRounds }, () => []);
    for (const { store } of loaded) {
      const answer = () => drain(startQuery(store, calls[0], body).json());
      units.push(totalUnits((await bench.capacity.during(answer)).reads));
      for (const round of times) round.push(await measureSeconds(answer));
    }
    figures.push(
      counted(`growth: read units of ${name}`, unit, slope(units)),
      measured(`growth: seconds of ${name}`, unit, times.map(slope)),
    );
  }
  return figures;
};

/** Export, first line and memory at the largest size, and growth over all sizes. */
export const speed: BenchPart = {
  name: 'speed',
  title: 'How fast, beside bare loops over the same items; and growth with the calls of a project',
  run: async (context) => {
    const [first, ...more] = context.calls;
    if (!first) return [];
    const bench = await context.bench();
    const loaded = await load(context, bench);
    const largest = loaded.at(-1);
    if (!largest) return [];
    const cpu = loaded.map(({ size, cpuMs }) => cpuMs / size);
    return [
      measured('CPU of reporting, with making the requests', 'ms a call', cpu),
      ...(await exportFigures(largest, first)),
      ...(await firstLineFigures(largest, first)),
      ...(await memoryFigures(largest, first)),
      ...(loaded.length > 1 ? await growthFigures(bench, loaded, [first, ...more]) : []),
    ];
  },
};

// Loops over a store's items without the service. Its speed is compared with theirs.

/** The keys of all segments of a store, for {@link bareLoop}. */
const segmentKeys = async ({ table }: Store): Promise<Item[]> => {
  const keys: Item[] = [];
  const pages = scanTable(table, {
    FilterExpression: 'p = :p',
    ExpressionAttributeValues: { ':p': 'P' },
    ProjectionExpression: 'k, p',
  });
  for await (const items of pages) keys.push(...items);
  return keys;
};

const levels = ['roots', 'nested'] as const satisfies readonly Level[];

const range = (project: string, level: Level, shard: number) =>
  timeRange(project as ProjectId, level, shard, {});

/** Reads the same items as an export of everything, headers then payloads, and drops them. */
const bareLoop = async (store: Store, project: string, keys: readonly Item[]): Promise<void> => {
  const budget = benchBudget();
  for (const level of levels)
    for (const shard of everyShard(store)) {
      let start: Cursor | undefined;
      do {
        const page = await queryPage(store.table, range(project, level, shard), budget, { start });
        start = page.next;
      } while (start);
    }
  for (let i = 0; i < keys.length; i += 100)
    await getItems(store.table, keys.slice(i, i + 100), budget, { consistent: false });
};

const byTime = 'by_time' satisfies IndexName<'calls'>;

/** Queries 128 rows of nested calls in the index by time. */
const bareIndexQuery = ({ table }: Store, project: string): Promise<unknown> =>
  documents(table).send(
    new QueryCommand({
      TableName: table.name,
      IndexName: byTime,
      KeyConditionExpression: '#k = :k',
      ExpressionAttributeNames: { '#k': tables.calls.indexes[byTime].partition.name },
      ExpressionAttributeValues: { ':k': range(project, 'nested', 0).partition[1] },
      Limit: 128,
    }),
  );

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const inUse = (): number => {
  collectGarbage();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
};

/** Batches between two memory samples, each of which stops everything else. */
const batchesPerSample = 25;

/**
 * The most memory in use while an iterable is read, beyond what was in use before, in MB. Garbage
 * is collected before each sample.
 */
const heapMegabytes = async (batches: AsyncIterable<readonly unknown[]>): Promise<number> => {
  const before = inUse();
  let peak = 0;
  let seen = 0;
  for await (const batch of batches) {
    if (batch.length === 0 || seen++ % batchesPerSample !== 0) continue;
    peak = Math.max(peak, inUse() - before);
  }
  return peak / 1e6;
};
