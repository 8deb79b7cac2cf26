import type { JsonObject } from '../../../core/foundations/wire/index.ts';
import { spanExport } from '../../support/otel.ts';
import {
  at,
  byId,
  callRef,
  everyInclude,
  feedbackOf,
  type Names,
  objectRef,
  ours,
  price,
  startOf,
  theirs,
  where,
} from './tenants.ts';

/** Requests about our project that name what is not in it: by what it is called. */
export const probes: readonly [path: string, what: string, body: (names: Names) => JsonObject][] = [
  ['/call/start', 'a parent', ({ call }) => ({ start: startOf(ours, 'adopted-1', { parent_id: call }) })],
  ['/call/start', 'a trace', ({ trace }) => ({ start: startOf(ours, 'adopted-2', { trace_id: trace }) })],
  [
    '/call/end',
    'a call',
    ({ call }) => ({ end: { project_id: ours, id: call, ended_at: at(2), output: 'ours' } }),
  ],
  [
    '/call/upsert_batch',
    'a parent, a thread and a call',
    ({ call, thread }) => ({
      batch: [
        { mode: 'start', req: { start: startOf(ours, 'adopted-3', { parent_id: call, thread_id: thread }) } },
        { mode: 'end', req: { end: { project_id: ours, id: call, ended_at: at(2) } } },
      ],
    }),
  ],
  ['/otel/v1/traces', 'a thread', ({ thread }) => spanExport(ours, { 'session.id': thread })],
  ['/call/read', 'a call', ({ call }) => ({ id: call, ...everyInclude })],
  ['/call/update', 'a call', ({ call }) => ({ call_id: call, display_name: 'ours' })],
  ['/calls/delete', 'calls', ({ call, child }) => ({ call_ids: [call, child] })],
  [
    '/calls/stream_query',
    'calls',
    ({ call, child }) => ({ filter: { call_ids: [call, child] }, ...everyInclude }),
  ],
  ['/calls/stream_query', 'a trace', ({ trace }) => ({ filter: { trace_ids: [trace] }, ...everyInclude })],
  ['/calls/stream_query', 'a parent', ({ call }) => ({ filter: { parent_ids: [call] }, ...everyInclude })],
  ['/calls/stream_query', 'a thread', ({ thread }) => ({ filter: { thread_ids: [thread] } })],
  ['/calls/stream_query', 'a turn', ({ call }) => ({ filter: { turn_ids: [call] } })],
  [
    '/calls/stream_query',
    'an input',
    ({ object, digest }) => ({ filter: { input_refs: [objectRef(theirs, object, digest)] } }),
  ],
  [
    '/calls/query_stats',
    'a trace',
    ({ trace }) => ({ filter: { trace_ids: [trace] }, include_total_storage_size: true }),
  ],
  [
    '/calls/stats',
    'calls',
    ({ call, thread }) => ({
      ...{ start: '2026-10-01T00:00:00Z', end: '2026-10-02T00:00:00Z' },
      filter: { call_ids: [call], thread_ids: [thread] },
      call_metrics: [{ metric: 'call_count' }],
    }),
  ],
  ['/calls/usage', 'calls', ({ call, child }) => ({ call_ids: [call, child], include_costs: true })],
  ['/threads/stream_query', 'a thread', ({ thread }) => ({ filter: { thread_ids: [thread] } })],
  [
    '/obj/create',
    'an object',
    ({ object }) => ({ obj: { project_id: ours, object_id: object, val: { text: 'ours' } } }),
  ],
  ['/obj/read', 'an object', ({ object }) => ({ object_id: `${object}-`, digest: 'latest' })],
  ['/obj/read', 'a digest', ({ object, digest }) => ({ object_id: `${object}-`, digest })],
  ['/objs/query', 'an object', ({ object }) => ({ filter: { object_ids: [`${object}-`] } })],
  ['/obj/delete', 'an object', ({ object }) => ({ object_id: `${object}-` })],
  ['/obj/delete', 'a digest', ({ object, digest }) => ({ object_id: `${object}-`, digests: [digest] })],
  [
    '/refs/read_batch',
    'an object',
    ({ object, digest }) => ({
      refs: [objectRef(ours, `${object}-`, digest), objectRef(ours, `${object}-`, 'v0')],
    }),
  ],
  ['/cost/create', 'the same price', () => ({ costs: { 'm-1': price } })],
  ['/cost/query', 'a price', ({ price: id }) => ({ query: byId(id) })],
  ['/cost/purge', 'a price', ({ price: id }) => ({ query: byId(id) })],
  ['/feedback/query', 'a record', ({ feedback }) => ({ query: byId(feedback) })],
  ['/feedback/query', 'a ref', ({ call }) => ({ query: where('svc_ref', callRef(theirs, call)) })],
  [
    '/feedback/replace',
    'a record',
    ({ feedback }) => ({ ...feedbackOf(ours, { payload: {} }), id: 'ours-1', feedback_id: feedback }),
  ],
  ['/feedback/purge', 'a record', ({ feedback }) => ({ query: byId(feedback) })],
  [
    '/feedback/create',
    'a record',
    ({ feedback }) => feedbackOf(ours, { id: feedback, payload: { text: 'ours' } }),
  ],
  [
    '/feedback/create',
    'a ref',
    ({ call }) => feedbackOf(ours, { svc_ref: callRef(theirs, call), payload: { text: 'ours' } }),
  ],
  [
    '/feedback/batch/create',
    'records',
    ({ feedback }) => ({
      batch: ['3', '4'].map((n) => feedbackOf(ours, { id: `${feedback}${n}`, payload: { text: n } })),
    }),
  ],
];

/** The paths whose bodies carry their projects inside, and not beside the rest. */
const selfContained = new Set([
  '/call/start',
  '/call/end',
  '/call/upsert_batch',
  '/otel/v1/traces',
  '/obj/create',
  '/refs/read_batch',
  '/feedback/batch/create',
]);

/** The body of a probe, about a project that has a name as long as ours. */
export const about = (project: string, path: string, body: JsonObject): JsonObject => {
  const whole = selfContained.has(path) ? body : { project_id: ours, ...body };
  return JSON.parse(JSON.stringify(whole).replaceAll(ours, project)) as JsonObject;
};
