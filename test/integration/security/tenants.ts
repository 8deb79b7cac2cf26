import type { JsonObject, JsonValue } from '../../../core/foundations/wire/index.ts';
import type { SharedService } from '../../support/service.ts';

/** Ours, where we may do everything, and theirs, of which we are to learn nothing. */
export const ours = 'acme/shop';
export const theirs = 'umbrella/lab';
/** As long as theirs, and of nobody. */
export const nobodys = 'umbrella/xyz';

/**
 * What something is called by: the ids of theirs, or of nothing. They are of one length each, so
 * that answers can be compared byte by byte.
 */
export type Names = Readonly<
  Record<'call' | 'child' | 'trace' | 'thread' | 'feedback' | 'object' | 'price' | 'digest', string>
>;

export const nothing: Names = {
  call: 'call-none',
  child: 'kid-none-',
  trace: 'trace-non',
  thread: 'thread-no',
  feedback: 'feedb-no',
  object: 'promptno',
  price: '01a0f4c2-c400-7128-b08d-6d80dcf805ba',
  digest: 'Aq_qvTIUDe9WqRjopwcsPaFfDkKKbf_5pqt_j6G66Ed',
};
/** What theirs is called, but for what is made of its content. */
const named = {
  call: 'call-them',
  child: 'kid-them-',
  trace: 'trace-the',
  thread: 'thread-th',
  feedback: 'feedb-th',
  object: 'promptth',
};

export const at = (second: number) => `2026-10-01T00:00:0${second}Z`;
export const byId = (...ids: string[]) => ({
  $expr: { $or: ids.map((id) => ({ $eq: [{ $getField: 'id' }, { $literal: id }] })) },
});
export const where = (field: string, value: string) => ({
  $expr: { $eq: [{ $getField: field }, { $literal: value }] },
});
export const callRef = (project: string, id: string) => `svc:///${project}/call/${id}`;
export const objectRef = (project: string, id: string, version: string) =>
  `svc:///${project}/object/${id}:${version}`;
export const startOf = (project: string, id: string, fields: object = {}) => ({
  ...{ project_id: project, id, op_name: 'op', started_at: at(0) },
  ...fields,
});
export const feedbackOf = (project: string, fields: object = {}) => ({
  ...{
    project_id: project,
    svc_ref: callRef(project, 'c'),
    feedback_type: 'note',
    payload: { text: 'secret' },
  },
  ...fields,
});
export const price = { prompt_token_cost: 1, completion_token_cost: 2, effective_date: at(0) };
export const everyInclude = {
  ...{ include_costs: true, include_feedback: true },
  ...{ include_storage_size: true, include_total_storage_size: true },
};
export const usage = { usage: { 'm-1': { prompt_tokens: 1, completion_tokens: 2 } } };

/** Sends a request that is expected to succeed, and gives its answer. */
export type Done = (path: string, body: JsonValue) => Promise<JsonObject>;

/** Fills a project with one of everything, and says what it is called. */
export const fill = async (done: Done, project: string): Promise<Names> => {
  const { call, child, trace, thread, feedback, object } = named;
  const obj = { project_id: project, object_id: object, val: { text: 'secret' } };
  const { digest } = await done('/obj/create', { obj });
  const inputs = { text: 'secret', prompt: objectRef(project, object, 'latest') };
  const batch = [
    {
      mode: 'start',
      req: { start: startOf(project, call, { trace_id: trace, thread_id: thread, turn_id: call, inputs }) },
    },
    { mode: 'end', req: { end: { project_id: project, id: call, ended_at: at(1), summary: usage } } },
    { mode: 'start', req: { start: startOf(project, child, { trace_id: trace, parent_id: call, inputs }) } },
  ];
  await done('/call/upsert_batch', { batch });
  await done('/feedback/create', feedbackOf(project, { id: feedback, svc_ref: callRef(project, call) }));
  const { ids } = await done('/cost/create', { project_id: project, costs: { 'm-1': price } });
  const [[, id]] = ids as [[string, string]];
  return { ...named, price: id, digest: String(digest) };
};

/** All that a project holds, as its owner sees it. */
export const contentsOf = async (service: SharedService, project: string): Promise<string[]> => {
  const bodies: [string, object][] = [
    ['/calls/stream_query', everyInclude],
    ['/threads/stream_query', {}],
    ['/objs/query', {}],
    ['/feedback/query', {}],
    ['/cost/query', {}],
  ];
  return Promise.all(
    bodies.map(async ([path, body]) => (await service.post(path, { project_id: project, ...body })).text()),
  );
};

/** What of an answer's headers has nothing to do with what is asked. */
const incidental = new Set(['date', 'x-request-id', 'x-amzn-requestid', 'connection', 'keep-alive']);

/** All of an answer that a caller sees, but for when it was and what was asked. */
export const seen = async (answer: Response, asked: readonly string[]) => {
  const text = (await answer.text())
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replace(/[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}/g, '<id>');
  return {
    status: answer.status,
    headers: [...answer.headers].filter(([name]) => !incidental.has(name)),
    body: asked.reduce((rest, name) => rest.replaceAll(name, '<asked>'), text),
  };
};
