import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { writeCalls } from '../../../../../core/records/calls/index.ts';
import { requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../../../../foundations/wire/index.ts';
import { runs } from '../../../../support/run/sampling.ts';
import {
  ask,
  createCallStore,
  makeEnd,
  makeStart,
  parseBatch,
  project,
  query,
  read,
  send,
} from '../../../../support/values/calls.ts';

let store: Store;
beforeAll(async () => {
  store = await createCallStore();
});

const answersTo = (batch: readonly object[]) =>
  writeCalls(store, parseBatch(batch), 'ada', requestBudget(30_000));

let fresh = 0;
const newIds = (count: number): string[] => Array.from({ length: count }, () => `call-${fresh++}`);
/** A project with nothing in it: what a case asks is not in the way of the next one. */
const newProject = () => `acme/written-${fresh++}` as ProjectId;

/** Versions of a start that move its rows: in time, to another trace or parent, into a thread. */
const starts = [
  { op_name: 'first', started_at: '2026-10-01T00:00:00.000001Z', trace_id: 't1', inputs: { a: 1 } },
  { op_name: 'later', started_at: '2026-10-01T00:00:09Z', trace_id: 't1', inputs: { a: 2 }, thread_id: 'h1' },
  {
    op_name: 'moved',
    started_at: '2026-10-01T00:00:00.000001Z',
    trace_id: 't2',
    parent_id: 'parent',
    inputs: {},
    attributes: { x: null },
  },
] as const;
const ends = [
  { ended_at: '2026-10-01T00:01:00Z', output: 'one', summary: { n: 1 } },
  { ended_at: '2026-10-01T00:02:00Z', output: null, exception: 'boom' },
] as const;

type Report = { readonly call: number; readonly kind: 'start' | 'end'; readonly version: number };
const report: fc.Arbitrary<Report> = fc.oneof(
  fc.record({ call: fc.nat(1), kind: fc.constant('start' as const), version: fc.nat(starts.length - 1) }),
  fc.record({ call: fc.nat(1), kind: fc.constant('end' as const), version: fc.nat(ends.length - 1) }),
);

const toItem = (
  ids: readonly string[],
  { call, kind, version }: Report,
  turn: boolean,
  project_id: ProjectId,
): object => {
  const names = { project_id, id: ids[call] };
  return kind === 'start'
    ? makeStart({ ...starts[version], ...names, ...(turn && { turn_id: names.id }) })
    : makeEnd({ ...ends[version], ...names });
};

/** What must be stored of a call after the reports: its last start and its last end. */
const expected = (id: string, call: number, reports: readonly Report[]): JsonObject | null => {
  const last = (kind: Report['kind']) => reports.findLast((r) => r.call === call && r.kind === kind)?.version;
  const start = starts[last('start') ?? -1];
  if (!start) return null;
  const end = ends[last('end') ?? -1];
  return {
    id,
    op_name: start.op_name,
    trace_id: start.trace_id,
    inputs: start.inputs,
    started_at: start.started_at.includes('.') ? start.started_at : '2026-10-01T00:00:09.000000Z',
    ended_at: end ? end.ended_at.replace('Z', '.000000Z') : null,
    output: end?.output ?? null,
    exception: end && 'exception' in end ? end.exception : null,
  };
};

const seen = (call: JsonObject | null, like: JsonObject | null): unknown =>
  call && like && Object.fromEntries(Object.keys(like).map((key) => [key, call[key]]));

describe('a call', () => {
  it('is its last reported start and end, in any batches', async () => {
    const batches = fc.array(fc.array(report, { minLength: 1, maxLength: 5 }), {
      minLength: 1,
      maxLength: 5,
    });
    await fc.assert(
      fc.asyncProperty(batches, fc.boolean(), async (batches, turn) => {
        const projectId = newProject();
        const ids = newIds(2);
        for (const batch of batches)
          await send(
            store,
            batch.map((item) => toItem(ids, item, turn, projectId)),
          );
        const wanted = ids.map((id, call) => expected(id, call, batches.flat()));

        for (const [call, id] of ids.entries()) {
          const stored = await read(store, id, projectId);
          expect(seen(stored, wanted[call] ?? null) ?? stored).toEqual(wanted[call]);
        }
        const visible = wanted.filter((call) => call !== null);
        const found = (filter: object) => query(store, { projectId, filter });
        const byId = (calls: JsonObject[]) => new Map(calls.map((call) => [call.id, call]));
        for (const filter of [{}, { traceIds: ['t1', 't2'] }, { callIds: ids }]) {
          const calls = await found(filter);
          expect(calls.map((call) => call.id).sort()).toEqual(visible.map((call) => call.id).sort());
          for (const like of visible) expect(seen(byId(calls).get(like.id) ?? null, like)).toEqual(like);
        }
        const inThread = visible.filter((call) => call.op_name === 'later').map((call) => call.id);
        expect((await found({ threadIds: ['h1'] })).map((call) => call.id).sort()).toEqual(inThread.sort());
        const asked = { $expr: { $ne: [{ $getField: 'exception' }, { $literal: null }] } };
        const errors = await ask(store, { project_id: projectId, query: asked, columns: ['id'] });
        expect(errors.map((call) => call.id).sort()).toEqual(
          visible
            .filter((call) => call.exception !== null)
            .map((call) => call.id)
            .sort(),
        );
        const roots = visible.filter((call) => call.op_name !== 'moved').map((call) => call.id);
        expect((await found({ traceRootsOnly: true })).map((call) => call.id).sort()).toEqual(roots.sort());
      }),
      { numRuns: runs(10, 100) },
    );
  });

  it('is the same for any order and number of concurrent requests that report it', async () => {
    const parts = fc.shuffledSubarray(
      [['start'], ['end'], ['start', 'end'], ['end', 'start'], ['start'], ['end']] as const,
      { minLength: 3 },
    );
    await fc.assert(
      fc.asyncProperty(parts, async (requests) => {
        fc.pre(requests.flat().includes('start') && requests.flat().includes('end'));
        const projectId = newProject();
        const [id = ''] = newIds(1);
        const names = { project_id: projectId, id };
        const item = { start: makeStart({ ...starts[1], ...names }), end: makeEnd({ ...ends[0], ...names }) };
        await Promise.all(
          requests.map((kinds) =>
            send(
              store,
              kinds.map((kind) => item[kind]),
            ),
          ),
        );
        const like = expected(id, 0, [
          { call: 0, kind: 'start', version: 1 },
          { call: 0, kind: 'end', version: 0 },
        ]);
        expect(seen(await read(store, id, projectId), like)).toEqual(like);
        for (const filter of [{}, { traceIds: ['t1'] }, { threadIds: ['h1'] }]) {
          const found = await query(store, { projectId, filter });
          expect(found.map((call) => seen(call, like))).toEqual([like]);
        }
      }),
      { numRuns: runs(10, 100) },
    );
  });

  it('shares nothing with a call of the same id in another project', async () => {
    const [id = ''] = newIds(1);
    await send(store, [
      makeStart({ id, inputs: { mine: true } }),
      makeStart({ id, project_id: 'acme/other', inputs: { mine: false } }),
    ]);
    await send(store, [makeEnd({ id, project_id: 'acme/other', output: 'other' })]);
    expect(await read(store, id)).toMatchObject({
      project_id: project,
      inputs: { mine: true },
      output: null,
    });
  });

  it('is not changed by a batch that is sent again, completely or regrouped', async () => {
    const regroup = fc.record({ turn: fc.boolean(), cut: fc.nat(4), again: fc.nat(4) });
    await fc.assert(
      fc.asyncProperty(regroup, async ({ turn, cut, again }) => {
        const projectId = newProject();
        const ids = newIds(2);
        const items = ids.flatMap((_, call) => [
          toItem(ids, { call, kind: 'start', version: 1 }, turn, projectId),
          toItem(ids, { call, kind: 'end', version: call }, turn, projectId),
        ]);
        await send(store, items);
        const stored = () => Promise.all(ids.map((id) => read(store, id, projectId)));
        const before = await stored();
        for (const part of [items.slice(0, cut), items.slice(cut), items.slice(again), items])
          await send(store, part);
        expect(await stored()).toEqual(before);
        expect(await query(store, { projectId, filter: { threadIds: ['h1'] } })).toHaveLength(2);
      }),
      { numRuns: runs(8, 60) },
    );
  });

  it('belongs to the trace of the answer, whoever named it', async () => {
    const family = fc.array(fc.record({ parent: fc.option(fc.nat(3), { nil: null }), named: fc.boolean() }), {
      minLength: 4,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(family, fc.nat(4), async (members, cut) => {
        const ids = newIds(4);
        const starts = members.map(({ parent, named }, i) =>
          makeStart({
            id: ids[i],
            ...(parent !== null && { parent_id: ids[parent] }),
            ...(named && { trace_id: `trace-${ids[i]}` }),
          }),
        );
        const answers = [...(await answersTo(starts.slice(0, cut))), ...(await answersTo(starts.slice(cut)))];
        for (const [i, answer] of answers.entries()) {
          expect((await read(store, ids[i] ?? ''))?.trace_id).toBe(answer?.traceId);
          const { parent, named } = members[i] ?? { parent: null, named: false };
          if (named) expect(answer?.traceId).toBe(`trace-${ids[i]}`);
          // A parent in the same request, or an earlier one, gives its trace.
          else if (parent !== null && (parent < cut || i >= cut)) {
            expect(answer?.traceId).toBe(answers[parent]?.traceId);
          }
        }
        // The same again is answered the same, although all parents are known by now.
        expect(await answersTo(starts)).toEqual(answers);
      }),
      { numRuns: runs(12, 100) },
    );
  });

  it('is not visible if only its end is known', async () => {
    const [id = ''] = newIds(1);
    await send(store, [makeEnd({ id })]);
    expect(await read(store, id)).toBeNull();
    expect(await query(store, { filter: { callIds: [id] } })).toEqual([]);
  });

  it('is running without an end', async () => {
    const [id = ''] = newIds(1);
    await send(store, [makeStart({ id, display_name: 'shown' })]);
    expect(await read(store, id)).toMatchObject({
      ended_at: null,
      output: null,
      exception: null,
      summary: { svc: { status: 'running', latency_ms: null, trace_name: 'shown' } },
    });
  });

  it('keeps the trace of its first report when it is reported again', async () => {
    const [id = '', child = ''] = newIds(2);
    await send(store, [makeStart({ id })]);
    const trace = (await read(store, id))?.trace_id;
    await send(store, [makeStart({ id }), makeStart({ id: child, parent_id: id })]);
    expect((await read(store, id))?.trace_id).toBe(trace);
    expect((await read(store, child))?.trace_id).toBe(trace);
  });
});

describe('values', () => {
  const nested = (depth: number): unknown =>
    depth === 0 ? 'deep' : depth % 2 ? [nested(depth - 1)] : { d: nested(depth - 1) };
  const cases: [string, unknown][] = [
    ['nothing at all', {}],
    ['nulls and empty things', { a: null, b: {}, c: [], d: '', e: [null, [], {}] }],
    ['100 levels', nested(100)],
    ['large and small numbers', [1e308, -1e308, 5e-324, 2 ** 53 - 1, -(2 ** 53 - 1), 0.1, 1e21]],
    ['keys with dots and dollars', { 'a.b': { 'c.d': 1 }, $eq: { $: 2 }, '': 3 }],
    ['keys of prototypes', JSON.parse('{"__proto__": {"x": 1}, "constructor": 2, "toString": null}')],
    ['Unicode', { 日本語: '😀 \u0000 \u2028 \uffff e\u0301', rtl: '‏שלום' }],
    ['lone surrogates', ['\ud800', 'a\udc00b']],
    ['line breaks', 'one\ntwo\r\nthree'],
  ];

  it.each(cases)('of %s are read back unchanged', async (_name, value) => {
    const [id = ''] = newIds(1);
    const free = { value };
    await send(store, [
      makeStart({ id, inputs: free, attributes: free }),
      makeEnd({ id, output: value, summary: free }),
    ]);
    const call = await read(store, id);
    const summary = { ...(call?.summary as JsonObject) };
    delete summary.svc;
    expect(JSON.stringify([call?.inputs, call?.attributes, call?.output, summary])).toBe(
      JSON.stringify([free, free, value, free]),
    );
  });

  it('of 5 MB are read back unchanged, from the bucket if they do not compress', async () => {
    const [small = '', big = ''] = newIds(2);
    const random = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString('base64');
    const text = Array.from({ length: 65 }, (_, i) => random.slice(i) + Math.sin(i)).join('');
    expect(text.length).toBeGreaterThan(5_000_000);
    const noise = Array.from({ length: 8 }, () =>
      Buffer.from(crypto.getRandomValues(new Uint8Array(50_000))).toString('base64'),
    ).join('');
    await send(store, [
      makeStart({ id: big, inputs: { text } }),
      makeStart({ id: small, inputs: { noise } }),
    ]);
    expect((await read(store, big))?.inputs).toEqual({ text });
    expect((await query(store, { filter: { callIds: [small] } }))[0]?.inputs).toEqual({ noise });
  });
});
