import type { Sent } from '../../support/in-process.ts';
import { calls, end, forBucket, noise, report, type Scenario, start } from './scenario.ts';

const withEverything = {
  include_costs: true,
  include_feedback: true,
  include_storage_size: true,
  include_total_storage_size: true,
};

const feedbackOn = (p: string, id: string): Sent => ({
  path: '/feedback/create',
  body: {
    ...{ project_id: p, id: `on ${id}`, svc_ref: `svc:///${p}/call/${id}`, feedback_type: 'note' },
    payload: { text: noise(3000) },
  },
});

const price = (p: string): Sent => ({
  path: '/cost/create',
  body: {
    project_id: p,
    costs: {
      'gpt-4o': { prompt_token_cost: 1, completion_token_cost: 2, effective_date: '2026-09-01T00:00:00Z' },
    },
  },
});

const prompt = (p: string): Sent => ({
  path: '/obj/create',
  body: { obj: { project_id: p, object_id: 'prompt', val: { text: noise(80_000) } } },
});

/** Calls in segments and in the bucket, one of them with a ref, feedback, prices. */
const before = (p: string): Sent[] => [
  report(...calls(p, 30)),
  report(
    start(p, 'c', { inputs: { prompt: `svc:///${p}/object/prompt:latest`, q: noise(forBucket) } }),
    end(p, 'c'),
  ),
  report(start(p, 'running')),
  report(end(p, 'running', { output: noise(3000) })),
  feedbackOn(p, 'c'),
  price(p),
  prompt(p),
];

const query = (p: string, body: object, headers: Readonly<Record<string, string>> = {}): Sent => ({
  path: '/calls/stream_query',
  body: { project_id: p, ...body },
  headers,
});

const reads: readonly Scenario[] = [
  {
    name: 'a call with all that can be added to it',
    before,
    request: (p) => ({ path: '/call/read', body: { project_id: p, id: 'c', ...withEverything } }),
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
      query(p, { ...withEverything, expand_columns: ['inputs.prompt'] }, { accept: 'application/json' }),
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

const stats: readonly Scenario[] = [
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

const statistics: readonly Scenario[] = [
  {
    name: 'a day by the hour, by op, with costs',
    before,
    request: (p) => ({
      path: '/calls/stats',
      body: {
        ...{ project_id: p, start: '2026-09-30T00:00:00Z', end: '2026-10-02T00:00:00Z', granularity: 3600 },
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

/** The routes that read calls, and projects. */
export const queryScenarios: Readonly<Record<string, readonly Scenario[]>> = {
  '/call/read': reads,
  '/calls/stream_query': queries,
  '/calls/query_stats': stats,
  '/calls/stats': statistics,
  '/calls/usage': usage,
  '/threads/stream_query': threads,
  '/projects/query': projects,
};
