import { expect } from 'vitest';
import { weaveDoor } from '../../../core/doors/weave/index.ts';
import { tableDigest } from '../../../core/records/tables/index.ts';
import { overHttp } from '../../support/service/over-http.ts';
import type { TestService } from '../../support/service/service.ts';
import { noise } from '../../support/values/feedback.ts';

const project = 'acme/weave';
const at = (seconds: number): string => `2026-10-01T00:00:0${seconds}Z`;
/** More than an item holds, packed. */
const bigBytes = 700_000;
/** More than rides in a header, and less than goes to the bucket. */
const middlingBytes = 20_000;

const startOf = (id: string, fields: object = {}) => ({
  ...{ project_id: project, id, trace_id: 't', op_name: 'op', started_at: at(0) },
  ...fields,
});
const endOf = (id: string, fields: object = {}) => ({ project_id: project, id, ended_at: at(1), ...fields });

/** Sends a request that is expected to succeed, and gives its answer as text. */
type Send = (path: string, body: object, request?: object) => Promise<string>;

const calls = async (send: Send): Promise<void> => {
  const v2 = `/v2/${project}`;
  const turn = { thread_id: 'h', turn_id: 'one' };
  await send(`${v2}/call/start`, { start: startOf('one', turn) });
  await send(`${v2}/call/start`, { start: startOf('one', { ...turn, inputs: { again: true } }) });
  for (const [id, bytes] of [
    ['middling', middlingBytes],
    ['large', bigBytes],
  ] as const) {
    await send(`${v2}/call/start`, { start: startOf(id, { inputs: noise(bytes) }) });
    await send(`${v2}/call/end`, { end: endOf(id, { output: noise(bytes), exception: 'failed' }) });
  }
  await send(`${v2}/call/end`, { end: endOf('one') });
  await send(`${v2}/call/end`, { end: endOf('one', { ended_at: at(2) }) });
  const whole = (id: string, bytes: number, fields: object = {}) => ({
    ...{ ...startOf(id, fields), ...endOf(id), inputs: noise(bytes), output: noise(bytes) },
  });
  await send(`${v2}/calls/complete`, {
    batch: [whole('w1', 10), whole('w2', middlingBytes), whole('w3', bigBytes)],
  });
  await send(`${v2}/calls/complete`, { batch: [whole('w1', 20, { op_name: 'other' })] });
  // So many that their feedback is read together.
  const many = Array.from({ length: 70 }, (_, i) => whole(`many-${i}`, 10, { thread_id: 'h' }));
  await send(`${v2}/calls/complete`, { batch: many });
};

const feedback = async (send: Send): Promise<void> => {
  for (const payload of [{ note: 'good' }, noise(bigBytes)])
    await send('/feedback/create', {
      ...{ project_id: project, weave_ref: `weave:///${project}/call/one` },
      ...{ feedback_type: 'note', payload },
    });
  const same = {
    ...{ project_id: project, weave_ref: `weave:///${project}/call/one` },
    ...{ feedback_type: 'note', payload: { same: true } },
  };
  for (const id of ['s1', 's2']) await send('/feedback/create', { ...same, id });
  // The new record has been there before: the old one is taken away.
  await send('/feedback/replace', { ...same, feedback_id: 's1', id: 's2' });
};

const manyRows = 12_000;

const tables = async (send: Send): Promise<void> => {
  const rows = [{ id: 'a' }, { id: 'b', text: noise(bigBytes) }];
  await send('/table/create', { table: { project_id: project, rows } });
  const digests = rows.map((row) => weaveDoor.digests.ofValue(row));
  // In an order of their own, so many that their places are more than an item holds.
  const many = Array.from({ length: manyRows }, (_, id) => ({ id }));
  await send('/table/create', { table: { project_id: project, rows: many } });
  const row_digests = many.map((_, i) => weaveDoor.digests.ofValue(many[(i * 7919) % manyRows] ?? {}));
  await send('/table/create_from_digests', { project_id: project, row_digests });
  const digest = tableDigest(digests);
  await send('/table/query_stats_batch', { project_id: project, digests: [digest] });
  const val = { rows: `weave:///${project}/table/${digest}` };
  const dataset = { project_id: project, object_id: 'dataset', val };
  const { digest: version } = JSON.parse(await send('/obj/create', { obj: dataset }));
  const ref = `weave:///${project}/object/dataset:${version}/attr/rows/id/${digests[1]}`;
  await send('/call/start', { start: startOf('with a row', { inputs: { row: ref } }) });
  const big = { project_id: project, object_id: 'big', val: noise(bigBytes) };
  const { digest: bigVersion } = JSON.parse(await send('/obj/create', { obj: big }));
  const bigRef = `weave:///${project}/object/big:${bigVersion}`;
  await send('/call/start', { start: startOf('with an object', { inputs: { row: bigRef } }) });
  const isThere = { $expr: { $not: [{ $eq: [{ $getField: 'inputs.row.id' }, { $literal: '' }] }] } };
  await send('/calls/query_stats', { project_id: project, expand_columns: ['inputs.row'], query: isThere });
};

const labels = async (send: Send): Promise<void> => {
  for (const val of [1, 2])
    await send('/obj/create', { obj: { project_id: project, object_id: 'model', val } });
  const aliases = { project_id: project, digest: 'v0', aliases: ['prod'] };
  await send('/objs/model/aliases', aliases, { method: 'PUT' });
  const tags = { project_id: project, tags: ['good'] };
  await send('/objs/model/versions/v1/tags', tags, { method: 'PUT' });
  for (const kind of ['aliases', 'tags'])
    await send(`/${kind}?project_id=${encodeURIComponent(project)}`, {}, { method: 'GET' });
  await send('/obj/read', {
    ...{ project_id: project, object_id: 'model', digest: 'prod' },
    include_tags_and_aliases: true,
  });
  await send('/objs/model/versions/v1/tags/remove', tags);
  await send('/objs/model/aliases/remove', { project_id: project, aliases: ['prod'] });
};

const conditions = async (send: Send): Promise<void> => {
  const isNoted = {
    $expr: { $eq: [{ $getField: 'feedback.[note].payload.note' }, { $literal: 'good' }] },
  };
  const says = { $expr: { $contains: { input: { $getField: 'output.x' }, substr: { $literal: 'a' } } } };
  const failed = { $expr: { $ne: [{ $getField: 'exception' }, { $literal: null }] } };
  const month = { start: '2026-09-01T00:00:00Z', end: '2026-10-02T00:00:00Z' };
  await send('/calls/query_stats', { project_id: project, query: isNoted });
  await send('/calls/stats', { project_id: project, ...month, query: isNoted });
  const filters = [{}, { trace_ids: ['t'] }, { thread_ids: ['h'] }, { call_ids: ['one', 'w3'] }];
  for (const filter of filters)
    for (const query of [undefined, isNoted, says, failed])
      await send('/trace/usage', { project_id: project, filter, query, include_costs: true });
};

/** All that the door has by the paths of our own endpoints. */
const shared = async (send: Send): Promise<void> => {
  const name = { project_id: project, object_id: 'shared' };
  const price = { prompt_token_cost: 1e-6, completion_token_cost: 1e-6 };
  const { ids } = JSON.parse(await send('/cost/create', { project_id: project, costs: { m: price } }));
  await send('/cost/query', { project_id: project });
  const query = { $expr: { $in: [{ $getField: 'id' }, [{ $literal: ids[0][1] }]] } };
  await send('/cost/purge', { project_id: project, query });
  const record = {
    ...{ project_id: project, weave_ref: `weave:///${project}/call/one`, feedback_type: 'note' },
    payload: { note: 'x' },
  };
  await send('/feedback/batch/create', {
    batch: [
      { ...record, id: 'f1' },
      { ...record, id: 'f2' },
    ],
  });
  await send('/feedback/replace', { ...record, feedback_id: 'f1', id: 'f3', payload: noise(bigBytes) });
  await send('/feedback/query', { project_id: project, limit: 1 });
  const byType = { $expr: { $eq: [{ $getField: 'feedback_type' }, { $literal: 'note' }] } };
  await send('/feedback/query', { project_id: project, query: byType });
  const ids23 = ['f2', 'f3'].map((id) => ({ $literal: id }));
  await send('/feedback/purge', {
    ...{ project_id: project, query: { $expr: { $in: [{ $getField: 'id' }, ids23] } } },
  });
  await send('/obj/create', { obj: { ...name, val: noise(bigBytes) } });
  await send('/objs/query', { project_id: project, filter: { object_ids: ['shared'] } });
  await send('/obj/delete', { ...name, digests: ['latest'] });
  const month = { start: '2026-09-01T00:00:00Z', end: '2026-10-02T00:00:00Z' };
  await send('/calls/stats', { project_id: project, ...month });
  await send('/threads/stream_query', { project_id: project });
  for (const filter of [{}, { trace_ids: ['t'] }, { thread_ids: ['h'] }])
    await send('/calls/stream_query', { project_id: project, filter, include_feedback: true });
  await send('/call/read', { project_id: project, id: 'large', include_costs: true });
  await send('/call/update', { project_id: project, call_id: 'one', display_name: 'One' });
  await send('/calls/delete', { project_id: project, call_ids: ['large', 'one', 'w1', 'w3', 'middling'] });
};

/** Uses every feature of Weave's door. Throws where a request does not succeed. */
export const exerciseDoor = async (service: TestService): Promise<void> => {
  const sender = overHttp(service);
  const send: Send = async (path, body, request) => {
    const { status, text } = await sender.send({ path: `/weave${path}`, body, ...request });
    expect([path, status, status === 200 ? '' : text]).toEqual([path, 200, '']);
    return text;
  };
  await calls(send);
  await feedback(send);
  await tables(send);
  await labels(send);
  await conditions(send);
  await shared(send);
};
