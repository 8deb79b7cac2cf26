import type { BatchGetItemCommandInput } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { requestBudget, type Store } from '../../../../../../core/foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../../../../../core/foundations/wire/index.ts';
import { deleteCalls, PayloadReader, readHeaders } from '../../../../../../core/records/calls/index.ts';
import { createCallStore, endOf, project, query, read, send, startOf } from '../../../../../support/calls.ts';
import { interleaved, stops } from '../../../../../support/intercepted.ts';
import { deep, repeatWith } from '../../../../../support/sampling.ts';
import { everythingStored } from '../../../../../support/stored.ts';

let store: Store;
beforeAll(async () => {
  store = await createCallStore();
});

const remove = (ids: readonly string[], of = store, spent = requestBudget(60_000)) =>
  deleteCalls(of, project, ids, spent);
const removeIn = (projectId: ProjectId, ids: readonly string[]) =>
  deleteCalls(store, projectId, ids, requestBudget(60_000));

let fresh = 0;
/** A project with nothing in it. */
const newProject = () => `acme/emptied-${fresh++}` as ProjectId;
/** Sends requests, with a project of their own instead of the usual one. */
const sendInto = async (projectId: ProjectId, requests: readonly (readonly object[])[]) => {
  for (const request of requests)
    await send(store, JSON.parse(JSON.stringify(request).replaceAll(`"${project}"`, `"${projectId}"`)));
};
const idsOf = (calls: readonly JsonObject[]) => calls.map(({ id }) => String(id)).sort();
const secret = (id: string) => `secret of ${id}, `;
const start = (id: string, fields: object = {}) =>
  startOf({ id, trace_id: 't', inputs: { q: secret(id) }, ...fields });
const nested = (id: string, fields: object = {}) => start(id, { parent_id: 'p', ...fields });
const end = (id: string, fields: object = {}) => endOf({ id, output: secret(id).toUpperCase(), ...fields });
/** Text that does not compress. */
const noise = (length: number): string =>
  Array.from({ length: length / 18 }, () => Math.random())
    .join('')
    .slice(0, length);

describe('deleting calls', () => {
  it('includes their descendants at any depth and nothing else', async () => {
    const own = await createCallStore();
    const batch = [
      start('root'),
      start('child', { parent_id: 'root' }),
      end('child'),
      start('leaf', { parent_id: 'child' }),
      start('sibling', { parent_id: 'root' }),
      start('stranger', { trace_id: 'u', thread_id: 'h', turn_id: 'stranger' }),
      end('stranger'),
    ];
    await send(own, batch);
    const stranger = await read(own, 'stranger');
    expect(await remove(['child'], own)).toBe(2);
    expect(idsOf(await query(own))).toEqual(['root', 'sibling', 'stranger']);
    expect(await remove(['root'], own)).toBe(2);
    expect(await query(own)).toEqual([stranger]);
    expect(await query(own, { filter: { threadIds: ['h'] } })).toEqual([stranger]);
    expect(await query(own, { filter: { traceIds: ['t'] } })).toEqual([]);
    expect(await read(own, 'root')).toBeNull();
    const stored = await everythingStored(own);
    expect(stored).toMatchObject({ items: 1, segments: 0 });
    expect(stored.text).toContain(secret('stranger'));
    for (const id of ['root', 'child', 'leaf', 'sibling']) {
      expect(stored.text).not.toContain(secret(id));
      expect(stored.text).not.toContain(secret(id).toUpperCase());
    }
  });

  it.each([
    ['inside its item', [[start('a')]]],
    ['inside both of its items', [[start('a')], [end('a')]]],
    ['inside one item', [[start('a'), end('a')]]],
    ['in an item of a list', [[start('a'), start('b', { parent_id: 'p' }), end('a')]]],
    ['in a segment', [[nested('a'), nested('b', { inputs: {} }), end('a')]]],
    [
      'in a segment for each part',
      [
        [nested('a'), nested('b', { inputs: {} })],
        [end('a'), end('b', { output: 0 })],
      ],
    ],
    ['in an object', [[start('a', { inputs: { q: secret('a') + noise(400_000) } })]]],
    ['in an item whose end has been replaced', [[start('a'), end('a')], [end('a', { output: 'other' })]]],
    ['of an end without a start', [[end('a')]]],
    ['of a start that another has replaced', [[nested('a'), nested('b')], [nested('a', { inputs: {} })]]],
    [
      'of a start that several have replaced, the first again',
      [
        [nested('a'), nested('b')],
        [nested('a', { inputs: {} })],
        [nested('a'), nested('b')],
        [nested('a', { inputs: { n: 1 } })],
      ],
    ],
    [
      'of an end that another has replaced',
      [
        [nested('a'), nested('b', { inputs: {} })],
        [end('a'), end('b', { output: 0 })],
        [end('a', { output: 1 })],
        [end('a', { output: 2 }), end('b', { output: 0 })],
      ],
    ],
    [
      'of a start and an end that have been replaced together, in a segment and in an object',
      [
        [nested('a'), nested('b', { inputs: {} }), end('a')],
        [nested('a', { inputs: { q: secret('a') + noise(400_000) } }), end('a', { output: secret('a') })],
        [nested('a', { inputs: {} }), end('a', { output: 0 })],
      ],
    ],
    [
      'of an end that came beside its start and was replaced by one alone',
      [[nested('a', { inputs: {} }), end('a'), nested('b')], [end('a', { output: 0 })]],
    ],
    [
      'of an end without a start that another has replaced',
      [[end('a'), nested('b')], [end('a', { output: 0 })]],
    ],
  ])('leaves nothing of a payload %s', async (_, requests) => {
    const projectId = newProject();
    await sendInto(projectId, requests);
    expect((await everythingStored(store, projectId)).text).toMatch(/secret of a/i);
    await removeIn(projectId, ['a']);
    expect((await everythingStored(store, projectId)).text).not.toMatch(/secret of a/i);
    expect(await removeIn(projectId, ['b'])).toBe(
      requests.flat().some(({ req }) => JSON.stringify(req).includes('"b"')) ? 1 : 0,
    );
    expect(await everythingStored(store, projectId)).toEqual({
      text: '',
      items: 0,
      segments: 0,
      objects: 0,
    });
  });

  it('counts each call once and ignores unknown ids', async () => {
    await send(store, [
      start('x'),
      start('y', { parent_id: 'x' }),
      start('z', { parent_id: 'y' }),
      end('lone'),
    ]);
    expect(await remove([])).toBe(0);
    expect(await remove(['nobody', 'lone'])).toBe(0);
    expect(await remove(['y', 'x', 'z', 'x', 'nobody'])).toBe(3);
    expect(await remove(['y', 'x', 'z', 'x', 'nobody'])).toBe(0);
  });

  it('ends at a cycle of parents', async () => {
    await send(store, [
      start('hen', { parent_id: 'egg' }),
      start('egg', { parent_id: 'hen' }),
      start('self', { parent_id: 'self' }),
    ]);
    expect(await remove(['hen', 'self'])).toBe(3);
  });

  it('writes a segment once for all its calls, and never a second time', async () => {
    const ids = Array.from({ length: 50 }, (_, i) => `shared-${i}`);
    await send(
      store,
      ids.map((id, i) => start(id, { trace_id: id, inputs: { q: secret(id) + noise(200), i } })),
    );
    const spent = requestBudget(60_000);
    expect(await remove(ids.slice(1), store, spent)).toBe(49);
    // Starts; traces; a first look at starts and ends; the segment, read and written; the starts'
    // deletion; a last look at both.
    expect(spent.meter.requests).toBe(1 + 49 + 1 + 2 + 49 + 1 + 1);
    expect(await read(store, 'shared-0')).toMatchObject({ inputs: { i: 0 } });
  });

  it('lets the same calls be reported again', async () => {
    const batch = [start('phoenix'), end('phoenix'), start('witness'), end('witness')];
    await send(store, batch);
    const before = await Promise.all([read(store, 'phoenix'), read(store, 'witness')]);
    for (const ids of [['phoenix'], ['phoenix', 'witness']]) {
      await remove(ids);
      expect(await read(store, 'phoenix')).toBeNull();
      await send(store, batch);
      expect(await Promise.all([read(store, 'phoenix'), read(store, 'witness')])).toEqual(before);
      expect(idsOf(await query(store, { filter: { callIds: ['phoenix', 'witness'] } }))).toHaveLength(2);
    }
  });

  it('works for a trace of more than a thousand calls, flat and deep', { timeout: 120_000 }, async () => {
    const own = await createCallStore();
    const third = deep ? 800 : 400;
    const calls = Array.from({ length: 3 * third }, (_, i) =>
      // Three chains, each as deep as a run-away agent goes, and the rest flat.
      start(`many-${i}`, i < 3 ? {} : { parent_id: i < 300 ? `many-${i - 3}` : `many-${i % 3}` }),
    );
    for (let i = 0; i < calls.length; i += third) await send(own, calls.slice(i, i + third));
    expect(await deleteCalls(own, project, ['many-1'], requestBudget(100_000))).toBe(third);
    expect(await query(own, { columns: ['id'] })).toHaveLength(2 * third);
    expect(await deleteCalls(own, project, ['many-0', 'many-2'], requestBudget(100_000))).toBe(2 * third);
    expect(await everythingStored(own)).toEqual({ text: '', items: 0, segments: 0, objects: 0 });
  });
});

describe('a reader with the header of a call that is deleted then', () => {
  const kinds: Record<string, readonly (readonly object[])[]> = {
    'inside its item': [[start('gone')], [start('stays')]],
    'inside an item of a list': [[start('gone'), end('gone'), nested('stays')]],
    'in a segment that others share': [[nested('gone'), end('gone'), nested('stays')]],
    'in a segment of its own': [[start('gone', { inputs: { q: noise(2000) } })], [start('stays')]],
    'in an object': [[start('gone', { inputs: { q: noise(400_000) } })], [start('stays')]],
  };

  it.each(Object.entries(kinds))('leaves the call out if its payload was %s', async (_, requests) => {
    const projectId = newProject();
    await sendInto(projectId, requests);
    const headers = await readHeaders(store, projectId, ['gone', 'stays'], requestBudget(10_000));
    expect(headers).toHaveLength(2);
    await removeIn(projectId, ['gone']);
    const calls = await new PayloadReader(store, projectId, requestBudget(10_000)).read(headers);
    expect(calls.map(({ header }) => header.id)).toEqual(['stays']);
  });

  it.each(Object.entries(kinds))(
    'is a query, at any moment, its payload being %s',
    async (kind, requests) => {
      const watched = newProject();
      await sendInto(watched, requests);
      for (const at of await stops(store, kind, (from) => query(from, { projectId: watched }))) {
        const projectId = newProject();
        await sendInto(projectId, requests);
        const before = await query(store, { projectId });
        let answer: JsonObject[] = [];
        await interleaved(
          store,
          at,
          async (gated) => {
            answer = await query(gated, { projectId });
          },
          () => removeIn(projectId, ['gone']),
        );
        const stays = before.filter(({ id }) => id === 'stays');
        expect([before, stays], `${repeatWith}: stopped before command ${at}`).toContainEqual(answer);
      }
    },
  );

  it('gets the call if it was reported again', async () => {
    const batch = [nested('back'), nested('beside')];
    await send(store, batch);
    const headers = await readHeaders(store, project, ['back'], requestBudget(10_000));
    const reader = new PayloadReader(store, project, requestBudget(10_000));
    await remove(['back']);
    expect(await reader.read(headers)).toEqual([]);
    await send(store, batch);
    expect(await reader.read(headers)).toMatchObject([{ header: { id: 'back' } }]);
  });

  it('gets the call even if an eventually consistent read is stale', async () => {
    const own = await createCallStore();
    const batch = [nested('back'), nested('beside')];
    await send(own, batch);
    const headers = await readHeaders(own, project, ['back'], requestBudget(10_000));
    await remove(['back'], own);
    const { client } = own.table;
    const seen: unknown[] = [];
    client.middlewareStack.add((next) => async (args) => {
      const { RequestItems } = args.input as BatchGetItemCommandInput;
      const isEventual = Object.values(RequestItems ?? {}).some(
        ({ ConsistentRead }) => ConsistentRead === false,
      );
      if (!isEventual) return next(args);
      const [before] = seen;
      if (before) return before as Awaited<ReturnType<typeof next>>;
      const answer = await next(args);
      seen.push(answer);
      return answer;
    });
    expect(await new PayloadReader(own, project, requestBudget(10_000)).read(headers)).toEqual([]);
    await send(own, batch);
    expect(await new PayloadReader(own, project, requestBudget(10_000)).read(headers)).toHaveLength(1);
    expect(seen).toHaveLength(1);
  });
});
