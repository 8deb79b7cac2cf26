import type { StoredRequest } from '../exchange.ts';
import { equal, longId, oddId, otherLongId, otherProject, project, uuid } from './names.ts';

const query = (name: string, body: object, accept?: string): StoredRequest => ({
  name: `calls: ${name}`,
  path: '/calls/stream_query',
  body: { project_id: project, ...body },
  ...(accept !== undefined && { accept }),
});

const includes = {
  include_costs: true,
  include_feedback: true,
  include_storage_size: true,
  include_total_storage_size: true,
};

const few = ['id', 'started_at', 'ended_at', 'summary.svc'];

const queries = [
  query('all', includes),
  query('backwards', { sort_by: [{ field: 'started_at', direction: 'desc' }], columns: few, limit: 8 }),
  query('those of another project', { project_id: otherProject }),
  query('as a table', { columns: [...few, 'inputs.q', 'summary.usage'], limit: 12 }, 'text/csv'),
  query('as one list', { columns: few, limit: 3, offset: 2 }, 'application/json'),
  query('without their payloads', {
    columns: ['trace_id', 'thread_id', 'turn_id', 'summary.usage'],
    offset: 14,
  }),
  query('by a field of the inputs', { query: equal('inputs.q', 2) }),
  query('by usage', {
    query: {
      $expr: {
        $gt: [{ $getField: 'summary.usage.house-large.prompt_tokens' }, { $literal: 1000 }],
      },
    },
    columns: ['id'],
  }),
  query('by latency, slowest first', {
    sort_by: [{ field: 'summary.svc.latency_ms', direction: 'desc' }],
    columns: ['summary.svc.latency_ms'],
    limit: 8,
  }),
  query('in order of their output', {
    sort_by: [{ field: 'output', direction: 'asc' }],
    columns: ['id'],
    limit: 9,
  }),
  query('by trace', { filter: { trace_ids: ['usages', 'tràce', longId, 'moved'] }, columns: few }),
  query('by parent', { filter: { parent_ids: [uuid(1), 'usage-none'] }, columns: few }),
  query('by thread', { filter: { thread_ids: ['thread 1', otherLongId] }, columns: few }),
  query('by turn', { filter: { turn_ids: [uuid(1), 'usage-none'] }, columns: few }),
  query('by id', { filter: { call_ids: [oddId, longId, 'doomed', 'end-alone', uuid(3)] } }),
  query('by op', {
    filter: { op_names: [`svc:///${project}/op/agent.turn:*`, `svc:///${otherProject}/op/tool:1`] },
    columns: ['op_name'],
  }),
  query('by run', { filter: { svc_run_ids: ['run-1'] }, columns: ['svc_run_id', 'svc_run_step'] }),
  query('by a ref in the inputs', {
    filter: { input_refs: [`svc:///${project}/object/prompt:*`] },
    columns: ['inputs.prompt'],
  }),
  query('with what their refs lead to', {
    filter: { call_ids: [uuid(2)] },
    columns: ['inputs.prompt'],
    expand_columns: ['inputs.prompt'],
  }),
  query('that are roots, in October', {
    filter: { trace_roots_only: true },
    query: {
      $expr: {
        $and: [
          { $gte: [{ $getField: 'started_at' }, { $literal: '2026-10-01' }] },
          { $lt: [{ $getField: 'started_at' }, { $literal: '2026-10-03' }] },
        ],
      },
    },
    columns: ['id'],
  }),
];

const ids = [uuid(1), uuid(3), 'early', 'inline', oddId, longId, 'end-alone', 'half-gone', 'doomed-child'];

const reads = ids.map(
  (id): StoredRequest => ({
    name: `call ${id.slice(-12)}`,
    path: '/call/read',
    body: { project_id: project, id, include_costs: true, include_storage_size: true },
  }),
);

const counts = [{}, { filter: { trace_ids: ['large'] } }, { query: equal('summary.svc.status', 'error') }];

const stats = counts.map(
  (body, i): StoredRequest => ({
    name: `statistics ${i}`,
    path: '/calls/query_stats',
    body: { project_id: project, include_total_storage_size: true, ...body },
  }),
);

const threads = [
  {},
  { sort_by: [{ field: 'thread_id', direction: 'asc' }], limit: 2 },
  { filter: { thread_ids: ['thread 2', longId] } },
].map(
  (body, i): StoredRequest => ({
    name: `threads ${i}`,
    path: '/threads/stream_query',
    body: { project_id: project, ...body },
  }),
);

/** Reads calls and threads in every way that differs in what it reads of the stores. */
export const callReads: readonly StoredRequest[] = [...queries, ...reads, ...stats, ...threads];
