import { weaveDoor } from '../../../core/doors/weave/index.ts';
import { tableDigest } from '../../../core/records/tables/index.ts';
import { type Digests, ownDigests } from '../../../foundations/door.ts';
import type { Answer, Sent } from '../service/in-process.ts';
import { at, callRef, makeFeedback, makeStart, type Names, objectRef, price } from './fixture.ts';
import { fileForm, throughDoor } from './scenario.ts';

/** What no other tenant may learn. */
const secret = { text: 'secret' };

/** Names of nothing. */
export const nothing: Names = {
  call: 'call-none',
  child: 'kid-none-',
  trace: 'trace-non',
  thread: 'thread-no',
  feedback: 'feedb-no',
  object: 'promptno',
  alias: 'prod-none',
  price: '01a0f4c2-c400-7128-b08d-6d80dcf805ba',
  digest: 'Aq_qvTIUDe9WqRjopwcsPaFfDkKKbf_5pqt_j6G66Ed',
  file: 'A'.repeat(43),
  table: '0'.repeat(64),
  row: 'A'.repeat(43),
};

/** What things are called in a project that has one of everything, but for what the service names. */
const given = {
  call: 'call-them',
  child: 'kid-them-',
  trace: 'trace-the',
  thread: 'thread-th',
  feedback: 'feedb-th',
  object: 'promptth',
  alias: 'prod-them',
};

/** The digests of the file, of the table and of its row, by the door that they came in by. */
const contentDigests = ({ ofBytes, ofValue }: Digests) => {
  const row = ofValue(secret);
  return { file: ofBytes('secret'), table: tableDigest([row]), row };
};

/** Requests that fill a project with one of everything. */
export const filling = (project: string): Sent[] => {
  const { call, child, trace, thread, feedback, object } = given;
  const inputs = { ...secret, prompt: objectRef(project, object, 'latest') };
  const usage = { 'm-1': { prompt_tokens: 1, completion_tokens: 2 } };
  const end = { project_id: project, id: call, ended_at: at(1), summary: { usage } };
  const turn = { trace_id: trace, thread_id: thread, turn_id: call, inputs };
  const batch = [
    { mode: 'start', req: { start: makeStart(project, call, turn) } },
    { mode: 'end', req: { end } },
    {
      mode: 'start',
      req: { start: makeStart(project, child, { trace_id: trace, parent_id: call, inputs }) },
    },
  ];
  return [
    { path: '/obj/create', body: { obj: { project_id: project, object_id: object, val: secret } } },
    { path: '/cost/create', body: { project_id: project, costs: { 'm-1': price } } },
    { path: '/call/upsert_batch', body: { batch } },
    {
      path: '/feedback/create',
      body: makeFeedback(project, { id: feedback, svc_ref: callRef(project, call) }),
    },
    fileForm(project, 'secret'),
    { path: '/table/create', body: { table: { project_id: project, rows: [secret] } } },
  ];
};

/** The same through Weave's door, with an alias and a tag. */
export const fillingThroughDoor = (project: string): Sent[] => {
  const { call, trace, object, alias } = given;
  const { table } = contentDigests(weaveDoor.digests);
  const val = { rows: `weave:///${project}/table/${table}`, ...secret };
  const start = makeStart(project, call, { trace_id: trace, inputs: secret });
  const put = (path: string, fields: object): Sent => ({
    method: 'PUT',
    path: `/objs/${object}/${path}`,
    body: { project_id: project, ...fields },
  });
  const sent: Sent[] = [
    { path: '/obj/create', body: { obj: { project_id: project, object_id: object, val } } },
    fileForm(project, 'secret'),
    { path: '/table/create', body: { table: { project_id: project, rows: [secret] } } },
    put('aliases', { digest: 'latest', aliases: [alias] }),
    put('versions/v0/tags', { tags: ['good'] }),
    { path: `/v2/${project}/call/start`, body: { start } },
  ];
  return sent.map(throughDoor);
};

/** The names in a project, from the answers to what filled it. */
export const getNames = ([created, priced]: readonly Answer[], digests: Digests = ownDigests): Names => {
  const { digest } = JSON.parse(created?.text ?? '') as { digest: string };
  const { ids = [] } = JSON.parse(priced?.text ?? '') as { ids?: [string, string][] };
  return { ...given, ...contentDigests(digests), digest, price: ids[0]?.[1] ?? nothing.price };
};
