import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { PayloadReader, readHeaders, updateCall } from '../../../../../core/records/calls/index.ts';
import { requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../../../../foundations/wire/index.ts';
import { interleaved } from '../../../../support/faults/intercepted.ts';
import {
  createCallStore,
  makeEnd,
  makeStart,
  project,
  query,
  read,
  send,
} from '../../../../support/values/calls.ts';

let store: Store;
beforeAll(async () => {
  store = await createCallStore();
});
afterEach(() => {
  vi.useRealTimers();
});

const day = 86_400;
const onDay = (days: number): void => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 9, 1) + days * day * 1000 });
};

/** The expiries of all items, in days after the first, by what the items are. */
const expiries = async ({ table }: Store): Promise<Record<string, (number | null)[]>> => {
  const { Items = [] } = await table.client.send(new ScanCommand({ TableName: table.name }));
  const days = (x: string | undefined) =>
    x === undefined ? null : Math.floor(Number(x) / day) - Math.floor(Date.UTC(2026, 9, 1) / 1000 / day);
  const byPart = Object.groupBy(Items, ({ p }) => p?.S?.[0] ?? '');
  return Object.fromEntries(
    Object.entries(byPart).map(([part, items = []]) => [part, items.map(({ x }) => days(x?.N)).sort()]),
  );
};

/** Something that no item takes along. */
const large = { text: Array.from({ length: 900 }, (_, i) => Math.sin(i)).join(' ') };

describe('a start that is reported again', () => {
  it('costs nothing more if it has the same content', async () => {
    const batch = ['same-1', 'same-2'].map((id) => makeStart({ id, trace_id: 't', inputs: large }));
    await send(store, batch);
    const requests = { first: (await send(store, batch)).meter, again: (await send(store, batch)).meter };
    // The segment once more, the inserts that find their keys taken, and one look at those; no
    // start is put.
    expect(requests.again.requests).toBe(3);
    expect(requests.again).toEqual(requests.first);
  });

  it('keeps the expiry of the end that came with it, and so its payload', async () => {
    const kept = await createCallStore({ retentionDays: 30 });
    onDay(0);
    await send(kept, [
      makeStart({ id: 'a', inputs: large }),
      makeEnd({ id: 'a', output: large }),
      makeStart({ id: 'b' }),
    ]);
    expect(await expiries(kept)).toEqual({ S: [30, 30], P: [33] });
    onDay(20);
    await send(kept, [makeStart({ id: 'a', inputs: {} }), makeStart({ id: 'c' })]);
    expect(await expiries(kept)).toEqual({ S: [30, 30, 50], P: [33], N: [53] });
    expect(await read(kept, 'a')).toMatchObject({ inputs: {}, output: large });
  });

  it('gets a retention that was set since, with its payload', async () => {
    const forever = await createCallStore();
    onDay(0);
    const batch = [makeStart({ id: 'a', inputs: large }), makeStart({ id: 'b', inputs: large })];
    await send(forever, batch);
    expect(await expiries(forever)).toEqual({ S: [null, null], P: [null] });
    await send({ ...forever, retentionDays: 7 }, batch);
    expect(await expiries(forever)).toEqual({ S: [7, 7], P: [10, null], N: [10, 10] });
  });
});

describe('an inline payload', () => {
  const versions = {
    'a shorter one': { q: 1 },
    'a longer one': {
      question: 'what would a reader see that has the header of another version of this call?',
    },
    'one in a segment': large,
  };

  it.each(Object.entries(versions))(
    'is complete for a reader with an older header than %s',
    async (_, inputs) => {
      const id = crypto.randomUUID();
      await send(store, [makeStart({ id, inputs: { before: 'x'.repeat(60) } })]);
      const headers = await readHeaders(store, project, [id], requestBudget(10_000));
      await send(store, [makeStart({ id, inputs })]);
      const [call] = await new PayloadReader(store, project, requestBudget(10_000)).read(headers);
      expect(JSON.parse(call?.payload.inputs ?? '')).toEqual(inputs);
    },
  );

  it('is found if the end stayed with a new start', async () => {
    const id = crypto.randomUUID();
    await send(store, [makeStart({ id }), makeEnd({ id, output: 'kept' })]);
    const headers = await readHeaders(store, project, [id], requestBudget(10_000));
    await send(store, [makeStart({ id, inputs: { moved: true } })]);
    const [call] = await new PayloadReader(store, project, requestBudget(10_000)).read(headers);
    expect(call?.payload).toMatchObject({ inputs: '{"moved":true}', output: '"kept"' });
  });
});

describe('an end that is reported again', () => {
  it('appears by trace too, where the index has only starts', async () => {
    await send(store, [makeStart({ id: 'again', trace_id: 'again' }), makeEnd({ id: 'again', output: 1 })]);
    await send(store, [makeEnd({ id: 'again', output: 2 })]);
    for (const filter of [{ traceIds: ['again'] }, { callIds: ['again'] }, {}]) {
      const found = (await query(store, { filter })).filter(({ id }) => id === 'again');
      expect(found).toMatchObject([{ output: 2 }]);
    }
  });
});

const rename = async (id: string, displayName: string | null, where = store, projectId = project) => {
  const spent = requestBudget(30_000);
  await updateCall(where, projectId, id, { displayName }, spent);
  return spent.meter;
};

const place = (id: string) => ({ id, trace_id: `trace-${id}`, thread_id: `thread-${id}`, turn_id: id });

const ways: Record<string, (id: string) => (readonly object[])[]> = {
  'a start and end in one item': (id) => [
    [makeStart({ ...place(id), inputs: { q: 1 } }), makeEnd({ id, output: 1 })],
  ],
  'a start and end apart': (id) => [
    [makeStart({ ...place(id), inputs: { q: 1 } })],
    [makeEnd({ id, output: 1 })],
  ],
  'a payload in a segment': (id) => [
    [makeStart({ ...place(id), inputs: large }), makeEnd({ id, output: large })],
  ],
  'no end yet': (id) => [[makeStart(place(id))]],
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
    await send(store, [makeStart(place('ends-late'))]);
    await rename('ends-late', 'named');
    await send(store, [makeEnd({ id: 'ends-late', output: 1 })]);
    expect(await shown('ends-late')).toMatchObject({ display_name: 'named', output: 1 });
  });

  it('is that of the start again when the start is reported again', async () => {
    const batch = [makeStart({ ...place('again'), display_name: 'reported' })];
    await send(store, batch);
    await rename('again', 'changed');
    await send(store, batch);
    expect(await shown('again')).toMatchObject({ display_name: 'reported' });
  });

  it('costs one read if it does not change', async () => {
    await send(store, [makeStart(place('same'))]);
    expect((await rename('same', 'same')).requests).toBe(2);
    expect(await rename('same', 'same')).toMatchObject({ requests: 1, writeUnits: 0 });
  });

  it('is a 404 without a call or its start', async () => {
    await send(store, [makeEnd({ id: 'end-alone' })]);
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
    ['another start', (fields: object) => [makeStart({ ...second, ...fields })], ['reported', 'changed']],
    ['an end', (fields: object) => [makeEnd(fields)], ['changed']],
    [
      'another start and end',
      (fields: object) => [makeStart({ ...second, ...fields }), makeEnd(fields)],
      ['reported', 'changed'],
    ],
  ] as const)('as %s loses neither, whichever is stopped at any point', async (_, reports, possible) => {
    for (const isRenameStopped of [true, false]) {
      for (let at = 0, isStopped = true; isStopped; at++) {
        const projectId = `acme/renamed-${fresh++}` as ProjectId;
        const ids = { project_id: projectId, id: 'call' };
        await send(store, [makeStart({ ...first, ...ids })]);
        const change = (to: Store) => rename('call', 'changed', to, projectId);
        const report = (to: Store) => send(to, reports(ids));
        const [stopped, other] = isRenameStopped ? [change, report] : [report, change];
        isStopped = await interleaved(store, at, stopped, () => other(store));
        const call = await read(store, 'call', projectId);
        expect(possible).toContain(call?.display_name);
        expect(await query(store, { projectId, filter: { traceIds: ['t'] } })).toEqual([call]);
      }
    }
  });
});
