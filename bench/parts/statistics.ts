/** What statistics over a month read and store, cold and warm, and what marks cost writers. */
import { createHash } from 'node:crypto';
import { callBatchBody } from '../../api/schemas/calls.ts';
import { callsQueryStatsBody } from '../../api/schemas/query.ts';
import { requestBudget } from '../../core/foundations/storage/index.ts';
import { formatTime, type ProjectId, parseTime } from '../../core/foundations/wire/index.ts';
import { parseBody } from '../../core/foundations/wire/parse-body.ts';
import { noLookups } from '../../core/questions/query/index.ts';
import { countCalls } from '../../core/questions/query/stats.ts';
import { usageOf } from '../../core/questions/stats/index.ts';
import { writeCalls } from '../../core/records/calls/index.ts';
import { type Bench, names } from '../harness/bench.ts';
import { type Call, repeatCalls } from '../harness/calls.ts';
import { totalUnits } from '../harness/capacity.ts';
import { counted, type Figure, measured } from '../harness/figures.ts';
import {
  askMonth,
  byTheDay,
  byTheHour,
  monthBegin,
  overMonth,
  unitFigures,
  warmFigures,
} from '../harness/month.ts';
import type { BenchPart } from '../harness/part.ts';
import { benchBudget, endOf, sendAll, startOf } from '../harness/reporting.ts';

/** Times and counts a task, the first time and again. */
const coldAndWarm = async (bench: Bench, name: string, task: () => Promise<void>): Promise<Figure[]> => {
  const begun = performance.now();
  const cold = await bench.capacity.during(task);
  const time = performance.now() - begun;
  return [
    ...unitFigures(`${name}, cold`, cold),
    measured(`${name}, cold: time`, 'ms', [time]),
    ...(await warmFigures(bench, name, task)),
  ];
};

/** What a month of so many calls takes, by the hour and by the day. */
const monthFigures = async (bench: Bench, calls: readonly Call[], count: number): Promise<Figure[]> => {
  const project = String(calls[0]?.start.project_id);
  const plain = await bench.newStore('calls');
  // Reported as they happened, so that nothing is marked.
  await sendAll(plain, overMonth(calls, count), 'together');
  const counting = parseBody(callsQueryStatsBody(names), JSON.stringify({ project_id: project }));
  const scan = await bench.capacity.during(() =>
    countCalls(plain, counting.selection, benchBudget()).stats(),
  );
  const figures = unitFigures(`${count} calls, header scan`, scan);
  for (const [name, granularity] of [
    ['by the hour', byTheHour],
    ['by the day', byTheDay],
  ] as const) {
    // Each has rollups of its own, so that each is cold at first.
    const store = { ...plain, rollups: (await bench.newStore('rollups')).table };
    const ask = () => askMonth(store, project, granularity, count);
    figures.push(...(await coldAndWarm(bench, `${count} calls, ${name}`, ask)));
  }
  return figures;
};

const roots = 100;
const callsOfRoot = 20;

/** The id that a client makes for its call when that starts: a UUID of version 7. */
const madeId = (startedAt: number, number: number): string => {
  const time = Math.floor(startedAt / 1000)
    .toString(16)
    .padStart(12, '0');
  const noise = createHash('sha256').update(String(number)).digest('hex');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${noise.slice(0, 3)}-8${noise.slice(3, 6)}-${noise.slice(6, 18)}`;
};

/** What the usage of a hundred roots of 20 calls reads. */
const usageFigures = async (bench: Bench, calls: readonly Call[]): Promise<Figure[]> => {
  const store = await bench.newStore('calls');
  const repeated = [...repeatCalls(calls, roots * callsOfRoot)];
  const ids = repeated.map(({ start }, i) => madeId(parseTime(String(start.started_at)) ?? 0, i));
  const all = repeated.map(({ start, end }, i): Call => {
    const [rootAt, isRoot] = [i - (i % callsOfRoot), i % callsOfRoot === 0];
    const [id, rootId] = [ids[i], ids[rootAt] ?? null];
    const links = { id, trace_id: rootId, parent_id: isRoot ? null : rootId, thread_id: null, turn_id: null };
    return { start: { ...start, ...links }, end: { ...end, id } };
  });
  await sendAll(store, all, 'together');
  const callIds = all.flatMap(({ start }) => (start.parent_id === null ? [String(start.id)] : []));
  const projectId = all[0]?.start.project_id as ProjectId;
  const figures: Figure[] = [];
  for (const [name, traceIds] of [
    ['', []],
    [', of known traces', callIds],
  ] as const) {
    const request = { projectId, callIds, traceIds, withCosts: false };
    const used = await bench.capacity.during(() => usageOf(store, request, benchBudget(), noLookups));
    figures.push(...unitFigures(`usage of ${roots} roots of ${callsOfRoot} calls${name}`, used));
  }
  return figures;
};

const batchBody = callBatchBody(names);
/** How long a batch may take: marks depend on it. */
const requestMs = 28_000;

/** What a batch of a hundred calls writes: in open hours, and in one hour that is finished. */
const markFigures = async (bench: Bench, calls: readonly Call[]): Promise<Figure[]> => {
  const [call] = calls;
  if (!call) return [];
  const plain = await bench.newStore('calls');
  const store = { ...plain, rollups: (await bench.newStore('rollups')).table };
  const batchAt = (time: number, of: string) =>
    Array.from({ length: 100 }, (_, i) => {
      const id = `01a0f4c2-c400-7430-${of}-${String(i).padStart(12, '0')}`;
      const [started_at, ended_at] = [formatTime(time + i), formatTime(time + i + 1000)];
      return [
        startOf({ ...call, start: { ...call.start, id, started_at } }),
        endOf({ ...call, end: { ...call.end, id, ended_at } }),
      ];
    }).flat();
  const now = Math.floor(Date.now() / 1000) * 1_000_000;
  const report = (batch: readonly object[]) =>
    writeCalls(store, parseBody(batchBody, JSON.stringify({ batch })).batch, 'ada', requestBudget(requestMs));
  const open = await bench.capacity.during(() => report(batchAt(now, '99c4')));
  const finished = await bench.capacity.during(() => report(batchAt(monthBegin, '99c5')));
  return [
    counted('100 calls in an open hour: write units', 'units', totalUnits(open.writes)),
    counted('100 calls in a finished hour: write units', 'units', totalUnits(finished.writes)),
  ];
};

/** Units of a month of so many calls, of usage and of marks, and the times of warm answers. */
export const statisticsFigures = async (
  bench: Bench,
  calls: readonly Call[],
  count: number,
): Promise<Figure[]> => [
  ...(await monthFigures(bench, calls, count)),
  ...(await usageFigures(bench, calls)),
  ...(await markFigures(bench, calls)),
];

/** Read and write units of statistics and usage, and of marks. */
export const statistics: BenchPart = {
  name: 'statistics',
  title: 'Statistics of a month of calls, cold and warm; usage below calls (units: DynamoDB Local)',
  run: async ({ bench, calls, sizes, progress }) => {
    const figures: Figure[] = [];
    for (const size of sizes) {
      progress(`a month of ${size} calls`);
      figures.push(...(await monthFigures(await bench(), calls, size)));
    }
    return [
      ...figures,
      ...(await usageFigures(await bench(), calls)),
      ...(await markFigures(await bench(), calls)),
    ];
  },
};
