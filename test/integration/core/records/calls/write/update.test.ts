import { beforeAll, describe, expect, it } from 'vitest';
import { requestBudget, type Store } from '../../../../../../core/foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../../../../../core/foundations/wire/index.ts';
import { updateCall } from '../../../../../../core/records/calls/index.ts';
import { createCallStore, endOf, project, query, read, send, startOf } from '../../../../../support/calls.ts';
import { interleaved } from '../../../../../support/intercepted.ts';

let store: Store;
beforeAll(async () => {
  store = await createCallStore();
});

const rename = async (id: string, displayName: string | null, of = store, projectId = project) => {
  const spent = requestBudget(30_000);
  await updateCall(of, projectId, id, { displayName }, spent);
  return spent.meter;
};

/** Something that does not fit into its item. */
const large = { text: Array.from({ length: 900 }, (_, i) => Math.sin(i)).join(' ') };
const place = (id: string) => ({ id, trace_id: `trace-${id}`, thread_id: `thread-${id}`, turn_id: id });

const ways: Record<string, (id: string) => (readonly object[])[]> = {
  'a start and end in one item': (id) => [
    [startOf({ ...place(id), inputs: { q: 1 } }), endOf({ id, output: 1 })],
  ],
  'a start and end apart': (id) => [
    [startOf({ ...place(id), inputs: { q: 1 } })],
    [endOf({ id, output: 1 })],
  ],
  'a payload in a segment': (id) => [
    [startOf({ ...place(id), inputs: large }), endOf({ id, output: large })],
  ],
  'no end yet': (id) => [[startOf(place(id))]],
};

/** The call as each view shows it, all the same. */
const shown = async (id: string): Promise<JsonObject> => {
  const call = await read(store, id);
  if (!call) throw new Error(`no call ${id}`);
  const filters = [{ callIds: [id] }, { traceIds: [`trace-${id}`] }, { threadIds: [`thread-${id}`] }];
  for (const filter of filters) expect(await query(store, { filter })).toEqual([call]);
  expect((await query(store)).filter((other) => other.id === id)).toEqual([call]);
  return call;
};

const named = (call: JsonObject, displayName: string | null, traceName: string) => ({
  ...call,
  display_name: displayName,
  summary: { svc: { ...((call.summary as JsonObject).svc as JsonObject), trace_name: traceName } },
});

describe('the display name of a call', () => {
  it.each(Object.entries(ways))(
    'is set, replaced and removed without other changes, with %s',
    async (_, reports) => {
      const id = crypto.randomUUID();
      for (const batch of reports(id)) await send(store, batch);
      const before = await shown(id);
      expect(before).toMatchObject({ display_name: null });
      await rename(id, 'first');
      expect(await shown(id)).toEqual(named(before, 'first', 'first'));
      await rename(id, 'Zweiter 😀');
      expect(await shown(id)).toEqual(named(before, 'Zweiter 😀', 'Zweiter 😀'));
      await rename(id, null);
      expect(await shown(id)).toEqual(before);
    },
  );

  it('stays when an end is reported later', async () => {
    await send(store, [startOf(place('ends-late'))]);
    await rename('ends-late', 'named');
    await send(store, [endOf({ id: 'ends-late', output: 1 })]);
    expect(await shown('ends-late')).toMatchObject({ display_name: 'named', output: 1 });
  });

  it('is that of the start again when the start is reported again', async () => {
    const batch = [startOf({ ...place('again'), display_name: 'reported' })];
    await send(store, batch);
    await rename('again', 'changed');
    await send(store, batch);
    expect(await shown('again')).toMatchObject({ display_name: 'reported' });
  });

  it('costs one read if it does not change', async () => {
    await send(store, [startOf(place('same'))]);
    expect((await rename('same', 'same')).requests).toBe(2);
    expect(await rename('same', 'same')).toMatchObject({ requests: 1, writeUnits: 0 });
  });

  it('is a 404 without a call or its start', async () => {
    await send(store, [endOf({ id: 'end-alone' })]);
    for (const id of ['nobody', 'end-alone']) {
      await expect(rename(id, 'x')).rejects.toMatchObject({
        status: 404,
        detail: [{ loc: ['body', 'call_id'], type: 'not_found' }],
      });
    }
  });
});

describe('a display name that is changed while the call is reported', () => {
  let fresh = 0;
  const first = { op_name: 'first', trace_id: 't', inputs: { q: 1 } };
  const second = {
    op_name: 'second',
    trace_id: 't',
    started_at: '2026-10-01T00:00:00.5Z',
    display_name: 'reported',
  };
  it.each([
    ['another start', (of: object) => [startOf({ ...second, ...of })], ['reported', 'changed']],
    ['an end', (of: object) => [endOf(of)], ['changed']],
    [
      'another start and end',
      (of: object) => [startOf({ ...second, ...of }), endOf(of)],
      ['reported', 'changed'],
    ],
  ] as const)('as %s loses neither, whichever is stopped at any point', async (_, reports, possible) => {
    for (const isRenameStopped of [true, false]) {
      for (let at = 0, isStopped = true; isStopped; at++) {
        const projectId = `acme/renamed-${fresh++}` as ProjectId;
        const of = { project_id: projectId, id: 'call' };
        await send(store, [startOf({ ...first, ...of })]);
        const change = (to: Store) => rename('call', 'changed', to, projectId);
        const report = (to: Store) => send(to, reports(of));
        const [stopped, other] = isRenameStopped ? [change, report] : [report, change];
        isStopped = await interleaved(store, at, stopped, () => other(store));
        const call = await read(store, 'call', projectId);
        expect(possible).toContain(call?.display_name);
        expect(await query(store, { projectId, filter: { traceIds: ['t'] } })).toEqual([call]);
      }
    }
  });
});
