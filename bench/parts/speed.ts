/**
 * How fast queries are, beside bare loops over the same items in the same run; and how times and
 * units grow with the calls of a project.
 */
import type { Store } from '../../core/storage/index.ts';
import { bareIndexQuery, bareLoop, segmentKeys } from '../harness/bare-loop.ts';
import type { Bench } from '../harness/bench.ts';
import { type Call, repeated } from '../harness/calls.ts';
import { totalUnits } from '../harness/capacity.ts';
import { counted, type Figure, measured } from '../harness/figures.ts';
import { heapMegabytes } from '../harness/heap.ts';
import type { BenchContext, Part } from '../harness/part.ts';
import { sendAll } from '../harness/reporting.ts';
import { ask, drain, queryShapes } from './queries.ts';

/** A project of a size, and how long it took to report it. */
interface Loaded {
  readonly size: number;
  readonly store: Store;
  readonly seconds: number;
  /** CPU of this process while it was, in milliseconds: DynamoDB Local is a process of its own. */
  readonly cpuMs: number;
}

/** How long something takes, in seconds. */
export const secondsOf = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
};

const load = async ({ calls, sizes, progress }: BenchContext, bench: Bench): Promise<Loaded[]> => {
  const loaded: Loaded[] = [];
  for (const size of sizes) {
    progress(`  loading ${size} calls`);
    const store = await bench.newStore();
    const before = process.cpuUsage();
    const seconds = await secondsOf(() => sendAll(store, repeated(calls, size), 'together'));
    const { user, system } = process.cpuUsage(before);
    loaded.push({ size, store, seconds, cpuMs: (user + system) / 1000 });
  }
  return loaded;
};

const exportRounds = 5;
const firstLineRounds = 21;

/**
 * An export of everything beside a loop that pages through the same items and throws them away, by
 * turns.
 */
const exportFigures = async ({ size, store }: Loaded, call: Call): Promise<Figure[]> => {
  const project = String(call.start.project_id);
  const keys = await segmentKeys(store);
  const [exports, ratios]: [number[], number[]] = [[], []];
  for (let i = 0; i < exportRounds; i++) {
    const loop = await secondsOf(() => bareLoop(store, project, keys));
    const seconds = await secondsOf(() => drain(ask(store, call, {}).calls));
    exports.push(size / seconds);
    ratios.push((100 * loop) / seconds);
  }
  return [
    measured(`export of ${size}`, 'rows a second', exports),
    measured(`export of ${size}, rows a second of the bare loop's`, '%', ratios),
  ];
};

/** The first line of everything beside one bare query of an index, by turns. */
const firstLineFigures = async ({ size, store }: Loaded, call: Call): Promise<Figure[]> => {
  const project = String(call.start.project_id);
  const [lines, ratios]: [number[], number[]] = [[], []];
  for (let i = 0; i < firstLineRounds; i++) {
    const bare = await secondsOf(() => bareIndexQuery(store, project));
    const line = await secondsOf(async () => {
      for await (const batch of ask(store, call, {}).calls) if (batch.length > 0) break;
    });
    lines.push(1000 * line);
    ratios.push(line / bare);
  }
  return [
    measured(`first line of ${size}`, 'ms', lines),
    measured(`first line of ${size}, beside a bare index query`, 'ratio', ratios),
  ];
};

/** The most memory in use while an export is made, with and without a sort. */
const memoryFigures = async ({ size, store }: Loaded, call: Call): Promise<Figure[]> => {
  const sorted = { limit: 100, sort_by: [{ field: 'inputs.model', direction: 'asc' }] };
  const everything = await heapMegabytes(ask(store, call, {}).calls);
  const newest = await heapMegabytes(ask(store, call, sorted).calls);
  return [
    measured(`memory for everything of ${size}`, 'MB', [everything]),
    measured(`memory for 100 of ${size}, sorted by a payload's field`, 'MB', [newest]),
  ];
};

/**
 * The slope of a line through points on logarithmic scales: 0 for what stays, 1 for what grows as
 * the calls do.
 */
export const logLogSlope = (points: readonly (readonly [x: number, y: number])[]): number => {
  const logs = points.map(([x, y]) => [Math.log(x), Math.log(y)] as const);
  const [mx, my] = [0, 1].map((i) => logs.reduce((sum, p) => sum + (p[i] ?? 0), 0) / logs.length) as [
    number,
    number,
  ];
  const over = logs.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0);
  return over / logs.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
};

/** The queries whose growth is measured, by their names among the shapes. */
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
    /** By round, the seconds at each size. */
    const times: number[][] = Array.from({ length: growthRounds }, () => []);
    for (const { store } of loaded) {
      const answer = () => drain(ask(store, calls[0], body).calls);
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
export const speed: Part = {
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
