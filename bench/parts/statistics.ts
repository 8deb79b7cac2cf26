/** What statistics over a month read and store, cold and warm, and what marks cost writers. */
import { callBatchBody } from '../../api/schemas/calls.ts';
import { callsQueryStatsBody } from '../../api/schemas/query.ts';
import { callsStatsBody } from '../../api/schemas/stats.ts';
import { writeCalls } from '../../core/calls/index.ts';
import { noLookups } from '../../core/query/index.ts';
import { countCalls } from '../../core/query/stats.ts';
import { statsOf, usageOf } from '../../core/stats/index.ts';
import { requestBudget, type Store } from '../../core/storage/index.ts';
import { formatTime, type ProjectId, parseTime } from '../../core/wire/index.ts';
import { parseBody } from '../../core/wire/schema.ts';
import { type Bench, names } from '../harness/bench.ts';
import { type Call, repeatCalls } from '../harness/calls.ts';
import { type CapacityUsed, totalUnits } from '../harness/capacity.ts';
import { counted, type Figure, measured } from '../harness/figures.ts';
import type { BenchPart } from '../harness/part.ts';
import { benchBudget, endOf, sendAll, startOf } from '../harness/reporting.ts';

const begin = Date.UTC(2026, 8, 1) * 1000;
const hour = 3_600_000_000;
const monthHours = 720;
const start = formatTime(begin);
const end = formatTime(begin + monthHours * hour);

/** The same calls, spread evenly over 30 days. */
function* overMonth(calls: readonly Call[], count: number): Generator<Call> {
  let i = 0;
  for (const call of repeatCalls(calls, count)) {
    const startedAt = begin + Math.floor((i++ * monthHours * hour) / count);
    const lasted =
      (parseTime(String(call.end.ended_at)) ?? 0) - (parseTime(String(call.start.started_at)) ?? 0);
    yield {
      start: { ...call.start, started_at: formatTime(startedAt) },
      end: { ...call.end, ended_at: formatTime(startedAt + lasted) },
    };
  }
}

const overview = {
  call_metrics: [
    { metric: 'call_count' },
    { metric: 'error_count' },
    { metric: 'latency_ms', aggregations: ['avg'], percentiles: [50, 95, 99] },
  ],
  usage_metrics: [{ metric: 'input_tokens' }, { metric: 'output_tokens' }],
};

const body = callsStatsBody(names);

const ask = async (store: Store, project_id: string, granularity: number): Promise<void> => {
  const asked = { project_id, start, end, granularity, timezone: 'UTC', ...overview };
  const request = parseBody(body, JSON.stringify(asked));
  const lookups = { costs: noLookups.costs, steadyPrices: async () => () => null };
  await statsOf(store, request, benchBudget(), lookups).answer();
};

const unitFigures = (name: string, { reads, writes }: CapacityUsed): Figure[] => [
  counted(`${name}: read units`, 'units', totalUnits(reads), { of: reads }),
  counted(`${name}: write units`, 'units', totalUnits(writes)),
];

/** How often a warm answer is timed. */
const rounds = 5;

/** Times and counts a task, the first time and again. */
const coldAndWarm = async (bench: Bench, name: string, task: () => Promise<void>): Promise<Figure[]> => {
  const cold = await bench.capacity.during(task);
  const times: number[] = [];
  let warm = await bench.capacity.during(async () => {});
  for (let i = 0; i < rounds; i++) {
    const begun = performance.now();
    warm = await bench.capacity.during(task);
    times.push(performance.now() - begun);
  }
  return [
    ...unitFigures(`${name}, cold`, cold),
    ...unitFigures(`${name}, warm`, warm),
    measured(`${name}, warm: time`, 'ms', times),
  ];
};

/** What a month of so many calls takes, by the hour and by the day. */
const monthFigures = async (bench: Bench, calls: readonly Call[], count: number): Promise<Figure[]> => {
  const project = String(calls[0]?.start.project_id);
  const plain = await bench.newStore('calls');
  // Reported as they happened, so that nothing is marked.
  await sendAll(plain, overMonth(calls, count), 'together');
  const store = { ...plain, rollups: (await bench.newStore('rollups')).table };
  const counting = parseBody(callsQueryStatsBody(names), JSON.stringify({ project_id: project }));
  const scan = await bench.capacity.during(() =>
    countCalls(plain, counting.selection, benchBudget()).stats(),
  );
  const label = `${count} calls`;
  return [
    ...unitFigures(`${label}, header scan`, scan),
    ...(await coldAndWarm(bench, `${label}, by the hour`, () => ask(store, project, 3600))),
    ...(await coldAndWarm(bench, `${label}, by the day`, () => ask(store, project, 86_400))),
  ];
};

const roots = 100;
const callsOfRoot = 20;

/** What the usage of a hundred roots of 20 calls reads. */
const usageFigures = async (bench: Bench, calls: readonly Call[]): Promise<Figure[]> => {
  const store = await bench.newStore('calls');
  const all = [...repeatCalls(calls, roots * callsOfRoot)].map(({ start, end }, i): Call => {
    const [root, isRoot] = [Math.floor(i / callsOfRoot), i % callsOfRoot === 0];
    const id = `01a0f4c2-c400-7430-99c4-${String(i).padStart(12, '0')}`;
    const rootId = `01a0f4c2-c400-7430-99c4-${String(root * callsOfRoot).padStart(12, '0')}`;
    const links = { id, trace_id: rootId, parent_id: isRoot ? null : rootId, thread_id: null, turn_id: null };
    return { start: { ...start, ...links }, end: { ...end, id } };
  });
  await sendAll(store, all, 'together');
  const callIds = all.flatMap(({ start }) => (start.parent_id === null ? [String(start.id)] : []));
  const request = { projectId: all[0]?.start.project_id as ProjectId, callIds, withCosts: false };
  const used = await bench.capacity.during(() => usageOf(store, request, benchBudget(), noLookups));
  return unitFigures(`usage of ${roots} roots of ${callsOfRoot} calls`, used);
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
  const finished = await bench.capacity.during(() => report(batchAt(begin, '99c5')));
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
