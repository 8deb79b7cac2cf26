import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { requestBudget, type Store } from '../../../../../../core/foundations/storage/index.ts';
import { PayloadReader, readHeaders } from '../../../../../../core/records/calls/index.ts';
import { createCallStore, endOf, project, query, read, send, startOf } from '../../../../../support/calls.ts';

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
    const batch = ['same-1', 'same-2'].map((id) => startOf({ id, trace_id: 't', inputs: large }));
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
      startOf({ id: 'a', inputs: large }),
      endOf({ id: 'a', output: large }),
      startOf({ id: 'b' }),
    ]);
    expect(await expiries(kept)).toEqual({ S: [30, 30], P: [33] });
    onDay(20);
    await send(kept, [startOf({ id: 'a', inputs: {} }), startOf({ id: 'c' })]);
    expect(await expiries(kept)).toEqual({ S: [30, 30, 50], P: [33], N: [53] });
    expect(await read(kept, 'a')).toMatchObject({ inputs: {}, output: large });
  });

  it('gets a retention that was set since, with its payload', async () => {
    const forever = await createCallStore();
    onDay(0);
    const batch = [startOf({ id: 'a', inputs: large }), startOf({ id: 'b', inputs: large })];
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
      await send(store, [startOf({ id, inputs: { before: 'x'.repeat(60) } })]);
      const headers = await readHeaders(store, project, [id], requestBudget(10_000));
      await send(store, [startOf({ id, inputs })]);
      const [call] = await new PayloadReader(store, project, requestBudget(10_000)).read(headers);
      expect(JSON.parse(call?.payload.inputs ?? '')).toEqual(inputs);
    },
  );

  it('is found if the end stayed with a new start', async () => {
    const id = crypto.randomUUID();
    await send(store, [startOf({ id }), endOf({ id, output: 'kept' })]);
    const headers = await readHeaders(store, project, [id], requestBudget(10_000));
    await send(store, [startOf({ id, inputs: { moved: true } })]);
    const [call] = await new PayloadReader(store, project, requestBudget(10_000)).read(headers);
    expect(call?.payload).toMatchObject({ inputs: '{"moved":true}', output: '"kept"' });
  });
});

describe('an end that is reported again', () => {
  it('appears by trace too, where the index has only starts', async () => {
    await send(store, [startOf({ id: 'again', trace_id: 'again' }), endOf({ id: 'again', output: 1 })]);
    await send(store, [endOf({ id: 'again', output: 2 })]);
    for (const filter of [{ traceIds: ['again'] }, { callIds: ['again'] }, {}]) {
      const found = (await query(store, { filter })).filter(({ id }) => id === 'again');
      expect(found).toMatchObject([{ output: 2 }]);
    }
  });
});
