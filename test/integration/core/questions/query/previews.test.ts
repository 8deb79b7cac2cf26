import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { deleteCalls } from '../../../../../core/records/calls/index.ts';
import {
  deleteItems,
  type Item,
  requestBudget,
  type Store,
  scanTable,
} from '../../../../../foundations/storage/index.ts';
import type { JsonValue } from '../../../../../foundations/wire/index.ts';
import { runs } from '../../../../support/run/sampling.ts';
import { everythingStored } from '../../../../support/stored/stored.ts';
import { ask, createCallStore, makeEnd, makeStart, project, send } from '../../../../support/values/calls.ts';

let store: Store;
beforeAll(async () => {
  store = await createCallStore();
});

const question = 'Where is\nmy order?';
const start = (id: string, inputs: object = { question }, more: object = {}) =>
  makeStart({ id, trace_id: id, inputs, ...more });
const end = (id: string, more: object = { output: 'On its way.' }) => makeEnd({ id, ...more });

const readPreview = async (id: string): Promise<JsonValue | undefined> => {
  const [call] = await ask(store, {
    project_id: project,
    filter: { call_ids: [id] },
    columns: ['preview'],
  });
  return call?.preview;
};

/** Calls that share the request, so that its payloads go into a segment. */
const crowd = Array.from({ length: 40 }, (_, i) =>
  start(`beside-${i}`, { text: randomBytes(600).toString('hex') }, { trace_id: 'beside' }),
);
/** What compresses to more than an item of the table holds. */
const large = randomBytes(300_000).toString('hex');

/** The keys of a store's items with a sort key. */
const keysAt = async ({ table }: Store, part: string): Promise<Item[]> =>
  (await Array.fromAsync(scanTable(table))).flat().flatMap(({ k, p }) => (k && p === part ? [{ k, p }] : []));

let calls = 0;
/** Reports a call in some way, and reads its preview. */
const reported = async (way: string, padding: string, outcome: object): Promise<JsonValue | undefined> => {
  const id = `c${++calls}`;
  const first = start(id, { question, padding: [padding] });
  const last = end(id, outcome);
  const others = way.endsWith('in a crowd') ? crowd : [];
  const requests = way.startsWith('together')
    ? [[first, last]]
    : way.startsWith('start first')
      ? [[first], [last]]
      : [[last], [first]];
  for (const batch of requests) await send(store, [...others, ...batch]);
  return readPreview(id);
};

describe('the preview of a call', () => {
  it('is the same in whichever way it was reported', { timeout: runs(60_000) }, async () => {
    const way = fc.constantFrom(
      ...['together', 'start first', 'end first'].flatMap((order) => [order, `${order} in a crowd`]),
    );
    const padding = fc.constantFrom('', 'x'.repeat(5000), large.slice(0, 50_000), large);
    const ends = fc.constantFrom(
      [{ output: 'On its way.' }, 'On its way.'] as const,
      [{ output: { answer: 'Soon', why: 'weather' } }, 'Soon'] as const,
      [{ output: null, exception: 'KeyError: 7\n  at line 2' }, 'KeyError: 7'] as const,
    );
    await fc.assert(
      fc.asyncProperty(way, padding, ends, async (how, pad, [outcome, output]) => {
        expect(await reported(how, pad, outcome)).toEqual({ input: 'Where is my order?', output });
      }),
      { numRuns: runs(24, 200) },
    );
  });

  it('says nothing of an output before the call has ended', async () => {
    await send(store, [start('running')]);
    expect(await readPreview('running')).toEqual({ input: 'Where is my order?', output: null });
  });

  it('is of the latest content of a call that was reported again', async () => {
    await send(store, [...crowd, start('again'), end('again')]);
    await send(store, [...crowd, start('again', { question: 'And now?' })]);
    expect(await readPreview('again')).toEqual({ input: 'And now?', output: 'On its way.' });
    await send(store, [end('again', { output: 'Here.' })]);
    expect(await readPreview('again')).toEqual({ input: 'And now?', output: 'Here.' });
  });

  it('is gone with the call, and stays with those beside it', async () => {
    await send(store, [...crowd, start('kept'), start('dropped')]);
    await deleteCalls(store, project, ['dropped'], requestBudget(30_000));
    expect(await readPreview('dropped')).toBeUndefined();
    expect(await readPreview('kept')).toEqual({ input: 'Where is my order?', output: null });
  });

  /** A call that, with another, makes a segment which has its previews beside it. */
  const heavy = (id: string, word: string) =>
    start(id, { question: `${word} ${id}`, padding: [randomBytes(15_000).toString('hex')] });

  it.each([
    ['an item', 40_000],
    ['the bucket', 200_000],
  ])('lies beside a large payload in %s, which is not read for it', async (_, bytes) => {
    const own = await createCallStore();
    const input = { question };
    const padding = randomBytes(bytes).toString('hex');
    await send(own, [
      start('a', { ...input, padding: [padding] }),
      start('b', { ...input, padding: [padding] }),
    ]);
    const previews = await ask(own, { project_id: project, columns: ['preview.input'] });
    expect(previews.map(({ preview }) => preview)).toEqual(Array(2).fill({ input: 'Where is my order?' }));
    expect(await keysAt(own, 'V')).not.toEqual([]);
    const without = { ...own, bucket: { ...own.bucket, name: 'none' } };
    await deleteItems(own.table, await keysAt(own, 'P'), requestBudget(10_000));
    expect(await ask(without, { project_id: project, columns: ['preview.input'] })).toEqual(previews);
  });

  it('is made of the payload if nothing lies beside that any more', async () => {
    const own = await createCallStore();
    await send(own, [heavy('a', 'Alpha'), heavy('b', 'Beta')]);
    const before = await ask(own, { project_id: project, columns: ['preview'] });
    expect(await keysAt(own, 'V')).toHaveLength(1);
    await deleteItems(own.table, await keysAt(own, 'V'), requestBudget(10_000));
    expect(await ask(own, { project_id: project, columns: ['preview'] })).toEqual(before);
  });

  it('is nowhere when its call was deleted, and neither are former ones', async () => {
    const own = await createCallStore();
    await send(own, [heavy('a', 'Alpha'), heavy('b', 'Beta')]);
    await send(own, [heavy('a', 'Gamma'), heavy('c', 'Delta')]);
    expect((await everythingStored(own)).text).toMatch(/\["Alpha a"\]/);
    await deleteCalls(own, project, ['a'], requestBudget(30_000));
    const { text } = await everythingStored(own);
    expect(text).not.toMatch(/Alpha|Gamma/);
    expect(text).toMatch(/\["Beta b"\]/);
    const left = await ask(own, { project_id: project, columns: ['preview.input'] });
    expect(left.map(({ preview }) => preview)).toEqual([{ input: 'Beta b' }, { input: 'Delta c' }]);
    await deleteCalls(own, project, ['b', 'c'], requestBudget(30_000));
    expect((await everythingStored(own)).items).toBe(0);
  });

  it('filters and sorts calls, and is answered in part or not at all', async () => {
    const trace_id = 'filtered';
    await send(
      store,
      ['b', 'c', 'a'].flatMap((id) => [
        start(`f-${id}`, { question: `${id}?` }, { trace_id }),
        end(`f-${id}`, { output: id === 'a' ? null : id }),
      ]),
    );
    const body = { project_id: project, filter: { trace_ids: [trace_id] } };
    const path = { $getField: 'preview.input' };
    const found = await ask(store, {
      ...body,
      query: { $expr: { $not: [{ $eq: [path, { $literal: 'b?' }] }] } },
      sort_by: [{ field: 'preview.input', direction: 'asc' }],
      columns: ['preview.output'],
    });
    expect(found.map(({ id, preview }) => [id, preview])).toEqual([
      ['f-a', { output: null }],
      ['f-c', { output: 'c' }],
    ]);
    for (const call of await ask(store, body)) expect(call).not.toHaveProperty('preview');
  });
});
