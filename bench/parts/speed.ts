/**
 * The speed of queries against bare loops over the same items in the same run. Beside it, the
 * growth of times and units with the calls of a project.
 */
import type { Store } from '../../core/foundations/storage/index.ts';
import { bareIndexQuery, bareLoop, segmentKeys } from '../harness/bare-loop.ts';
import type { Bench } from '../harness/bench.ts';
import { type Call, repeatCalls } from '../harness/calls.ts';
import { totalUnits } from '../harness/capacity.ts';
import { counted, type Figure, measured } from '../harness/figures.ts';
import { heapMegabytes } from '../harness/heap.ts';
import type { BenchContext, BenchPart } from '../harness/part.ts';
import { sendAll } from '../harness/reporting.ts';
import { drain, queryShapes, startQuery } from './queries.ts';

/** A project with `size` calls, and the time to report them. */
interface Loaded {
  readonly size: number;
  readonly store: Store;
  readonly seconds: number;
  /** CPU time of this process meanwhile, in ms. DynamoDB Local runs in another process. */
  readonly cpuMs: number;
}

/** The duration of a task, in seconds. */
export const secondsOf = async (task: () => Promise<unknown>): Promise<number> => {
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
    const seconds = await secondsOf(() => sendAll(store, repeatCalls(calls, size), 'together'));
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
  const [exports, ratios]: [number[], number[]] = [[], []];
  for (let i = 0; i < exportRounds; i++) {
    const loop = await secondsOf(() => bareLoop(store, project, keys));
    const seconds = await secondsOf(() => drain(startQuery(store, call, {}).calls));
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
  const [lines, ratios]: [number[], number[]] = [[], []];
  for (let i = 0; i < firstLineRounds; i++) {
    const bare = await secondsOf(() => bareIndexQuery(store, project));
    const line = await secondsOf(async () => {
      for await (const batch of startQuery(store, call, {}).calls) if (batch.length > 0) break;
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
  const everything = await heapMegabytes(startQuery(store, call, {}).calls);
  const newest = await heapMegabytes(startQuery(store, call, sorted).calls);
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

/** The names of the queries whose growth is measured. */
const growing = ['newest 100, all columns', 'one thread', '50 ids', 'everything, all columns'];
const growthRounds = 5;

const growthFigures = async (
  bench: Bench,
  loaded: readonly Loaded[],
  calls: readonly [Call, ...Call[]],
): Promise<Figure[]> => {
  const unit = 'log-log slope';
  const slope = (of: readonly number[]): number => logLogSlope(of.map((y, i) => [loaded[i]?.size ?? 1, y]));
  const reporting = loaded.map(({ seconds }) => seconds);
  const figures = [measured('growth: seconds of reporting', unit, [slope(reporting)])];
  for (const name of growing) {
    const body = queryShapes(calls)[name] ?? {};
    const units: number[] = [];
    /** The seconds at each size, by round. */
    const times: number[][] = Array.from({ length: growthRounds }, () => []);
    for (const { store } of loaded) {
      const answer = () => drain(startQuery(store, calls[0], body).calls);
      units.push(totalUnits((await bench.capacity.during(answer)).reads));
      for (const round of times) round.push(await secondsOf(answer));
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
