/**
 * What queries, lists, extras and counts read, by index. The units are the same on every machine.
 */

import { getBodySchema } from '../../api/endpoint.ts';
import { feedbackBatchCreate } from '../../api/feedback.ts';
import { callsQueryStats } from '../../api/queries.ts';
import {
  countCalls,
  type Lookups,
  noLookups,
  type QueryAnswer,
  queryCalls,
} from '../../core/questions/query/index.ts';
import { readCosts } from '../../core/records/costs/index.ts';
import { createFeedback, FeedbackJoin } from '../../core/records/feedback/index.ts';
import { createObject, resolveRefs } from '../../core/records/objects/index.ts';
import type { Store } from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { parseBody } from '../../foundations/wire/schema.ts';
import { type Bench, type BenchContext, type BenchPart, totalUnits, type Units } from '../harness/bench.ts';
import { type Call, repeatCalls } from '../harness/calls.ts';
import { counted, type Figure, measured } from '../harness/figures.ts';
import {
  batchSize,
  benchBudget,
  equalsQuery,
  newestBy,
  type ReportMode,
  send,
  sendAll,
  toEndItem,
  toQuery,
  toStartItem,
} from '../harness/reporting.ts';

const field = (path: string) => ({ $getField: path });
const literal = (value: unknown) => ({ $literal: value });

const newestPreviews = {
  ...newestBy('started_at'),
  filter: { trace_roots_only: true },
  columns: ['preview'],
};

/** Bodies of queries without their project, by name. Every source of a plan has at least one. */
export const queryShapes = (calls: readonly [Call, ...Call[]]): Readonly<Record<string, object>> => {
  const [{ start }] = calls;
  const child = calls.find((call) => call.start.parent_id !== null)?.start ?? start;
  const noon = new Date(Date.parse(String(start.started_at)) + 12 * 3_600_000).toISOString();
  return {
    'newest 100, all columns': newestBy('started_at'),
    'newest 100 roots, previews': newestPreviews,
    'one trace': { filter: { trace_ids: [child.trace_id] } },
    'one thread': { filter: { thread_ids: [start.thread_id] } },
    'one turn': { filter: { turn_ids: [start.turn_id] } },
    "one parent's children": { filter: { parent_ids: [child.parent_id] } },
    '50 ids': { filter: { call_ids: calls.slice(0, 50).map((call) => call.start.id) } },
    'slower than 5 s, headers': {
      columns: [],
      query: { $expr: { $gt: [field('summary.svc.latency_ms'), literal(5000)] } },
    },
    'errors until noon, headers': {
      columns: [],
      query: {
        $expr: {
          $and: [
            { $eq: [field('summary.svc.status'), literal('error')] },
            { $lt: [field('started_at'), literal(noon)] },
          ],
        },
      },
    },
    'roots, headers': { columns: [], filter: { trace_roots_only: true } },
    'most tokens, 100': {
      ...newestBy('summary.usage.gpt-4o.total_tokens'),
      columns: ['summary.usage'],
    },
    'model contains "4o", 10': {
      limit: 10,
      query: { $expr: { $contains: { input: field('inputs.model'), substr: literal('4o') } } },
    },
    'everything, all columns': {},
  };
};

/** Starts a query in the project of a call. */
export const startQuery = (store: Store, call: Call, body: object): QueryAnswer =>
  queryCalls(store, toQuery({ project_id: call.start.project_id, ...body }), benchBudget());

/**
 * Reads an iterable to its end.
 *
 * @returns the number of items
 */
export const drain = async (batches: AsyncIterable<readonly unknown[]>): Promise<number> => {
  let count = 0;
  for await (const batch of batches) count += batch.length;
  return count;
};

/**
 * What a query reads of a store, measured `rounds` times. Reads of payloads may depend on which
 * shard's page comes first.
 */
const queryFigures = async (
  bench: Bench,
  store: Store,
  call: Call,
  [name, body]: readonly [string, object],
  rounds: number,
): Promise<Figure[]> => {
  const units: number[] = [];
  const requests: number[] = [];
  const perUnit: number[] = [];
  let sent: number = 0;
  let of: Units = {};
  for (let i = 0; i < rounds; i++) {
    const answer = startQuery(store, call, body);
    const used = await bench.capacity.during(() => drain(answer.json()));
    units.push(totalUnits(used.reads));
    requests.push(used.requests);
    perUnit.push(answer.counts.scanned / totalUnits(used.reads));
    [sent, of] = [answer.counts.sent, used.reads];
  }
  return [
    measured(`${name}: read units`, 'units', units, { of }),
    measured(`${name}: requests`, 'requests', requests),
    counted(`${name}: sent`, 'calls', sent),
    measured(`${name}: looked at`, 'calls a read unit', perUnit),
  ];
};

/** What each query reads of the calls, reported together and apart. */
export const allQueryFigures = async (
  bench: Bench,
  calls: readonly Call[],
  rounds = 5,
): Promise<Figure[]> => {
  const [first, ...more] = calls;
  if (!first) return [];
  const figures: Figure[] = [];
  for (const mode of ['together', 'apart'] satisfies ReportMode[]) {
    const store = await bench.newStore('calls');
    await sendAll(store, calls, mode);
    for (const [name, body] of Object.entries(queryShapes([first, ...more])))
      figures.push(...(await queryFigures(bench, store, first, [`${name} (${mode})`, body], rounds)));
  }
  return figures;
};

/** Read units and requests of each query. */
export const queries: BenchPart = {
  name: 'queries',
  title: 'Querying calls',
  run: async ({ bench, calls }) => allQueryFigures(await bench(), calls),
};

// What the lists that people open first read: the newest roots and the newest errors, at several
// numbers of calls. It is independent of the machine's speed.

/** Calls in a trace, the root included. Traces from OpenTelemetry have 30 to 100. */
const callsPerTrace = 50;
/** One call of so many fails. */
const callsPerError = 100;

/** A function that returns the items of a list one after the other, over and over. */
const inTurn = <T>(list: readonly [T, ...T[]]): (() => T) => {
  let next = 0;
  return () => list[next++ % list.length] ?? list[0];
};

const some = (calls: readonly Call[], others: readonly Call[]): [Call, ...Call[]] => {
  const [first, ...more] = calls.length > 0 ? calls : others;
  if (!first) throw new Error('the lists need at least one call');
  return [first, ...more];
};

/**
 * The calls in longer traces: a root of theirs, and nested calls of theirs below it. One in a
 * hundred is a nested call that has failed, as one of theirs did. Calls that are in no list have no
 * payload: they lie between those that are, and nothing reads them.
 */
function* longTraces(calls: readonly Call[], count: number): Generator<Call> {
  const isRoot = ({ start }: Call): boolean => start.parent_id === null;
  const hasFailed = ({ end }: Call): boolean => typeof end.exception === 'string';
  const nextRoot = inTurn(
    some(
      calls.filter((call) => isRoot(call) && !hasFailed(call)),
      calls,
    ),
  );
  const nested = calls.filter((call) => !isRoot(call));
  const nextFine = inTurn(
    some(
      nested.filter((call) => !hasFailed(call)),
      calls,
    ),
  );
  const nextFailed = inTurn(some(nested.filter(hasFailed), calls));
  let root: Call | undefined;
  let place = 0;
  for (const { start, end } of repeatCalls(calls, count)) {
    const isFirst = place % callsPerTrace === 0;
    const isFailed = place % callsPerError === callsPerError / 2 + 1;
    const like = isFirst ? nextRoot() : isFailed ? nextFailed() : nextFine();
    const own = { id: start.id, started_at: start.started_at, thread_id: null, turn_id: null };
    const trace_id = isFirst ? start.trace_id : root?.start.trace_id;
    const parent_id = isFirst ? null : root?.start.id;
    const isListed = isFirst || isFailed;
    const call: Call = {
      start: {
        ...like.start,
        ...own,
        trace_id: trace_id ?? start.trace_id,
        parent_id: parent_id ?? null,
        ...(!isListed && { inputs: {}, attributes: {} }),
      },
      end: { ...like.end, id: end.id, ended_at: end.ended_at, ...(!isListed && { output: null }) },
    };
    if (isFirst) root = call;
    place++;
    yield call;
  }
}

/** The two lists as bodies of queries, by name. The interface's own service name is `svc`. */
const lists: Readonly<Record<string, object>> = {
  'newest 100 roots, all columns': { ...newestBy('started_at'), filter: { trace_roots_only: true } },
  'newest 100 roots, previews': newestPreviews,
  'newest 100 errors, all columns': {
    ...newestBy('started_at'),
    query: equalsQuery('summary.svc.status', 'error'),
  },
};

const isListed = ({ start, end }: Call): boolean =>
  start.parent_id === null || typeof end.exception === 'string';

/**
 * Reports calls in batches. Those that are in no list have their start and end in one report, in
 * any mode. It takes half the time, and nothing reads them.
 */
const report = async (store: Store, calls: Iterable<Call>, mode: ReportMode): Promise<void> => {
  if (mode !== 'apart') return sendAll(store, calls, mode);
  const all = [...calls];
  for (let i = 0; i < all.length; i += batchSize) {
    const batch = all.slice(i, i + batchSize);
    await send(
      store,
      batch.flatMap((call) => (isListed(call) ? [toStartItem(call)] : [toStartItem(call), toEndItem(call)])),
    );
    await send(store, batch.filter(isListed).map(toEndItem));
  }
};

/** The most read units for a list, whatever lies between its rows. */
const atMost = 25;

/** What the lists read of `size` calls. */
export const listFigures = async (
  bench: Bench,
  calls: readonly Call[],
  size: number,
  mode: ReportMode,
): Promise<Figure[]> => {
  const store = await bench.newStore('calls');
  const [first] = calls;
  if (!first) return [];
  await report(store, longTraces(calls, size), mode);
  const figures: Figure[] = [];
  for (const [name, body] of Object.entries(lists)) {
    const counts = await queryFigures(bench, store, first, [`${name}, of ${size} (${mode})`, body], 1);
    figures.push(
      ...counts.map((figure) => (/read units$/.test(figure.name) ? { ...figure, atMost } : figure)),
    );
  }
  return figures;
};

/** Read units of the lists at each size. */
export const listPart: BenchPart = {
  name: 'lists',
  title: `Newest roots and errors, in traces of ${callsPerTrace} calls`,
  run: async ({ bench, calls, sizes, progress }: BenchContext) => {
    const opened = await bench();
    const figures: Figure[] = [];
    for (const mode of ['together', 'apart'] satisfies ReportMode[])
      for (const size of sizes) {
        progress(`  ${size} calls, ${mode}`);
        figures.push(...(await listFigures(opened, calls, size, mode)));
      }
    return figures;
  },
};

// What queries read beside the calls: for their extras, and for counting. It is independent of the
// machine's speed.

/** The number of objects that the calls refer to, in turn, like settings of an agent. */
const objectCount = 20;

interface Project {
  readonly id: ProjectId;
  readonly calls: Store;
  readonly lookups: Lookups;
}

/**
 * Stores objects of some 500 bytes.
 *
 * @returns their refs
 */
const storeObjects = async (
  store: Parameters<typeof createObject>[0],
  projectId: ProjectId,
): Promise<string[]> => {
  const refs: string[] = [];
  for (let i = 0; i < objectCount; i++) {
    const objectId = `settings-${i}`;
    const val = { temperature: i / objectCount, prompt: 'You are a helpful agent. '.repeat(20) };
    const digest = await createObject(store, { projectId, objectId, val }, 'ada', benchBudget());
    refs.push(`svc:///${projectId}/object/${objectId}:${digest}`);
  }
  return refs;
};

/** Makes a project whose calls refer to objects, with all stores that a query may need. */
const makeProject = async (bench: Bench, calls: readonly [Call, ...Call[]]): Promise<Project> => {
  const id = calls[0].start.project_id as ProjectId;
  const [store, objects, costs, feedback] = await Promise.all([
    bench.newStore('calls'),
    bench.newStore('objects'),
    bench.newStore('costs'),
    bench.newStore('feedback'),
  ]);
  const refs = await storeObjects(objects, id);
  const referring = calls.map(({ start, end }, i) => {
    const inputs = { ...(start.inputs as object), settings: refs[i % refs.length] };
    return { start: { ...start, inputs }, end };
  });
  await sendAll(store, referring, 'together');
  const lookups: Lookups = {
    costs: (projectId, budget) => readCosts(costs, projectId, budget),
    feedback: (projectId, budget) => new FeedbackJoin(feedback, projectId, budget),
    objects: (refs, budget) => resolveRefs(objects, refs, budget),
  };
  return { id, calls: store, lookups };
};

/** The same query with one extra after the other. */
const extras: Readonly<Record<string, object>> = {
  'newest 100, names': { ...newestBy('started_at'), columns: ['op_name'] },
  'newest 100, names and sizes': {
    ...newestBy('started_at'),
    columns: ['op_name'],
    include_storage_size: true,
  },
  'newest 100, names and sizes of traces': {
    ...newestBy('started_at'),
    columns: ['op_name'],
    include_total_storage_size: true,
  },
  'newest 100, names and costs': { ...newestBy('started_at'), columns: ['op_name'], include_costs: true },
  'newest 100, a column': { ...newestBy('started_at'), columns: ['inputs.settings'] },
  'newest 100, a column expanded': {
    ...newestBy('started_at'),
    columns: ['inputs.settings'],
    expand_columns: ['inputs.settings'],
  },
};

/** The counting queries. The last one needs every payload. */
const countings = ({ start }: Call): Readonly<Record<string, object>> => ({
  'count of everything': {},
  'count and bytes of everything': { include_total_storage_size: true },
  'count of one thread': { filter: { thread_ids: [start.thread_id] } },
  'count of errors': { query: equalsQuery('summary.svc.status', 'error') },
  'count by a field of the inputs': { query: equalsQuery('inputs.model', 'gpt-4o') },
});

const readFigures = async (bench: Bench, name: string, task: () => Promise<unknown>): Promise<Figure[]> => {
  const { reads, requests } = await bench.capacity.during(task);
  return [
    counted(`${name}: read units`, 'units', totalUnits(reads), { of: reads }),
    counted(`${name}: requests`, 'requests', requests),
  ];
};

const statsBody = getBodySchema(callsQueryStats);

/** What extras and counting read over a project of these calls. */
export const extraFigures = async (bench: Bench, calls: readonly Call[]): Promise<Figure[]> => {
  const [first, ...more] = calls;
  if (!first) return [];
  const project = await makeProject(bench, [first, ...more]);
  const figures: Figure[] = [];
  for (const [name, body] of Object.entries(extras)) {
    const query = toQuery({ project_id: project.id, ...body });
    const answer = () => drain(queryCalls(project.calls, query, benchBudget(), project.lookups).json());
    figures.push(...(await readFigures(bench, name, answer)));
  }
  for (const [name, body] of Object.entries(countings(first))) {
    const selection = parseBody(statsBody, JSON.stringify({ project_id: project.id, ...body }));
    const count = () => countCalls(project.calls, selection, benchBudget()).stats();
    figures.push(...(await readFigures(bench, name, count)));
  }
  return figures;
};

/** What is looked up for many calls at once: so many calls, in traces of so many. */
const joinedCalls = 3000;
const callsInTrace = 3;

/** How many records of feedback the calls have in all, and how many the rest of the project has. */
const joinedFeedback: Readonly<Record<string, readonly [own: number, others: number]>> = {
  'no feedback': [0, 0],
  'feedback on one in ten': [joinedCalls / 10, 0],
  'a record each': [joinedCalls, 0],
  'ten records each': [10 * joinedCalls, 0],
  'a record each, and ten times as many on other calls': [joinedCalls, 10 * joinedCalls],
};

/** The most records in a request. */
const feedbackBatch = 1000;

const storeFeedback = async (
  store: Store,
  project: ProjectId,
  callIds: readonly unknown[],
  count: number,
) => {
  const draft = (i: number) => ({
    project_id: project,
    svc_ref: `svc:///${project}/call/${callIds[i % callIds.length]}`,
    feedback_type: 'score',
    payload: { score: 0.8, reason: 'The answer is right, and says where it is from.' },
  });
  for (let at = 0; at < count; at += feedbackBatch) {
    const batch = Array.from({ length: Math.min(feedbackBatch, count - at) }, (_, i) => draft(at + i));
    const drafts = parseBody(feedbackBody, JSON.stringify({ batch })).batch;
    await createFeedback(
      store,
      drafts.map((draft, i) => ({ draft, loc: ['batch', String(i)] })),
      'ada',
      benchBudget(),
    );
  }
};

const feedbackBody = getBodySchema(feedbackBatchCreate);

/** What a query over thousands of calls reads, alone and with what has to be looked up for each. */
const joinFigures = async (bench: Bench, some: readonly Call[]): Promise<Figure[]> => {
  const calls = [...repeatCalls(some, joinedCalls)].map(
    ({ start, end }, i): Call => ({
      start: {
        ...start,
        trace_id: `trace-${Math.floor(i / callsInTrace)}`,
        parent_id: null,
      },
      end,
    }),
  );
  const project = calls[0]?.start.project_id as ProjectId;
  const store = await bench.newStore('calls');
  await sendAll(store, calls, 'together');
  const measure = (name: string, body: object, feedback?: Store) => {
    const lookups: Lookups = {
      ...noLookups,
      ...(feedback && { feedback: (projectId, budget) => new FeedbackJoin(feedback, projectId, budget) }),
    };
    const query = toQuery({ project_id: project, columns: ['op_name'], ...body });
    const answer = () => drain(queryCalls(store, query, benchBudget(), lookups).json());
    return readFigures(bench, `${joinedCalls} calls, ${name}`, answer);
  };
  const figures = [
    ...(await measure('names', {})),
    ...(await measure('names and sizes of traces', { include_total_storage_size: true })),
  ];
  const ids = calls.map(({ start }) => start.id);
  for (const [name, [own, others]] of Object.entries(joinedFeedback)) {
    const feedback = await bench.newStore('feedback');
    await storeFeedback(
      feedback,
      project,
      Array.from({ length: joinedCalls }, (_, i) => `other-${i}`),
      others,
    );
    await storeFeedback(feedback, project, ids, own);
    const asked = { include_feedback: true };
    figures.push(...(await measure(`names and ${name}`, asked, feedback)));
    figures.push(...(await measure(`names and ${name}, once more`, asked, feedback)));
  }
  return figures;
};

/** Read units and requests of extras and of `/calls/query_stats`. */
export const extrasPart: BenchPart = {
  name: 'extras',
  title: 'Extras of queries over calls, and counting them',
  run: async ({ bench, calls }) => [
    ...(await extraFigures(await bench(), calls)),
    ...(await joinFigures(await bench(), calls)),
  ],
};
