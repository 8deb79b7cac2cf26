/** What statistics of calls and threads read and store, and what it costs writers to mark hours as changed. */

import { createHash } from 'node:crypto';
import { callBatch } from '../../api/calls.ts';
import { getBodySchema } from '../../api/endpoint.ts';
import { feedbackBatchCreate } from '../../api/feedback.ts';
import { callsQueryStats, callsStreamQuery, everyCall } from '../../api/queries.ts';
import { callsStats } from '../../api/stats.ts';
import { threadsStreamQuery } from '../../api/threads.ts';
import { maxContexts } from '../../api/traces.ts';
import { countCalls, noLookups, queryCalls } from '../../core/questions/query/index.ts';
import { Groups, kept, toDimensions } from '../../core/questions/stats/cells.ts';
import { computeStats, computeUsage } from '../../core/questions/stats/index.ts';
import { type Rollup, storeRollups } from '../../core/questions/stats/rollups.ts';
import { scanCalls } from '../../core/questions/stats/scan.ts';
import { queryThreads } from '../../core/questions/threads/index.ts';
import { readContext, readContexts, readTraceAgents } from '../../core/questions/traces/index.ts';
import { type CallHeader, writeCalls } from '../../core/records/calls/index.ts';
import { readCosts } from '../../core/records/costs/index.ts';
import { createFeedback, FeedbackJoin } from '../../core/records/feedback/index.ts';
import { toDay, toHour } from '../../core/records/rollups.ts';
import { agentTraces } from '../../examples/agent-traces.ts';
import { type RequestBudget, requestBudget, type Store } from '../../foundations/storage/index.ts';
import {
  formatTime,
  type JsonValue,
  type Micros,
  type ProjectId,
  parseTime,
} from '../../foundations/wire/index.ts';
import { parseBody } from '../../foundations/wire/schema.ts';
import { type Bench, type BenchPart, type CapacityUsed, totalUnits } from '../harness/bench.ts';
import { type Call, monthBegin, monthEnd, overMonth, repeatCalls, startOfNth } from '../harness/calls.ts';
import { counted, type Figure, measured } from '../harness/figures.ts';
import { benchBudget, type ReportMode, sendAll, toEndItem, toStartItem } from '../harness/reporting.ts';

const hour = 3_600_000_000;

const overview = {
  call_metrics: [
    { metric: 'call_count' },
    { metric: 'error_count' },
    { metric: 'latency_ms', aggregations: ['avg'], percentiles: [50, 95, 99] },
  ],
  usage_metrics: [{ metric: 'input_tokens' }, { metric: 'output_tokens' }],
};

const body = getBodySchema(callsStats);

/** The seconds of a bucket. */
const byTheHour = 3600;
const byTheDay = 86_400;

/**
 * Asks for the overview of the month.
 *
 * @throws Error if it does not count so many calls
 */
const askMonth = async (
  store: Store,
  project_id: string,
  granularity: number,
  count: number,
): Promise<void> => {
  const start = formatTime(monthBegin);
  const end = formatTime(monthEnd);
  const asked = { project_id, start, end, granularity, timezone: 'UTC', ...overview };
  const request = parseBody(body, JSON.stringify(asked));
  const lookups = { ...noLookups, steadyPrices: async () => () => null };
  const { call_buckets: buckets } = await computeStats(store, request, benchBudget(), lookups).answer();
  const found = buckets.reduce((sum, bucket) => sum + Number(bucket.sum_call_count), 0);
  if (found !== count) throw new Error(`statistics of ${count} calls count ${found}`);
};

const unitFigures = (name: string, { reads, writes }: CapacityUsed): Figure[] => [
  counted(`${name}: read units`, 'units', totalUnits(reads), { of: reads }),
  counted(`${name}: write units`, 'units', totalUnits(writes)),
];

/** How often a warm answer is timed. */
const rounds = 5;

/** Units and times of a task that was done before. */
const warmFigures = async (bench: Bench, name: string, task: () => Promise<void>): Promise<Figure[]> => {
  const times: number[] = [];
  let warm = await bench.capacity.during(task);
  for (let i = 0; i < rounds; i++) {
    const startedAt = performance.now();
    warm = await bench.capacity.during(task);
    times.push(performance.now() - startedAt);
  }
  return [...unitFigures(`${name}, warm`, warm), measured(`${name}, warm: time`, 'ms', times)];
};

// What statistics over a month read and store, cold and warm, and what marks cost writers.

/** Times and counts a task, the first time and again. */
const coldAndWarm = async (bench: Bench, name: string, task: () => Promise<void>): Promise<Figure[]> => {
  const startedAt = performance.now();
  const cold = await bench.capacity.during(task);
  const time = performance.now() - startedAt;
  return [
    ...unitFigures(`${name}, cold`, cold),
    measured(`${name}, cold: time`, 'ms', [time]),
    ...(await warmFigures(bench, name, task)),
  ];
};

/** What the dearest 100 roots of the month take, with the totals of all their traces. */
const totalsFigures = async (
  bench: Bench,
  store: Store,
  project_id: string,
  count: number,
): Promise<Figure[]> => {
  const costs = await bench.newStore('costs');
  const at = (operator: string, time: Micros) => ({
    [operator]: [{ $getField: 'started_at' }, { $literal: formatTime(time) }],
  });
  const asked = {
    project_id,
    include_trace_totals: true,
    columns: [],
    limit: 100,
    filter: { trace_roots_only: true },
    query: { $expr: { $and: [at('$gte', monthBegin), at('$lt', monthEnd)] } },
    sort_by: [{ field: 'summary.svc.trace_totals.total_cost', direction: 'desc' }],
  };
  const query = parseBody(getBodySchema(callsStreamQuery), JSON.stringify(asked));
  const lookups: typeof noLookups = {
    ...noLookups,
    costs: (projectId, budget) => readCosts(costs, projectId, budget),
  };
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  const used = await bench.capacity.during(() =>
    Array.fromAsync(queryCalls(store, query, benchBudget(), lookups).json()),
  );
  const { user, system } = process.cpuUsage(cpu);
  const name = `${count} calls, dearest roots`;
  return [
    counted(`${name}: read units`, 'units', totalUnits(used.reads), { of: used.reads }),
    measured(`${name}: time`, 'ms', [performance.now() - startedAt]),
    measured(`${name}: processor time`, 'ms', [(user + system) / 1000]),
  ];
};

/** What a month of so many calls takes, by the hour and by the day. */
const monthFigures = async (bench: Bench, calls: readonly Call[], count: number): Promise<Figure[]> => {
  const project = String(calls[0]?.start.project_id);
  const plain = await bench.newStore('calls');
  // Reported as they happened, so that nothing is marked.
  await sendAll(plain, overMonth(calls, count), 'together');
  const counting = parseBody(getBodySchema(callsQueryStats), JSON.stringify({ project_id: project }));
  const scan = await bench.capacity.during(() => countCalls(plain, counting, benchBudget()).stats());
  const figures = [
    ...unitFigures(`${count} calls, header scan`, scan),
    ...(await totalsFigures(bench, plain, project, count)),
  ];
  for (const [name, granularity] of [
    ['by the hour', byTheHour],
    ['by the day', byTheDay],
  ] as const) {
    // Each has rollups of its own, so that each is cold at first.
    const store = { ...plain, bookkeeping: (await bench.newStore('bookkeeping')).table };
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

/** The same calls in traces of 20, each of a root that is an agent and what is below it. */
const inTraces = (calls: readonly Call[], count: number): Call[] => {
  const repeated = [...repeatCalls(calls, count * callsOfRoot)];
  const ids = repeated.map(({ start }, i) => madeId(parseTime(String(start.started_at)) ?? 0, i));
  return repeated.map(({ start, end }, i): Call => {
    const rootAt = i - (i % callsOfRoot);
    const isRoot = i % callsOfRoot === 0;
    const id = ids[i];
    const rootId = ids[rootAt] ?? null;
    const links = { id, trace_id: rootId, parent_id: isRoot ? null : rootId, thread_id: null, turn_id: null };
    const attributes = {
      ...(start.attributes as object),
      ...(isRoot && { kind: 'agent', agent: { name: 'desk' } }),
    };
    return { start: { ...start, ...links, attributes }, end: { ...end, id } };
  });
};

/** What the usage of a hundred roots of 20 calls reads. */
const usageFigures = async (bench: Bench, calls: readonly Call[]): Promise<Figure[]> => {
  const store = await bench.newStore('calls');
  const all = inTraces(calls, roots);
  await sendAll(store, all, 'together');
  const callIds = all.flatMap(({ start }) => (start.parent_id === null ? [String(start.id)] : []));
  const projectId = all[0]?.start.project_id as ProjectId;
  const figures: Figure[] = [];
  for (const [name, traceIds] of [
    ['', []],
    [', of known traces', callIds],
  ] as const) {
    const request = { projectId, callIds, traceIds, withCosts: false };
    const used = await bench.capacity.during(() => computeUsage(store, request, benchBudget(), noLookups));
    figures.push(...unitFigures(`usage of ${roots} roots of ${callsOfRoot} calls${name}`, used));
  }
  const summed = await bench.capacity.during(() =>
    readTraceAgents(store, projectId, callIds, benchBudget(), noLookups),
  );
  figures.push(...unitFigures(`agents of ${roots} traces of ${callsOfRoot} calls`, summed));
  const requests = all.flatMap(({ start }) =>
    Array.isArray((start.inputs as { readonly messages?: unknown }).messages) ? [String(start.id)] : [],
  );
  const [asking] = requests;
  if (asking === undefined) throw new Error('no call has messages');
  const divided = await bench.capacity.during(() =>
    readContext(store, projectId, asking, benchBudget(), noLookups),
  );
  figures.push(...unitFigures('the context of a request to a model', divided));
  const many = requests.slice(0, maxContexts);
  const together = await bench.capacity.during(() =>
    readContexts(store, projectId, many, benchBudget(), noLookups),
  );
  return [...figures, ...unitFigures(`the contexts of ${many.length} requests to models`, together)];
};

const batchBody = callBatch();
/** How long a batch may take: marks depend on it. */
const requestMs = 28_000;

/** What a batch of a hundred calls writes: in open hours, and in one hour that is finished. */
const markFigures = async (bench: Bench, calls: readonly Call[]): Promise<Figure[]> => {
  const [call] = calls;
  if (!call) return [];
  const plain = await bench.newStore('calls');
  const store = { ...plain, bookkeeping: (await bench.newStore('bookkeeping')).table };
  const batchAt = (time: number, trace: string) =>
    Array.from({ length: 100 }, (_, i) => {
      const id = `01a0f4c2-c400-7430-${trace}-${String(i).padStart(12, '0')}`;
      const started_at = formatTime(time + i);
      const ended_at = formatTime(time + i + 1000);
      return [
        toStartItem({ ...call, start: { ...call.start, id, started_at } }),
        toEndItem({ ...call, end: { ...call.end, id, ended_at } }),
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
  ...(await scoreFigures(bench, calls, count)),
  ...(await groupFigures(bench, calls)),
];

/** How many traces statistics are grouped over by what no rollup knows. */
const groupedTraces = 100;

/** What groups take that no rollup knows, of traces of 20 calls: by agent, tool, and what is in payloads. */
const groupFigures = async (bench: Bench, calls: readonly Call[]): Promise<Figure[]> => {
  const store = await bench.newStore('calls');
  const all = inTraces(calls, groupedTraces);
  await sendAll(store, all, 'together');
  const times = all.map(({ start }) => parseTime(String(start.started_at)) ?? 0);
  const range = { start: formatTime(Math.min(...times)), end: formatTime(Math.max(...times) + hour) };
  const name = `${groupedTraces} traces of ${callsOfRoot} calls`;
  const figures: Figure[] = [];
  for (const field of ['agent', 'tool', 'exception', 'inputs.model']) {
    const asked = {
      project_id: all[0]?.start.project_id,
      ...range,
      granularity: byTheDay,
      group_by: [field],
      call_metrics: [{ metric: 'call_count' }],
    };
    const lookups = { ...noLookups, steadyPrices: async () => () => null };
    const request = parseBody(body, JSON.stringify(asked));
    const used = await bench.capacity.during(() =>
      computeStats(store, request, benchBudget(), lookups).answer(),
    );
    figures.push(
      counted(`${name}, by ${field}: read units`, 'units', totalUnits(used.reads), { of: used.reads }),
    );
  }
  return figures;
};

/** One call in so many has a score. */
const scoredEvery = 4;

/** What it takes to group calls by a score: their headers, and all feedback on them. */
const scoreFigures = async (bench: Bench, calls: readonly Call[], count: number): Promise<Figure[]> => {
  const store = await bench.newStore('calls');
  const feedback = await bench.newStore('feedback');
  const month = [...overMonth(calls, count)];
  await sendAll(store, month, 'together');
  const scored = month.filter((_, i) => i % scoredEvery === 0).map(({ start }) => start);
  const project_id = String(scored[0]?.project_id);
  const batch = scored.map(({ id }, i) => ({
    // A record's shard comes from its id.
    id: `score-${i}`,
    project_id,
    svc_ref: `svc:///${project_id}/call/${String(id)}`,
    feedback_type: 'evaluation.correct',
    payload: { value: i % 3 > 0 },
  }));
  const { batch: drafts } = parseBody(getBodySchema(feedbackBatchCreate), JSON.stringify({ batch }));
  await createFeedback(
    feedback,
    drafts.map((draft, i) => ({ draft, loc: ['batch', String(i)] })),
    'ada',
    benchBudget(),
  );
  const asked = {
    project_id,
    start: formatTime(monthBegin),
    end: formatTime(monthEnd),
    granularity: byTheDay,
    call_metrics: [{ metric: 'call_count' }],
    group_by_feedback: { feedback_type: 'evaluation.correct' },
  };
  const lookups = {
    ...noLookups,
    steadyPrices: async () => () => null,
    feedback: (projectId: ProjectId, budget: RequestBudget) => new FeedbackJoin(feedback, projectId, budget),
  };
  const { answer } = computeStats(store, parseBody(body, JSON.stringify(asked)), benchBudget(), lookups);
  let found = 0;
  const { reads, requests } = await bench.capacity.during(async () => {
    for (const { feedback: value, sum_call_count } of (await answer()).call_buckets)
      if (value !== null) found += Number(sum_call_count);
  });
  if (found !== scored.length) throw new Error(`${scored.length} scored calls are counted as ${found}`);
  const name = `a month of ${count} calls by a score`;
  return [
    counted(`${name}: read units`, 'units', totalUnits(reads), { of: reads }),
    counted(`${name}: requests`, 'requests', requests),
  ];
};

/** Read and write units of statistics and usage, and of marks. */
export const statistics: BenchPart = {
  name: 'statistics',
  title: 'Statistics of a month of calls, cold and warm; usage below calls',
  run: async ({ bench, calls, sizes, progress }) => {
    const figures: Figure[] = [];
    for (const size of sizes) {
      progress(`a month of ${size} calls`);
      figures.push(...(await monthFigures(await bench(), calls, size)));
    }
    return [
      ...figures,
      ...(await usageFigures(await bench(), calls)),
      ...(await groupFigures(await bench(), calls)),
      ...(await markFigures(await bench(), calls)),
    ];
  },
};

// What statistics of a month read when all its hours are rolled up, at numbers of calls that would
// take too long to report. Some calls are reported and read back. Their headers are repeated in
// memory, and the code of readers makes rollups of them.

type Scanned = readonly [header: CallHeader, usage: JsonValue];

/** The headers of some calls, as a reader gets them. */
const readHeaders = async (
  bench: Bench,
  calls: readonly Call[],
  projectId: ProjectId,
): Promise<Scanned[]> => {
  const store = await bench.newStore('calls');
  await sendAll(store, overMonth(calls, calls.length), 'together');
  const found: Scanned[] = [];
  await scanCalls(
    store,
    { projectId, filter: everyCall, where: null, withUsage: true, withFailed: false, attributes: [] },
    [monthBegin, monthEnd],
    ({ header }, usage) => void found.push([header, usage]),
    { scanned: 0, hydrated: 0 },
    benchBudget(),
  );
  return found;
};

/** Rollups of `count` calls, by hour or by day, as a reader would make them. */
const makeRollups = (
  calls: readonly Scanned[],
  count: number,
  toNumber: (time: number) => number,
): Rollup[] => {
  const groups = new Map<number, Groups>();
  for (let i = 0; i < count; i++) {
    const [header, usage] = calls[i % calls.length] ?? [];
    if (!header) break;
    const startedAt = startOfNth(i, count);
    const end = header.end && {
      ...header.end,
      endedAt: header.end.endedAt - header.start.startedAt + startedAt,
    };
    const call = { ...header, start: { ...header.start, startedAt }, end };
    const number = toNumber(startedAt);
    const ofTime = groups.get(number) ?? new Groups(kept);
    groups.set(number, ofTime);
    ofTime.cell(toDimensions(call)).add(call, usage ?? null, {});
  }
  return [...groups].map(([number, { all }]) => ({ number, mark: 0, groups: all }));
};

/** Read units and times of warm answers over the rollups of so many calls. */
const rollupFigures = async (
  bench: Bench,
  calls: readonly Scanned[],
  projectId: ProjectId,
  count: number,
): Promise<Figure[]> => {
  const figures: Figure[] = [];
  for (const [name, granularity, kind, toNumber] of [
    ['by the hour', byTheHour, 'pages', toHour],
    ['by the day', byTheDay, 'days', (time: number) => toDay(toHour(time))],
  ] as const) {
    const { table } = await bench.newStore('bookkeeping');
    const store = { ...(await bench.newStore('calls')), bookkeeping: table };
    const rollups = makeRollups(calls, count, toNumber);
    await storeRollups(table, kind, projectId, rollups, () => undefined, benchBudget());
    figures.push(
      ...(await warmFigures(bench, `${count} calls, ${name}`, () =>
        askMonth(store, projectId, granularity, count),
      )),
    );
  }
  return figures;
};

/** Read units and times of warm statistics of a month, at each number of calls. */
export const rolledUpFigures = async (
  bench: Bench,
  calls: readonly Call[],
  sizes: readonly number[],
): Promise<Figure[]> => {
  const projectId = calls[0]?.start.project_id as ProjectId;
  const headers = await readHeaders(bench, calls, projectId);
  const figures: Figure[] = [];
  for (const size of sizes) figures.push(...(await rollupFigures(bench, headers, projectId, size)));
  return figures;
};

/** Warm statistics of a month at each size. */
export const rollups: BenchPart = {
  name: 'rollups',
  title: 'Statistics of a month that is rolled up',
  run: async ({ bench, calls, sizes }) => rolledUpFigures(await bench(), calls, sizes),
};

// What statistics of threads read. It is independent of the machine's speed.

const project_id = 'acme/shop';

/** A thread's id as long as those of tracing libraries. */
const threadId = (number: number): string => `01a0f4c2-c400-7430-99c4-${String(number).padStart(12, '0')}`;

/** A turn's summary as tracing libraries make it. It lies in the header. */
const summary = {
  usage: { 'gpt-4o': { requests: 3, prompt_tokens: 5321, completion_tokens: 187, total_tokens: 5508 } },
};

/**
 * The generator's turns in a tenth as many threads, and the calls below them. They have no
 * payloads, which queries over threads do not read.
 */
function* threadCalls(turnCount: number): Generator<Call> {
  let turns = 0;
  for (const { start, end } of agentTraces({ projectId: project_id, conversations: turnCount })) {
    const isTurn = start.id === start.turn_id;
    if (isTurn && turns++ === turnCount) return;
    yield {
      start: { ...start, thread_id: threadId(turns % (turnCount / 10)), inputs: {} },
      end: { ...end, output: null, summary: isTurn ? summary : {} },
    };
  }
}

const queries: Readonly<Record<string, object>> = {
  'all threads': {},
  '100 updated last': { limit: 100 },
  'first 100 by thread_id': { limit: 100, sort_by: [{ field: 'thread_id', direction: 'asc' }] },
  '20 thread_ids': { filter: { thread_ids: Array.from({ length: 20 }, (_, i) => threadId(i)) } },
};

const queryFigures = async (bench: Bench, store: Store, name: string, body: object): Promise<Figure[]> => {
  const query = parseBody(getBodySchema(threadsStreamQuery), JSON.stringify({ project_id, ...body }));
  const { counts, json } = queryThreads(store, query, benchBudget());
  const { reads, requests } = await bench.capacity.during(() => Array.fromAsync(json()));
  const units = totalUnits(reads);
  return [
    counted(`${name}: read units`, 'units', units, { of: reads }),
    counted(`${name}: turns`, 'turns a read unit', counts.turns / units),
    counted(`${name}: requests`, 'requests', requests),
  ];
};

/** What queries over `turnCount` turns in a tenth as many threads read. */
export const threadFigures = async (bench: Bench, turnCount: number): Promise<Figure[]> => {
  const calls = [...threadCalls(turnCount)];
  const figures: Figure[] = [];
  for (const mode of ['together', 'apart'] satisfies ReportMode[]) {
    const store = await bench.newStore('calls');
    await sendAll(store, calls, mode);
    for (const [name, body] of Object.entries(queries))
      figures.push(...(await queryFigures(bench, store, `${name} (${mode})`, body)));
  }
  return figures;
};

const maxTurns = 3000;

/** Read units of statistics of threads. */
export const threads: BenchPart = {
  name: 'threads',
  title: `Statistics of ${maxTurns / 10} threads with ${maxTurns} turns, and calls below them`,
  run: async ({ bench }) => threadFigures(await bench(), maxTurns),
};
