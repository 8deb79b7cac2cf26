import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { tableDigest } from '../../../core/records/tables/index.ts';
import { ownDigests } from '../../../foundations/door.ts';
import { spanExport } from '../../support/otel/otel.ts';
import type { TestService } from '../../support/service/service.ts';
import { noise } from '../../support/values/feedback.ts';

/** Ids of the traffic's project, which is its own. */
const project = 'acme/traffic';
const at = (seconds: number): string => `2026-10-01T00:00:${String(seconds).padStart(2, '0')}Z`;
/** More than an item holds, packed. */
const bigBytes = 700_000;
/** More than rides in a header, and less than goes to the bucket. */
const middlingBytes = 20_000;

const startOf = (id: string, fields: object = {}) => ({
  ...{ project_id: project, id, op_name: 'op', started_at: at(0) },
  ...fields,
});
const endOf = (id: string, fields: object = {}) => ({ project_id: project, id, ended_at: at(1), ...fields });
const asStart = (id: string, fields: object = {}) => ({ mode: 'start', req: { start: startOf(id, fields) } });
const asEnd = (id: string, fields: object = {}) => ({ mode: 'end', req: { end: endOf(id, fields) } });
const byId = (id: string) => ({ $expr: { $eq: [{ $getField: 'id' }, { $literal: id }] } });
const refTo = (objectId: string, digest: string) => `svc:///${project}/object/${objectId}:${digest}`;

const alert = {
  ...{ _type: 'Alert', name: 'a', window_minutes: 60, direction: 'above', alert: 1, tell: [] },
  enabled: true,
};
/** In a while: windows that end now are looked at later. */
const soon = (): string => new Date(Date.now() + 600_000).toISOString();

/** Sends a request that is expected to succeed, and gives its answer as text. */
type Send = (path: string, body: object, status?: number) => Promise<string>;

const calls = async (send: Send): Promise<void> => {
  // One by one: new, repeated, large, without a trace, its end before its start.
  await send('/call/start', { start: startOf('one', { trace_id: 't', thread_id: 'h', turn_id: 'one' }) });
  await send('/call/start', { start: startOf('one', { trace_id: 't', inputs: { again: true } }) });
  await send('/call/start', { start: startOf('child', { parent_id: 'one' }) });
  await send('/call/start', { start: startOf('large', { trace_id: 'u', inputs: noise(bigBytes) }) });
  await send('/call/start', { start: startOf('middling', { trace_id: 'u', inputs: noise(middlingBytes) }) });
  await send('/call/end', { end: endOf('one') });
  await send('/call/end', { end: endOf('early') });
  await send('/call/start', { start: startOf('early', { trace_id: 'u', thread_id: 'h', turn_id: 'early' }) });
  await send('/call/end', { end: endOf('large', { output: noise(bigBytes) }) });
  await send('/call/end', { end: endOf('child', { output: noise(middlingBytes) }) });

  // In batches: whole calls and halves, repeated, with payloads that share a segment, in the table
  // and in the bucket.
  const batch = [
    asStart('b1', { trace_id: 'b', inputs: noise(middlingBytes) }),
    asEnd('b1', { output: noise(middlingBytes) }),
    asStart('b2', { trace_id: 'b', inputs: noise(middlingBytes), parent_id: 'b1' }),
    asStart('b3', { parent_id: 'one' }),
    asEnd('middling', { output: { found: refTo('prompt', 'latest') } }),
  ];
  await send('/call/upsert_batch', { batch });
  await send('/call/upsert_batch', { batch });
  await send('/call/upsert_batch', { batch: [asStart('one', { trace_id: 't', inputs: { third: true } })] });
  // Their start and end lie in one item, until another end comes.
  const usage = { 'm-1': { prompt_tokens: 1, completion_tokens: 2 } };
  const whole = ['w1', 'w2'].flatMap((id) => [
    asStart(id, { trace_id: 'w' }),
    asEnd(id, { summary: { usage } }),
  ]);
  await send('/call/upsert_batch', { batch: whole });
  await send('/call/end', { end: endOf('w1', { ended_at: at(2), summary: { usage } }) });
  await send('/call/upsert_batch', { batch: [asEnd('w2', { ended_at: at(2), summary: { usage } })] });
  // Segments are cut by what they come to on average: beside much that packs well, two that don't
  // share one that is large.
  const payloads = ['a'.repeat(3 * bigBytes), noise(middlingBytes), noise(bigBytes / 3)];
  const shared = payloads.map((inputs, i) => asStart(`s${i}`, { trace_id: 's', inputs: { inputs } }));
  await send('/call/upsert_batch', { batch: shared });
  // Its former payload stays where it is until the call is deleted.
  await send('/call/upsert_batch', { batch: [asStart('s1', { trace_id: 's', inputs: {} })] });
  await send('/call/update', { project_id: project, call_id: 'one', display_name: 'One' });
};

const spans = async (send: Send): Promise<void> => {
  for (const bytes of [10, middlingBytes, bigBytes])
    await send('/otel/v1/traces', spanExport(project, { text: JSON.stringify(noise(bytes)) }));
};

const objects = async (send: Send): Promise<void> => {
  const create = (object_id: string, val: object) =>
    send('/obj/create', { obj: { project_id: project, object_id, val } });
  const small = JSON.parse(await create('prompt', { text: 'Be brief.' }));
  await create('prompt', { text: 'Be brief.' });
  await create('prompt', { text: 'Be long.' });
  await create('weights', noise(bigBytes));
  for (const digest of ['latest', 'v0', small.digest])
    await send('/obj/read', { project_id: project, object_id: 'prompt', digest });
  await send('/obj/read', { project_id: project, object_id: 'weights', digest: 'latest' });
  for (const filter of [{}, { object_ids: ['prompt'] }, { latest_only: true }])
    await send('/objs/query', { project_id: project, filter });
  await send('/refs/read_batch', {
    refs: [refTo('prompt', small.digest), refTo('weights', 'latest'), refTo('none', 'latest')],
  });
  // Several at once want the same index: those that don't get it clear their values away. At first
  // each starts a function, and may come when another is done.
  for (const bytes of [10, bigBytes, bigBytes])
    await Promise.all(Array.from({ length: 6 }, () => create('contended', noise(bytes))));
  await send('/call/start', {
    start: startOf('with refs', { inputs: { a: refTo('prompt', 'latest'), b: refTo('weights', 'v0') } }),
  });
};

/** Enough rows that their places, in an order of their own, are more than an item holds. */
const manyRows = 12_000;

const datasets = async (send: Send): Promise<void> => {
  const { ofValue: valueDigest } = ownDigests;
  const few = [{ id: 'a' }, { id: 'b', text: noise(bigBytes) }];
  const many = Array.from({ length: manyRows }, (_, id) => ({ id }));
  const create = (rows: readonly object[]) => send('/table/create', { table: { project_id: project, rows } });
  for (const rows of [few, few, many]) await create(rows);
  // Rows that are there, in an order of their own.
  const mixed = many.map((_, i) => many[(i * 7919) % manyRows] ?? { id: 0 });
  await create(mixed);
  const mixedDigest = tableDigest(mixed.map(valueDigest));
  await send('/table/update', {
    ...{ project_id: project, base_digest: mixedDigest },
    updates: [{ append: { row: { id: 'new', text: noise(bigBytes) } } }, { pop: { index: 0 } }],
  });
  const digest = tableDigest(few.map((row) => valueDigest(row)));
  const filter = { row_digests: few.map((row) => valueDigest(row)) };
  await send('/table/query', { project_id: project, digest: mixedDigest, limit: 1 });
  await send('/table/query', { project_id: project, digest, filter });
  await send('/table/query_stats', { project_id: project, digest });
  const val = { rows: `svc:///${project}/table/${digest}` };
  await send('/obj/create', { obj: { project_id: project, object_id: 'dataset', val } });
  const ref = `${refTo('dataset', 'latest')}/attr/rows/id/${valueDigest(few[1] ?? {})}`;
  await send('/refs/read_batch', { refs: [ref] });
  await send('/call/start', { start: startOf('with a row', { inputs: { row: ref } }) });
  await send('/calls/stream_query', { project_id: project, expand_columns: ['inputs.row'] });
};

const costs = async (send: Send): Promise<void> => {
  const price = { prompt_token_cost: 1, completion_token_cost: 2, effective_date: at(0) };
  const made = JSON.parse(await send('/cost/create', { project_id: project, costs: { 'm-1': price } }));
  await send('/cost/query', { project_id: project });
  const [[, id]] = made.ids;
  await send('/cost/purge', { project_id: project, query: byId(id) });
};

const feedback = async (send: Send): Promise<void> => {
  const record = (fields: object) => ({
    ...{ project_id: project, svc_ref: `svc:///${project}/call/one`, feedback_type: 'note', payload: {} },
    ...fields,
  });
  const large = noise(bigBytes);
  await send('/feedback/create', record({ id: 'f1' }));
  await send('/feedback/create', record({ id: 'f1' }));
  await send('/feedback/create', record({ id: 'f2', payload: large }));
  // Its object is not needed, for its record is there.
  await send('/feedback/create', record({ id: 'f2', payload: large }));
  const batch = [record({ id: 'f3' }), record({ id: 'f4', payload: large })];
  await send('/feedback/batch/create', { batch });
  await send('/feedback/replace', record({ feedback_id: 'f3', id: 'f5' }));
  // Its id is a tombstone's.
  await send('/feedback/create', record({ id: 'f3', payload: { again: true } }));
  await send('/feedback/replace', record({ feedback_id: 'f4', id: 'f6', payload: noise(bigBytes) }));
  await send('/feedback/batch/create', {
    batch: [record({ id: 'f4', payload: large }), record({ id: 'f7' })],
  });
  // The new record has been there before: the old one is taken away.
  await send('/feedback/create', record({ id: 'f8', payload: { same: true } }));
  await send('/feedback/replace', record({ feedback_id: 'f1', id: 'f8', payload: { same: true } }));
  const type = { $eq: [{ $getField: 'feedback_type' }, { $literal: 'note' }] };
  const ref = { $eq: [{ $getField: 'svc_ref' }, { $literal: `svc:///${project}/call/one` }] };
  const queries = [undefined, byId('f2'), { $expr: type }, { $expr: ref }];
  for (const query of queries) await send('/feedback/query', { project_id: project, query });
  const metric = { feedback_type: 'note', path: 'n', aggregation: 'avg' };
  await send('/alerts/preview', { project_id: project, alert: { ...alert, metric }, end: soon() });
  for (const id of ['f2', 'f5']) await send('/feedback/purge', { project_id: project, query: byId(id) });
};

const reading = async (send: Send): Promise<void> => {
  const includes = { include_costs: true, include_feedback: true, include_storage_size: true };
  for (const id of ['one', 'large', 'child', 'b2', 'w1', 'none'])
    await send('/call/read', { project_id: project, id, ...includes, include_total_storage_size: true });
  const filters = [
    {},
    { call_ids: ['one', 'large', 'early'] },
    { trace_ids: ['t'] },
    { parent_ids: ['one'] },
    { thread_ids: ['h'] },
    { turn_ids: ['one'] },
  ];
  for (const filter of filters) {
    await send('/calls/stream_query', { project_id: project, filter, ...includes });
    await send('/calls/query_stats', {
      ...{ project_id: project, filter, include_total_storage_size: true },
      query: { $expr: { $not: [{ $eq: [{ $getField: 'inputs.a' }, { $literal: 1 }] }] } },
    });
  }
  const failed = { $expr: { $ne: [{ $getField: 'exception' }, { $literal: null }] } };
  await send('/calls/stream_query', { project_id: project, query: failed });
  await send('/calls/query_stats', { project_id: project, query: failed });
  await send('/calls/stream_query', {
    ...{ project_id: project, columns: ['inputs.a', 'inputs.b', 'output.found'] },
    expand_columns: ['inputs.a', 'inputs.b', 'output.found'],
    include_total_storage_size: true,
    sort_by: [{ field: 'inputs.a.text', direction: 'desc' }],
  });
  const month = { project_id: project, start: '2026-09-01T00:00:00Z', end: '2026-10-02T00:00:00Z' };
  const costs = { usage_metrics: [{ metric: 'total_cost' }] };
  await send('/calls/stats', { ...month, ...costs, group_by: ['op_name'] });
  for (const filter of filters) await send('/calls/stats', { ...month, ...costs, filter });
  await send('/calls/stats', { ...month, query: failed });
  await send('/calls/stats', {
    ...month,
    query: { $expr: { $not: [{ $eq: [{ $getField: 'inputs.a' }, { $literal: 1 }] }] } },
  });
  const noted = {
    $expr: {
      $contains: { input: { $getField: 'feedback.[note].payload.text' }, substr: { $literal: 'a' } },
    },
  };
  await send('/calls/query_stats', { project_id: project, query: noted });
  await send('/calls/stats', { ...month, query: noted });
  const costly = { ...alert, metric: { metric: 'total_cost', aggregation: 'sum' } };
  const span = { project_id: project, start: month.start, end: month.end };
  const notOne = { $expr: { $not: [{ $eq: [{ $getField: 'inputs.a' }, { $literal: 1 }] }] } };
  for (const fields of [...filters.map((filter) => ({ filter })), { query: failed }, { query: notOne }])
    await send('/alerts/preview', { ...span, alert: { ...costly, ...fields } });
  await send('/alerts/preview', { ...span, alert: { ...costly, window_minutes: 1440 } });
  for (const [object_id, name] of [
    ['alert', 'a'],
    ['long alert', JSON.stringify(noise(bigBytes))],
  ])
    await send('/obj/create', {
      obj: { project_id: project, object_id, val: { ...costly, filter: { op_names: [name] } } },
    });
  await send('/alerts/query', { project_id: project });
  await send('/calls/usage', {
    ...{ project_id: project, call_ids: ['one', 'w1', 'large'] },
    include_costs: true,
  });
  // Ids with a time, in a number for which roots are looked for by it.
  const timed = Array.from({ length: 64 }, (_, i) => `01a0f4c2-c400-7000-8000-${`${i}`.padStart(12, '0')}`);
  await send('/calls/usage', { project_id: project, call_ids: timed });
  await send('/threads/stream_query', { project_id: project });
  await send('/threads/stream_query', { project_id: project, filter: { thread_ids: ['h'] } });
};

const deleting = async (send: Send): Promise<void> => {
  const remove = (...call_ids: string[]) => send('/calls/delete', { project_id: project, call_ids });
  // One of those that share a segment, then the other; with descendants; with an end of its own;
  // with nothing.
  for (const id of ['s1', 's2', 'b1', 'middling', 'large', 'one', 'early', 'none']) await remove(id);
  await send('/obj/delete', { project_id: project, object_id: 'weights' });
  await send('/obj/delete', { project_id: project, object_id: 'prompt' });
};

/** Records a small request and a large one, and waits until they are there. */
const inference = async (service: TestService): Promise<void> => {
  const headers = { authorization: `Bearer ${service.key}`, 'OpenAI-Project': 'acme/inferred' };
  for (const content of ['short', noise(bigBytes)]) {
    const body = { model: 'm', messages: [{ role: 'user', content: JSON.stringify(content) }] };
    const answer = await service.post('/inference/v1/chat/completions', body, { headers });
    expect([answer.status, await answer.text()]).toEqual([200, expect.anything()]);
  }
  const count = async () => {
    const answer = await service.post('/calls/query_stats', { project_id: 'acme/inferred' });
    return ((await answer.json()) as { count: number }).count;
  };
  for (let tries = 0; tries < 100 && (await count()) < 2; tries++) await sleep(50);
  expect(await count()).toBe(2);
};

/**
 * Uses every feature of every route that touches a store. Throws where a request does not succeed.
 */
export const exercise = async (service: TestService): Promise<void> => {
  const send: Send = async (path, body) => {
    const answer = await service.post(path, body);
    const text = await answer.text();
    expect([path, answer.status, answer.status === 200 ? '' : text]).toEqual([path, 200, '']);
    return text;
  };
  await calls(send);
  await spans(send);
  await objects(send);
  await datasets(send);
  await costs(send);
  await feedback(send);
  await inference(service);
  await reading(send);
  await deleting(send);
  await send('/projects/query', {});
};
