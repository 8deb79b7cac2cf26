import type { Route } from '../../../api/endpoint.ts';
import type { JsonValue } from '../../../core/foundations/wire/index.ts';
import { spanExport } from '../../support/otel.ts';

/** The project that the requests are about. */
export const project = 'acme/shop';

/** A request that is good, and what is answered to a key that may make it. */
export interface GoodRequest {
  /** Where it goes. @default - its route's path */
  readonly path?: string;
  readonly body: JsonValue;
  readonly headers?: Readonly<Record<string, string>>;
  /** The status of the answer; 404 where what the request names does not exist. @default 200 */
  readonly status?: number;
  /** The answer, in which times are `<time>`. */
  readonly answer: string;
  /** What is answered to a key that may not make it. */
  readonly forbidden: { readonly loc: readonly string[]; readonly msg: string } | { readonly body: string };
}

const may = (role: string, ...loc: string[]) => ({
  loc: ['body', ...loc],
  msg: `this key may not ${role} the project ${project}`,
});
const reading = may('read', 'project_id');
const writing = may('write', 'project_id');

const started = {
  project_id: project,
  id: 'c',
  trace_id: 't',
  op_name: 'op',
  started_at: '2026-10-01T00:00:00Z',
};
const object = { project_id: project, object_id: 'prompt' };
const digest = 'Aq_qvTIUDe9WqRjopwcsPaFfDkKKbf_5pqt_j6G66Ec';
const record = {
  ...{ project_id: project, id: 'f', svc_ref: `svc:///${project}/call/c` },
  ...{ feedback_type: 'note', payload: { text: 'good' } },
};
const created = '{"id":"f","created_at":"<time>","svc_user_id":"bob","payload":{"text":"good"}}';
const byId = (id: string) => ({ $expr: { $eq: [{ $getField: 'id' }, { $literal: id }] } });
const price = { prompt_token_cost: 1, completion_token_cost: 2, effective_date: '2026-10-01T00:00:00Z' };
const priceId = '01a0f4c2-c400-7128-b08d-6d80dcf805bb';
const noPrice = priceId.replace(/.$/, 'f');
const notFound = (loc: string, msg: string) =>
  JSON.stringify({ detail: [{ loc: ['body', loc], msg, type: 'not_found' }] });

/**
 * For every route, a request that is good but for its credentials. None depends on what another has
 * left behind: what they write is the same every time, and what they read is not there.
 */
export const goodRequests: Readonly<Record<Route['path'], GoodRequest>> = {
  '/call/start': {
    body: { start: started },
    answer: '{"id":"c","trace_id":"t"}',
    forbidden: may('write', 'start', 'project_id'),
  },
  '/call/end': {
    body: { end: { project_id: project, id: 'c', ended_at: '2026-10-01T00:00:01Z' } },
    answer: '{}',
    forbidden: may('write', 'end', 'project_id'),
  },
  '/call/upsert_batch': {
    body: { batch: [{ mode: 'start', req: { start: started } }] },
    answer: '{"res":[{"id":"c","trace_id":"t"}]}',
    forbidden: may('write', 'batch', '0', 'req', 'start', 'project_id'),
  },
  '/call/read': { body: { project_id: project, id: 'none' }, answer: '{"call":null}', forbidden: reading },
  '/calls/stream_query': {
    body: { project_id: project, filter: { call_ids: ['none'] } },
    answer: '',
    forbidden: reading,
  },
  '/calls/query_stats': {
    body: { project_id: project, filter: { call_ids: ['none'] } },
    answer: '{"count":0,"total_storage_size_bytes":null}',
    forbidden: reading,
  },
  '/calls/stats': {
    body: {
      ...{ project_id: project, start: '1999-10-01T00:00:00.000000Z', end: '1999-10-02T00:00:00.000000Z' },
      granularity: 86_400,
    },
    answer:
      '{"start":"<time>","end":"<time>","granularity":86400,"timezone":"UTC","call_buckets":[],"usage_buckets":[]}',
    forbidden: reading,
  },
  '/calls/usage': {
    body: { project_id: project, call_ids: ['none'] },
    answer: '{"call_usage":{},"error_counts":{},"unfinished_call_ids":[]}',
    forbidden: reading,
  },
  '/obj/create': {
    body: { obj: { ...object, val: { text: 'Be brief.' } } },
    answer: `{"digest":"${digest}","object_id":"prompt"}`,
    forbidden: may('write', 'obj', 'project_id'),
  },
  '/obj/read': {
    body: { project_id: project, object_id: 'none', digest: 'latest' },
    status: 404,
    answer: notFound('object_id', `there is no object "none" in ${project}`),
    forbidden: reading,
  },
  '/obj/delete': { body: { ...object, object_id: 'none' }, answer: '{"num_deleted":0}', forbidden: writing },
  '/objs/query': {
    body: { project_id: project, filter: { object_ids: ['none'] } },
    answer: '{"objs":[]}',
    forbidden: reading,
  },
  '/refs/read_batch': {
    body: { refs: [`svc:///${project}/object/none:latest`] },
    answer: '{"vals":[null]}',
    forbidden: may('read', 'refs', '0'),
  },
  '/cost/create': {
    body: { project_id: project, costs: { 'm-1': price } },
    answer: `{"ids":[["m-1","${priceId}"]]}`,
    forbidden: writing,
  },
  '/cost/query': {
    body: { project_id: project, query: byId(noPrice) },
    answer: '{"results":[]}',
    forbidden: reading,
  },
  '/cost/purge': { body: { project_id: project, query: byId(noPrice) }, answer: '{}', forbidden: writing },
  '/inference/v1/{path+}': {
    path: '/inference/v1/embeddings',
    headers: { 'openai-project': project },
    body: { model: 'm', input: 'text' },
    answer: '{"ok":true}',
    forbidden: {
      loc: ['header', 'openai-project'],
      msg: `this key may not use inference in the project ${project}`,
    },
  },
  '/otel/v1/traces': {
    body: spanExport(project),
    answer: '{}',
    forbidden: {
      body: JSON.stringify({ code: 7, message: `this key may not write the project ${project}` }),
    },
  },
  '/call/update': {
    body: { project_id: project, call_id: 'none', display_name: 'None' },
    status: 404,
    answer: notFound('call_id', 'there is no such call in this project, or no start of it yet'),
    forbidden: writing,
  },
  '/calls/delete': {
    body: { project_id: project, call_ids: ['none'] },
    answer: '{"num_deleted":0}',
    forbidden: writing,
  },
  '/projects/query': {
    body: { limit: 0 },
    answer: '{"projects":[]}',
    forbidden: { loc: ['header', 'authorization'], msg: 'this key may not read any project' },
  },
  '/threads/stream_query': {
    body: { project_id: project, filter: { thread_ids: ['none'] } },
    answer: '',
    forbidden: reading,
  },
  '/feedback/create': { body: record, answer: created, forbidden: writing },
  '/feedback/batch/create': {
    body: { batch: [record] },
    answer: `{"res":[${created}]}`,
    forbidden: may('write', 'batch', '0', 'project_id'),
  },
  '/feedback/replace': {
    body: { ...record, id: 'g', feedback_id: 'none' },
    status: 404,
    answer: notFound('feedback_id', 'there is no feedback none in this project'),
    forbidden: writing,
  },
  '/feedback/query': {
    body: { project_id: project, query: byId('none') },
    answer: '{"result":[]}',
    forbidden: reading,
  },
  '/feedback/purge': { body: { project_id: project, query: byId('none') }, answer: '{}', forbidden: writing },
};
