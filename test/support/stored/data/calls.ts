import type { StoredRequest } from '../golden.ts';
import { noise, randomText } from '../noise.ts';
import {
  longId,
  model,
  oddId,
  otherLongId,
  otherProject,
  project,
  root,
  running,
  sentences,
  thread,
  uuid,
  whereEqual,
} from './names.ts';

/** A start of the project's, as an item of a batch. */
const start = (fields: object) => ({
  mode: 'start',
  req: { start: { project_id: project, op_name: 'step', started_at: '2026-10-01T09:00:00Z', ...fields } },
});

/** An end of the project's, as an item of a batch. */
const end = (fields: object) => ({
  mode: 'end',
  req: { end: { project_id: project, ended_at: '2026-10-01T09:00:02.5Z', ...fields } },
});

/** A request of several reports. */
const batch = (name: string, ...items: object[]): StoredRequest => ({
  name,
  path: '/call/upsert_batch',
  body: { batch: items },
});

/** A request of one start. */
const startAlone = (name: string, fields: object): StoredRequest => ({
  name,
  path: '/call/start',
  body: start(fields).req,
});

/** A request of one end. */
const endAlone = (name: string, fields: object): StoredRequest => ({
  name,
  path: '/call/end',
  body: end(fields).req,
});

/** A request to delete calls. */
const deletion = (name: string, ...ids: string[]): StoredRequest => ({
  name,
  path: '/calls/delete',
  body: { project_id: project, call_ids: ids },
});

const usage = {
  'house-large': { prompt_tokens: 1200, completion_tokens: 80, requests: 1, total_tokens: 1280 },
};

/** A turn with a model call and a tool that runs on, reported together and apart. */
const turn = [
  batch(
    'a turn whose last child runs on',
    start({
      ...thread,
      id: root,
      op_name: `svc:///${project}/op/agent.turn:0a8e`,
      display_name: 'First turn',
      attributes: {
        env: 'test',
        tags: ['a', 'b'],
        user: { id: 'eve' },
        kind: 'agent',
        environment: 'eu-1',
        release: null,
      },
      inputs: { messages: [{ role: 'user', content: 'Where is my order?' }] },
      svc_run_id: 'run-1',
      svc_run_step: 3,
      svc_user_id: 'mallory',
    }),
    start({
      ...thread,
      id: model,
      parent_id: root,
      op_name: `svc:///${project}/op/model.call:77ff`,
      started_at: '2026-10-01T09:00:00.250001Z',
      inputs: { prompt: `svc:///${project}/object/prompt:latest`, text: sentences.repeat(4) },
    }),
    start({
      ...thread,
      id: running,
      parent_id: root,
      op_name: `svc:///${otherProject}/op/tool:1`,
      started_at: '2026-10-01T09:00:01+05:30',
      attributes: { 'user.id': 'eve', kind: { of: 'tool' }, environment: 'production' },
    }),
    end({ id: model, output: { text: sentences.repeat(3) }, summary: { usage, note: 'kept' } }),
    end({
      id: root,
      output: 'It left on Tuesday.',
      summary: { usage, status_counts: { success: 2, error: 1 } },
      svc_run_step_end: 7,
    }),
  ),
  endAlone('the end of the child that ran on', {
    id: running,
    ended_at: '2026-10-01T04:00:00.000999Z',
    exception: 'TimeoutError: no answer',
    output: null,
  }),
];

/** Calls of one request each, whose payloads lie in their own items. */
const alone = [
  endAlone('an end before its start', { id: 'early', output: [1, 2.5, -0.001, 1e300] }),
  startAlone('the start of that end', { id: 'early', started_at: '1969-12-31T23:59:59.999999Z' }),
  startAlone('a start alone', { id: oddId, inputs: { a: 'ü', lone: '\ud800', control: '\u0000' } }),
  endAlone('its end alone', { id: oddId, output: { nested: [[[{}]]] } }),
  endAlone('an end whose start never came', { id: 'end-alone', output: 'lost' }),
  batch(
    'a start and its end',
    start({ id: 'inline', trace_id: 'tràce', inputs: { q: 1 } }),
    end({ id: 'inline', output: 'a', summary: { usage: { 'house-small': { input_tokens: 5 } } } }),
  ),
  startAlone('the same start with other inputs', { id: 'inline', inputs: { q: 2 }, parent_id: root }),
  batch(
    'a call',
    start({ id: 'ended-again', trace_id: uuid(8), started_at: '2026-10-02' }),
    end({ id: 'ended-again', ended_at: '2026-10-02T00:00:09Z', output: 'first' }),
  ),
  endAlone('another end of it', { id: 'ended-again', ended_at: '2026-10-02T00:00:10Z', output: 'second' }),
];

/** Ids that take more than a key holds, of calls, traces and threads. */
const long = [longId, otherLongId].map((id) =>
  batch(
    `a call whose id ends with ${id.slice(-1)}`,
    start({ id, trace_id: id, thread_id: id, turn_id: id, svc_run_id: id.slice(-9) }),
    end({ id, output: id.slice(-1), exception: '' }),
  ),
);

const proto: unknown = JSON.parse('{"__proto__": {"prompt_tokens": 1}}');

/** What usage can be, small and large. */
const usages = Object.entries({
  none: {},
  null: { usage: null },
  list: { usage: { 'house-large': [{ prompt_tokens: 1 }, []] } },
  nested: { usage: { m: { prompt_tokens_details: { cached_tokens: 3 }, input_tokens: 9, odd: 'x' } } },
  large: { usage: { [randomText('usage', 300)]: { prompt_tokens: 1 } } },
  dotted: { 'usage.house-large': 1, usage },
  proto: { usage: proto },
});

const summaries = batch(
  'calls with usage of every kind, in a trace of another thread',
  ...usages.flatMap(([id, summary], i) => [
    start({
      id: `usage-${id}`,
      trace_id: 'usages',
      thread_id: 'thread 2',
      turn_id: i < 2 ? `usage-${id}` : 'usage-none',
      parent_id: i < 2 ? null : 'usage-none',
      started_at: `2026-10-03T00:00:0${i}Z`,
    }),
    end({ id: `usage-${id}`, ended_at: `2026-10-03T00:00:1${i}Z`, summary }),
  ]),
);

/** Payloads that fill several segments of the table, and objects of the bucket. */
const large = [
  batch(
    'payloads that fill several segments',
    ...(['table-a', 'table-b', 'table-c'] as const).map((id) =>
      start({ id, trace_id: 'large', inputs: { noise: noise(id) } }),
    ),
    end({ id: 'table-b', output: 'small' }),
  ),
  batch(
    'payloads for the bucket',
    start({ id: 'bucket', trace_id: 'large', inputs: { noise: noise('bucket') } }),
    end({ id: 'bucket', output: { tail: 'small' } }),
    start({ id: 'bucket-kept', trace_id: 'large', attributes: { noise: noise('bucket-kept') } }),
  ),
];

const projects = batch(
  'calls of two projects that share an id',
  start({ id: 'shared', trace_id: 'two', inputs: { of: project } }),
  start({ project_id: otherProject, id: 'shared', trace_id: 'two', inputs: { of: otherProject } }),
  end({ project_id: otherProject, id: 'shared', output: otherProject }),
);

/** Calls that are renamed and deleted, beside some that stay. */
const changed = [
  {
    name: 'another display name',
    path: '/call/update',
    body: { project_id: project, call_id: 'inline', display_name: 'Renamed ✨' },
  },
  batch(
    'a tree, and neighbours in its segment',
    start({ id: 'doomed', trace_id: 'gone', inputs: { text: sentences.repeat(2) } }),
    start({ id: 'doomed-child', trace_id: 'gone', parent_id: 'doomed', inputs: { text: 'gone too' } }),
    start({ id: 'neighbour', trace_id: 'stays', inputs: { text: sentences.repeat(3) } }),
    start({ id: 'half-gone', trace_id: 'half', inputs: { text: sentences.repeat(4) } }),
  ),
  deletion('the tree goes', 'doomed'),
  { ...deletion('a deletion that dies once the payload is blank', 'half-gone'), refused: 'DeleteItem' },
  batch('a start of a call that was deleted', start({ id: 'doomed-child', trace_id: 'back' })),
];

/** Writes calls of every kind that the table and the bucket can hold. */
export const callWrites: readonly StoredRequest[] = [
  ...turn,
  ...alone,
  ...long,
  summaries,
  ...large,
  projects,
  ...changed,
];

/** Reports, renames and deletes those calls again. */
export const callRewrites: readonly StoredRequest[] = [
  startAlone('the child that ran on starts again', {
    ...thread,
    id: running,
    parent_id: root,
    inputs: { again: true },
  }),
  startAlone('the start of the end that was alone', { id: 'end-alone', trace_id: 'found' }),
  startAlone('a start with other inputs, its end inline', { id: 'inline', inputs: { q: 3 } }),
  endAlone('another end of the model call', { id: model, output: 'short', summary: { usage: null } }),
  endAlone('a third end', { id: 'ended-again', output: 'third' }),
  batch('the end of a call that ran', end({ id: 'neighbour', output: sentences }), end({ id: 'shared' })),
  batch(
    'the same call as before',
    start({ id: 'table-b', trace_id: 'large', inputs: { noise: noise('table-b') } }),
  ),
  batch(
    'a call in another trace at another time',
    start({ id: longId, trace_id: 'moved', started_at: '2026-11-01' }),
  ),
  {
    name: 'no display name any more',
    path: '/call/update',
    body: { project_id: project, call_id: root, display_name: null },
  },
  {
    name: 'a display name of a call whose end is apart',
    path: '/call/update',
    body: { project_id: project, call_id: 'early', display_name: 'Early' },
  },
  deletion(
    'the deletion that died, a call of the bucket and one of a segment',
    'half-gone',
    'bucket',
    'table-a',
  ),
  deletion('a thread of usages', 'usage-none', 'no-such-call'),
];

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
  query('by a field of the inputs', { query: whereEqual('inputs.q', 2) }),
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

const counts = [
  {},
  { filter: { trace_ids: ['large'] } },
  { query: whereEqual('summary.svc.status', 'error') },
];

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
