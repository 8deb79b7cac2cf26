import type { Sent } from '../service/in-process.ts';
import { everyInclude, type Fixture, missing, objectRef, price } from './fixture.ts';
import {
  calls,
  end,
  forBucket,
  largeNoteOn,
  noise,
  report,
  type Scenario,
  start,
  type Use,
} from './scenario.ts';
import { largeRow, type makeLargeRow, readTables } from './tables.ts';

const feedbackOn = (p: string, id: string): Sent => ({
  path: '/feedback/create',
  body: {
    project_id: p,
    id: `on ${id}`,
    svc_ref: `svc:///${p}/call/${id}`,
    feedback_type: 'note',
    payload: { text: noise(3000) },
  },
});

const priced = (p: string): Sent => ({
  path: '/cost/create',
  body: {
    project_id: p,
    costs: { 'gpt-4o': { ...price, effective_date: '2026-09-01T00:00:00Z' } },
  },
});

const prompt = (p: string): Sent => ({
  path: '/obj/create',
  body: { obj: { project_id: p, object_id: 'prompt', val: { text: noise(80_000) } } },
});

/** Calls in segments and in the bucket, so many that feedback is read as a whole, one of them with a ref, feedback, prices. */
const before = (p: string): Sent[] => [
  report(...calls(p, 70)),
  report(
    start(p, 'c', { inputs: { prompt: `svc:///${p}/object/prompt:latest`, q: noise(forBucket) } }),
    end(p, 'c'),
  ),
  report(start(p, 'running')),
  report(end(p, 'running', { output: noise(3000) })),
  feedbackOn(p, 'c'),
  priced(p),
  prompt(p),
];

const query = (p: string, body: object, headers: Readonly<Record<string, string>> = {}): Sent => ({
  path: '/calls/stream_query',
  body: { project_id: p, ...body },
  headers,
});

/** Calls with usage and prices, and feedback on one of them whose payload is in the bucket. */
export const noted = (p: string): Sent[] => [
  report(...calls(p, 3)),
  report(start(p, 'failed'), end(p, 'failed', { exception: 'Boom' })),
  report(start(p, 'c', { inputs: { q: noise(forBucket) } }), end(p, 'c')),
  largeNoteOn(p, '0'),
  priced(p),
];

/** A search for a text goes by what is known of texts. */
const hasText = {
  $expr: { $contains: { input: { $getField: 'inputs.q' }, substr: { $literal: 'question' } } },
};
const textSearch: Use = {
  name: 'calls with a text in their inputs',
  before: noted,
  request: (p) => query(p, { query: hasText }),
};

const failed = { $expr: { $ne: [{ $getField: 'exception' }, { $literal: null }] } };
const asksInputs = { $expr: { $ne: [{ $getField: 'inputs.q' }, { $literal: 'x' }] } };

/** What queries of calls are chosen by, each through an index of its own. */
const choices = {
  'that failed': { query: failed },
  'of a trace, by their inputs': { filter: { trace_ids: ['trace'] }, query: asksInputs },
  'of a thread, by their inputs': { filter: { thread_ids: ['thread'] }, query: asksInputs },
  'with certain inputs': { query: asksInputs },
} as const;

/** A request about calls in each way to choose them. */
export const choosing = (name: string, request: (p: string, choice: object) => Sent): Use[] =>
  Object.entries(choices).map(([which, choice]) => ({
    name: `${name} ${which}`,
    before: noted,
    request: (p) => request(p, choice),
  }));

/** A call whose input is a row of a dataset. */
export const withRow = ({ before, ref }: ReturnType<typeof makeLargeRow>): Use => ({
  name: 'a call with a row of a dataset',
  before: (p) => [...before(p), report(start(p, 'c', { inputs: { row: ref(p) } }))],
  request: (p) => query(p, { expand_columns: ['inputs.row'] }),
});

const reads: readonly Scenario[] = [
  {
    name: 'a call with all that can be added to it',
    before,
    request: (p) => ({ path: '/call/read', body: { project_id: p, id: 'c', ...everyInclude } }),
  },
  {
    name: 'a call of a segment, its end apart',
    before,
    request: (p) => ({ path: '/call/read', body: { project_id: p, id: 'running' } }),
  },
];

const queries: readonly Scenario[] = [
  { name: 'everything, in order of time', before, request: (p) => query(p, {}) },
  {
    name: 'calls with all that can be added to them, as one list',
    before,
    request: (p) =>
      query(p, { ...everyInclude, expand_columns: ['inputs.prompt'] }, { accept: 'application/json' }),
  },
  {
    name: 'ids, filtered and sorted by their payloads, as CSV',
    before,
    request: (p) =>
      query(
        p,
        {
          filter: { call_ids: ['1', '2', '3', 'c'] },
          query: {
            $expr: {
              $contains: { input: { $getField: 'output' }, substr: { $literal: 'answer' } },
            },
          },
          sort_by: [{ field: 'inputs.q', direction: 'desc' }],
        },
        { accept: 'text/csv' },
      ),
  },
  {
    name: 'a thread, backwards',
    before,
    request: (p) =>
      query(p, {
        filter: { thread_ids: ['thread'] },
        sort_by: [{ field: 'started_at', direction: 'desc' }],
        columns: ['id'],
      }),
  },
];

/** Roots with an error below, within a day. */
const failedBelow = {
  include_trace_totals: true,
  query: {
    $expr: {
      $and: [
        { $gte: [{ $getField: 'started_at' }, { $literal: '2026-10-01' }] },
        { $lt: [{ $getField: 'started_at' }, { $literal: '2026-10-02' }] },
        { $eq: [{ $getField: 'summary.svc.status' }, { $literal: 'descendant_error' }] },
      ],
    },
  },
};

/** Calls that feedback says something of. */
const asNoted = {
  $expr: {
    $contains: { input: { $getField: 'feedback.[note].payload.text' }, substr: { $literal: 'a' } },
  },
};

const stats: readonly Scenario[] = [
  {
    name: 'how many calls have feedback that says something',
    before,
    request: (p) => ({ path: '/calls/query_stats', body: { project_id: p, query: asNoted } }),
  },
  {
    name: 'how many roots have an error below',
    before,
    request: (p) => ({ path: '/calls/query_stats', body: { project_id: p, ...failedBelow } }),
  },
  {
    name: 'how many calls have a text in their payloads, and how large they are',
    before,
    request: (p) => ({
      path: '/calls/query_stats',
      body: {
        project_id: p,
        query: {
          $expr: { $contains: { input: { $getField: 'output' }, substr: { $literal: 'answer' } } },
        },
        include_total_storage_size: true,
      },
    }),
  },
];

const threads: readonly Scenario[] = [
  {
    name: 'all threads',
    before: (p) => [report(...calls(p, 20)), report(...calls(p, 5, { thread_id: 'another' }).slice(0, 6))],
    request: (p) => ({ path: '/threads/stream_query', body: { project_id: p } }),
  },
];

const itsDay = { start: '2026-09-30T00:00:00Z', end: '2026-10-02T00:00:00Z', granularity: 3600 };

const statistics: readonly Scenario[] = [
  {
    name: 'a day’s calls with feedback that says something',
    before,
    request: (p) => ({
      path: '/calls/stats',
      body: {
        project_id: p,
        start: '2026-09-30T00:00:00Z',
        end: '2026-10-02T00:00:00Z',
        granularity: 3600,
        query: asNoted,
        call_metrics: [{ metric: 'call_count' }],
      },
    }),
  },
  {
    name: 'a day by the hour, by op, with costs',
    before,
    request: (p) => ({
      path: '/calls/stats',
      body: {
        project_id: p,
        start: '2026-09-30T00:00:00Z',
        end: '2026-10-02T00:00:00Z',
        granularity: 3600,
        call_metrics: [{ metric: 'latency_ms', aggregations: ['avg'], percentiles: [95] }],
        usage_metrics: [{ metric: 'total_cost' }],
        group_by: ['op_name'],
      },
    }),
  },
];

const usage: readonly Scenario[] = [
  {
    name: 'what calls of a trace used, with an end apart, and what it cost',
    before,
    request: (p) => ({
      path: '/calls/usage',
      body: { project_id: p, call_ids: ['1', '2', 'running'], include_costs: true },
    }),
  },
];

const projects: readonly Scenario[] = [
  {
    // Others are noted all the while; the first stays the first.
    name: 'the first project that the key may read',
    before: (p) => [report(start(p, 'c'))],
    request: () => ({ path: '/projects/query', body: { limit: 1 } }),
  },
];

const readCalls = [
  'calls: BatchGetItem Query',
  'calls/index/by_trace: Query',
  'bucket/segments/*: GetObject',
  'bucket: ListBucket',
] as const;
export const queryCalls = [
  ...readCalls,
  'calls/index/by_time: Query',
  'calls/index/by_thread: Query',
  'calls/index/by_error: Query',
] as const;
const joinFeedback = [
  'feedback: BatchGetItem',
  'feedback/index/by_ref: Query',
  'bucket/feedback/*: GetObject',
] as const;
const moved = {
  'Query on calls': 'a call whose end moved between the reading of index and item is looked up by its id',
};
const notesTexts = {
  'BatchWriteItem on bookkeeping':
    'what texts have is noted when the marks of the writes before are over, after minutes',
};
const tooLarge = 'usage that is too large for a header, of a call whose payload is too large for an item';
const noUsage = '{"call_usage":{},"error_counts":{},"unfinished_call_ids":[]}';

/** The routes that read calls, and projects. */
export const queryFixtures = {
  '/call/read': {
    permitted: [...readCalls, 'costs: Query', ...joinFeedback],
    body: (p, { call }) => ({ project_id: p, id: call, ...everyInclude }),
    answer: '{"call":null}',
    scenarios: reads,
    uses: [
      {
        name: 'a call with feedback in the bucket, and its costs',
        before: noted,
        request: (p) => ({ path: '/call/read', body: { project_id: p, id: '0', ...everyInclude } }),
      },
    ],
  },
  '/calls/stream_query': {
    permitted: [
      ...queryCalls,
      'costs: Query',
      ...joinFeedback,
      'feedback/index/by_time: Query',
      'objects: BatchGetItem',
      'bucket/objects/*: GetObject',
      ...readTables,
      'bookkeeping: BatchWriteItem Query',
      'audit: PartiQLInsert',
    ],
    seldom: { ...moved, ...notesTexts },
    body: (p, { call, child }) => ({ project_id: p, filter: { call_ids: [call, child] }, ...everyInclude }),
    answer: '',
    probes: {
      'a trace': (p, { trace }) => ({
        project_id: p,
        filter: { trace_ids: [trace] },
        ...everyInclude,
        include_trace_totals: true,
      }),
      'a parent': (p, { call }) => ({ project_id: p, filter: { parent_ids: [call] }, ...everyInclude }),
      'a thread': (p, { thread }) => ({ project_id: p, filter: { thread_ids: [thread] } }),
      'a turn': (p, { call }) => ({ project_id: p, filter: { turn_ids: [call] } }),
      'an input': (p, { object, digest }) => ({
        project_id: p,
        filter: { input_refs: [objectRef('umbrella/lab', object, digest)] },
      }),
    },
    scenarios: queries,
    uses: [
      ...choosing('calls', query),
      textSearch,
      {
        name: 'calls with feedback in the bucket',
        before: noted,
        request: (p) => query(p, { filter: { call_ids: ['0'] }, ...everyInclude }),
      },
      withRow(largeRow),
    ],
  },
  '/calls/query_stats': {
    permitted: [
      ...queryCalls,
      'costs: Query',
      ...joinFeedback,
      'feedback/index/by_time: Query',
      'bookkeeping: BatchWriteItem Query',
    ],
    seldom: { ...moved, ...notesTexts },
    body: (p, { call }) => ({ project_id: p, filter: { call_ids: [call] } }),
    answer: '{"count":0,"total_storage_size_bytes":null}',
    probes: {
      'a trace': (p, { trace }) => ({
        project_id: p,
        filter: { trace_ids: [trace] },
        include_total_storage_size: true,
      }),
    },
    scenarios: stats,
    uses: [
      ...choosing('how many calls', (p, choice) => ({
        path: '/calls/query_stats',
        body: { project_id: p, ...choice },
      })),
      {
        name: 'how many calls have feedback, in the bucket, that says something',
        before: noted,
        request: (p) => ({ path: '/calls/query_stats', body: { project_id: p, query: asNoted } }),
      },
    ],
  },
  '/calls/stats': {
    permitted: [
      ...queryCalls,
      'costs: Query',
      ...joinFeedback,
      'feedback/index/by_time: Query',
      'bookkeeping: BatchWriteItem Query',
    ],
    seldom: {
      ...moved,
      'BatchWriteItem on bookkeeping':
        'rollups are stored when the marks of the writes before are over, after minutes',
    },
    body: (p, { call, thread }) => ({
      project_id: p,
      start: '1999-10-01T00:00:00.000000Z',
      end: '1999-10-02T00:00:00.000000Z',
      granularity: 86_400,
      filter: { call_ids: [call], thread_ids: [thread] },
    }),
    answer:
      '{"start":"<time>","end":"<time>","granularity":86400,"timezone":"UTC","call_buckets":[],"usage_buckets":[]}',
    probes: {
      'calls of their day': (p, { call, thread }) => ({
        project_id: p,
        start: '2026-10-01T00:00:00Z',
        end: '2026-10-02T00:00:00Z',
        filter: { call_ids: [call], thread_ids: [thread] },
        call_metrics: [{ metric: 'call_count' }],
      }),
    },
    scenarios: statistics,
    uses: [
      ...choosing('a day of calls', (p, choice) => ({
        path: '/calls/stats',
        body: { project_id: p, ...itsDay, usage_metrics: [{ metric: 'total_cost' }], ...choice },
      })),
      {
        name: 'a day of calls with feedback, in the bucket, that says something',
        before: noted,
        request: (p) => ({ path: '/calls/stats', body: { project_id: p, ...itsDay, query: asNoted } }),
      },
    ],
  },
  '/calls/usage': {
    permitted: [...readCalls, 'costs: Query'],
    seldom: { ...moved, 'GetObject on bucket/segments/*': tooLarge, 'ListBucket on bucket': tooLarge },
    body: (p, { call, child }) => ({ project_id: p, call_ids: [call, child], include_costs: true }),
    answer: noUsage,
    scenarios: usage,
  },
  '/trace/agents': {
    permitted: [...readCalls, 'costs: Query'],
    seldom: { ...moved, 'GetObject on bucket/segments/*': tooLarge, 'ListBucket on bucket': tooLarge },
    body: (p, { trace }) => ({ project_id: p, trace_ids: [trace] }),
    answer: '{"traces":[]}',
    scenarios: [
      {
        name: 'the agents of a trace, with an end apart, and what they cost',
        before: (p) => [
          report(
            start(p, 'c', {
              trace_id: 'trace',
              attributes: { kind: 'agent', agent: { name: 'desk', id: 'a-1' } },
            }),
            end(p, 'c'),
          ),
          ...before(p).slice(1),
        ],
        request: (p) => ({ path: '/trace/agents', body: { project_id: p, trace_ids: ['trace'] } }),
      },
    ],
  },
  '/call/context': {
    permitted: [...readCalls, 'costs: Query'],
    seldom: moved,
    // Those of the others that its function answers.
    uses: usage,
    body: (p, { call }) => ({ project_id: p, id: call }),
    ...missing('id', 'there is no such call in this project, or no start of it yet'),
    scenarios: [
      {
        name: 'what filled the window of a request in the bucket',
        before: (p) => [
          report(
            start(p, 'c', { inputs: { messages: [{ role: 'user', content: noise(forBucket) }] } }),
            end(p, 'c'),
          ),
          priced(p),
        ],
        request: (p) => ({ path: '/call/context', body: { project_id: p, id: 'c' } }),
      },
      {
        name: 'what filled the windows of two requests, one of them in the bucket',
        before: (p) => [
          report(
            start(p, 'c', { inputs: { messages: [{ role: 'user', content: noise(forBucket) }] } }),
            end(p, 'c'),
            start(p, 'd', { inputs: { messages: [{ role: 'user', content: 'Why?' }] } }),
          ),
        ],
        request: (p) => ({ path: '/call/context', body: { project_id: p, ids: ['c', 'd'] } }),
      },
    ],
  },
  '/threads/stream_query': {
    permitted: ['calls: BatchGetItem', 'calls/index/by_thread: Query'],
    body: (p, { thread }) => ({ project_id: p, filter: { thread_ids: [thread] } }),
    answer: '',
    scenarios: threads,
    uses: [
      {
        name: 'a thread of a turn whose end came first',
        before: (p) => [report(end(p, 'c')), report(start(p, 'c'))],
        request: (p) => ({ path: '/threads/stream_query', body: { project_id: p } }),
      },
    ],
  },
  '/projects/query': {
    namesNothing: true,
    permitted: ['bookkeeping: Query'],
    body: () => ({ limit: 0 }),
    answer: '{"projects":[]}',
    projectAt: ['header', 'authorization'],
    refusal: 'this key may not read any project',
    scenarios: projects,
  },
} as const satisfies Readonly<Record<string, Fixture>>;
