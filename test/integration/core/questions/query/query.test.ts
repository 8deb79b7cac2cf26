import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { queryCalls } from '../../../../../core/questions/query/index.ts';
import { agentTraces, type TracedCall } from '../../../../../examples/agent-traces.ts';
import { compareText, toPath } from '../../../../../foundations/expression/index.ts';
import { requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import { type JsonObject, type ProjectId, parseTime } from '../../../../../foundations/wire/index.ts';
import { runs } from '../../../../support/run/sampling.ts';
import {
  createCallStore,
  makeEnd,
  makeQuery,
  makeStart,
  newestFirst,
  type PartialQuery,
  project,
  query,
  send,
} from '../../../../support/values/calls.ts';

const calls = [...agentTraces({ projectId: project, conversations: 8 })];
const asStart = ({ start }: TracedCall) => ({ mode: 'start', req: { start } });
const asEnd = ({ end }: TracedCall) => ({ mode: 'end', req: { end } });

/** The calls as they are wanted back, in the default order. */
const answers = [...calls]
  .sort((a, b) => compareText(a.start.started_at, b.start.started_at) || compareText(a.start.id, b.start.id))
  .map(({ start, end }) => ({ ...start, ...end, summary: expect.objectContaining(end.summary) }));

const report = {
  together: async (store: Store, batch: readonly TracedCall[]) => {
    await send(
      store,
      batch.flatMap((call) => [asStart(call), asEnd(call)]),
    );
  },
  apart: async (store: Store, batch: readonly TracedCall[]) => {
    await send(store, batch.map(asStart));
    await send(store, batch.map(asEnd));
  },
  'ends first': async (store: Store, batch: readonly TracedCall[]) => {
    await send(store, batch.map(asEnd));
    await send(store, batch.map(asStart));
  },
};

const toMicros = (text: string): number => parseTime(text) ?? Number.NaN;

const stores = new Map<string, Store>();
beforeAll(async () => {
  for (const [way, reportBatch] of Object.entries(report)) {
    const store = await createCallStore();
    stores.set(way, store);
    for (let i = 0; i < calls.length; i += 50) await reportBatch(store, calls.slice(i, i + 50));
  }
});
const getStore = (way: string): Store => stores.get(way) as Store;
const anyWay = fc.constantFrom(...Object.keys(report));

describe.each(Object.keys(report))('calls reported %s', (way) => {
  it('are read back equal, field by field, in order', async () => {
    const found = await query(getStore(way));
    expect(found).toHaveLength(calls.length);
    for (const [i, call] of found.entries()) expect(call).toMatchObject(answers[i] as object);
  });

  it('have their status, latency and name', async () => {
    for (const { id, summary } of await query(getStore(way))) {
      const { start, end } = calls.find((call) => call.start.id === id) as TracedCall;
      expect(summary).toMatchObject({
        svc: {
          status: end.exception === null ? 'success' : 'error',
          latency_ms: Math.round((toMicros(end.ended_at) - toMicros(start.started_at)) / 1000),
          trace_name: start.op_name.split('/').at(-1)?.split(':')[0],
        },
      });
    }
  });
});

describe('a query', () => {
  const some = calls.filter((_, i) => i % 7 === 0).map(({ start }) => start);
  const [first, second] = some as [TracedCall['start'], TracedCall['start']];
  const filters: [string, PartialQuery['filter'] & object, (call: TracedCall['start']) => boolean][] = [
    ['nothing', {}, () => true],
    ['a trace', { traceIds: [first.trace_id] }, (c) => c.trace_id === first.trace_id],
    [
      'two traces and one that is not there',
      { traceIds: [first.trace_id, second.trace_id, 'x'] },
      (c) => [first.trace_id, second.trace_id].includes(c.trace_id),
    ],
    ['a thread', { threadIds: [second.thread_id] }, (c) => c.thread_id === second.thread_id],
    [
      'threads',
      { threadIds: ['support-1-0', 'support-1-5', ''] },
      (c) => ['support-1-0', 'support-1-5'].includes(c.thread_id),
    ],
    ['a turn', { turnIds: [first.turn_id] }, (c) => c.turn_id === first.turn_id],
    ["a parent's children", { parentIds: [second.turn_id] }, (c) => c.parent_id === second.turn_id],
    [
      'children of one parent that is known and one that is not',
      { parentIds: [second.turn_id, 'unknown'] },
      (c) => c.parent_id === second.turn_id,
    ],
    ['ids', { callIds: [...some.map((c) => c.id), 'unknown'] }, (c) => some.includes(c)],
    ['an op', { opNames: [first.op_name] }, (c) => c.op_name === first.op_name],
    [
      'every version of an op',
      { opNames: [`svc:///${project}/op/agent.turn:*`] },
      (c) => c.op_name.includes('/agent.turn:'),
    ],
    ['roots', { traceRootsOnly: true }, (c) => c.parent_id === null],
    [
      'roots of a thread',
      { traceRootsOnly: true, threadIds: ['support-1-3'] },
      (c) => c.parent_id === null && c.thread_id === 'support-1-3',
    ],
    ['its user', { userIds: ['ada'] }, () => true],
    ['another user', { userIds: ['bob'] }, () => false],
    ['a run', { runIds: ['none'] }, () => false],
    ['an empty list', { traceIds: [] }, () => false],
  ];
  const getIds = (found: readonly JsonObject[]) => found.map((call) => call.id);
  const wanted = (keep: (call: TracedCall['start']) => boolean) =>
    answers.filter((call) =>
      keep(calls.find(({ start }) => start.id === call.id)?.start as TracedCall['start']),
    );

  it.each(filters)('for %s gives the same as a scan of every call', async (_name, filter, keep) => {
    for (const way of stores.keys()) {
      expect(getIds(await query(getStore(way), { filter }))).toEqual(wanted(keep).map(({ id }) => id));
    }
  });

  it('with any filter, limit, offset and direction gives the right slice in the right order', async () => {
    const cut = fc.record({
      limit: fc.option(fc.nat(30), { nil: null }),
      offset: fc.nat(30),
      direction: fc.constantFrom('ascending' as const, 'descending' as const),
      filter: fc.constantFrom(...filters),
      way: anyWay,
    });
    await fc.assert(
      fc.asyncProperty(cut, async ({ limit, offset, direction, filter: [, filter, keep], way }) => {
        const found = await query(getStore(way), {
          filter,
          limit,
          offset,
          sort: direction === 'descending' ? newestFirst : [],
          columns: ['id'],
        });
        const ids = wanted(keep).map(({ id }) => id);
        if (direction === 'descending') ids.reverse();
        expect(getIds(found)).toEqual(ids.slice(offset, limit === null ? undefined : offset + limit));
      }),
      { numRuns: runs(20, 160) },
    );
  });

  it('orders calls of the same microsecond by id, in both directions', async () => {
    const store = await createCallStore();
    const long = 'x'.repeat(250);
    const ids = [
      ...Array.from({ length: 30 }, (_, i) => `tie-${i}`),
      '\uffff',
      '😀',
      `${long}é😀`,
      `${long}éz`,
      '日'.repeat(200),
      `${'日'.repeat(200)}a`,
    ];
    await send(
      store,
      ids.map((id) => makeStart({ id })),
    );
    const sorted = [...ids].sort(compareText);
    expect(getIds(await query(store, { columns: [] }))).toEqual(sorted);
    expect(getIds(await query(store, { columns: [], sort: newestFirst }))).toEqual(sorted);
    expect(getIds(await query(store, { columns: [], sort: newestFirst, offset: 3, limit: 5 }))).toEqual(
      sorted.slice(3, 8),
    );
    const backwards = [...newestFirst, { path: toPath('id'), descending: true }];
    expect(getIds(await query(store, { columns: [], sort: backwards }))).toEqual(sorted.toReversed());
    expect(getIds(await query(store, { columns: [], sort: backwards, offset: 3, limit: 5 }))).toEqual(
      sorted.toReversed().slice(3, 8),
    );
  });

  it('cuts among calls of the same microsecond without reading all of them', async () => {
    const store = await createCallStore();
    const ids = Array.from({ length: 600 }, (_, i) => `tie-${String(i).padStart(4, '0')}`);
    await send(
      store,
      ids.map((id) => makeStart({ id })),
    );
    for (const sort of [[], [...newestFirst, { path: toPath('id'), descending: true }]]) {
      const spent = requestBudget(30_000);
      const { json, counts } = queryCalls(store, makeQuery({ columns: [], sort, limit: 20 }), spent);
      const found = (await Array.fromAsync(json())).flat().map((text) => JSON.parse(text) as JsonObject);
      expect(getIds(found)).toEqual((sort.length > 0 ? ids.toReversed() : ids).slice(0, 20));
      expect(counts.scanned).toBeLessThan(120);
    }
  });

  it('finds refs in inputs and outputs', async () => {
    const store = await createCallStore();
    const ref = 'svc:///acme/shop/object/prompt:v1';
    await send(store, [
      makeStart({ id: 'in', inputs: { deep: [{ prompt: ref }] } }),
      makeStart({ id: 'out' }),
      makeEnd({ id: 'out', output: [ref] }),
      makeStart({ id: 'none', inputs: { [ref]: 1 } }),
    ]);
    expect(getIds(await query(store, { filter: { inputRefs: [ref] }, columns: ['id'] }))).toEqual(['in']);
    expect(
      getIds(await query(store, { filter: { outputRefs: ['svc:///acme/shop/object/prompt:*'] } })),
    ).toEqual(['out']);
    expect(await query(store, { filter: { inputRefs: [ref], outputRefs: [ref] } })).toEqual([]);
  });

  it('gives the requested columns and the five that are always included', async () => {
    const [call] = await query(getStore('together'), {
      columns: ['inputs.model', 'summary.usage.gpt-4o.requests', 'ended_at'],
      filter: { opNames: [`svc:///${project}/op/openai.chat.completions.create:*`] },
      limit: 1,
    });
    expect(Object.keys(call ?? {})).toEqual([
      'id',
      'project_id',
      'op_name',
      'trace_id',
      'started_at',
      'ended_at',
      'inputs',
      'summary',
    ]);
    expect(call).toMatchObject({
      inputs: { model: 'gpt-4o' },
      summary: { usage: { 'gpt-4o': { requests: 1 } } },
    });
  });

  it('never sees another project’s calls, with any filter', async () => {
    const other = 'acme/shopping' as ProjectId;
    for (const [, filter] of filters) {
      expect(await query(getStore('together'), { filter, projectId: other })).toEqual([]);
    }
  });
});

describe('what a query reads', () => {
  it('excludes payloads if headers suffice', async () => {
    const spent = requestBudget(30_000);
    const { json, counts } = queryCalls(
      getStore('together'),
      makeQuery({ columns: ['id', 'ended_at'] }),
      spent,
    );
    await Array.fromAsync(json());
    expect(counts).toMatchObject({ scanned: calls.length, hydrated: 0, sent: calls.length });
  });

  it('is only as much as is used', async () => {
    const store = await createCallStore();
    const bulk = [...agentTraces({ projectId: project, conversations: 75, seed: 2 })];
    for (let i = 0; i < bulk.length; i += 200) await report.together(store, bulk.slice(i, i + 200));
    const whole = requestBudget(30_000);
    await query(store, {}, whole);

    const part = requestBudget(30_000);
    for await (const run of queryCalls(store, makeQuery({}), part).json()) if (run.length > 0) break;
    expect(part.meter.readUnits).toBeLessThan(whole.meter.readUnits / 2);

    const newest = requestBudget(30_000);
    expect(await query(store, { limit: 10, sort: newestFirst }, newest)).toHaveLength(10);
    expect(newest.meter.readUnits).toBeLessThan(12);
  });

  it('of many shards is merged into one order, whenever they were added', async () => {
    const store = await createCallStore({ shards: [1] });
    await report.apart(store, calls.slice(0, 100));
    const grown: Store = { ...store, shards: [1, 8] };
    await report.apart(grown, calls.slice(100, 200));
    const ids = (list: readonly { id: unknown }[]) => list.map(({ id }) => id);
    const stored = new Set(calls.slice(0, 200).map(({ start }) => start.id));
    expect(ids((await query(grown)) as { id: unknown }[])).toEqual(
      ids(answers.filter(({ id }) => stored.has(id))),
    );
    const thread = calls[99]?.start.thread_id ?? '';
    const inThread = answers.filter(({ id, thread_id }) => stored.has(id) && thread_id === thread);
    expect(ids((await query(grown, { filter: { threadIds: [thread] } })) as { id: unknown }[])).toEqual(
      ids(inThread),
    );
  });
});
