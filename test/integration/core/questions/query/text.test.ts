import fc from 'fast-check';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { queryCalls } from '../../../../../core/questions/query/index.ts';
import { deleteCalls } from '../../../../../core/records/calls/index.ts';
import { GroupMaker, storeTexts, textsRange } from '../../../../../core/records/texts.ts';
import { toPath } from '../../../../../foundations/expression/index.ts';
import { type Item, readRange, requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../../../../foundations/wire/index.ts';
import { runs, seed } from '../../../../support/run/sampling.ts';
import { ask, makeEnd, makeQuery, makeStart, newestFirst, send } from '../../../../support/values/calls.ts';
import { hostileText } from '../../../../support/values/hostile-texts.ts';
import { createStatsStore } from '../../../../support/values/stats.ts';

let store: Store;
/** The same store, read as if nothing were known of texts. */
let plain: Store;
beforeAll(async () => {
  store = await createStatsStore({ shards: [2] });
  plain = { ...store, bookkeeping: undefined };
});
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

let projects = 0;
const newProject = () => `acme/texts-${projects++}` as ProjectId;

const begin = Date.UTC(2026, 9, 24, 20);
const at = (minutes: number): string => new Date(begin + minutes * 60_000).toISOString();
/** So late that all marks are over. */
const waitForMarks = () => vi.setSystemTime(Date.now() + 600_000);

const field = (path: string) => ({ $getField: path });
const asText = (path: string) => ({ $convert: { input: field(path), to: 'string' } });
const containing = (input: object, text: string, caseInsensitive = false) => ({
  $contains: { input, substr: { $literal: text }, case_insensitive: caseInsensitive },
});
const anywhere = (text: string) => ({
  $or: ['inputs', 'output', 'exception', 'attributes', 'op_name'].map((path) =>
    containing(asText(path), text, true),
  ),
});

const whole = (project_id: string, id: string, minutes: number, fields: JsonObject) => {
  const { output = null, exception = null, ...start } = fields;
  const started_at = at(minutes);
  return [
    makeStart({ project_id, id, trace_id: id, started_at, ...start }),
    makeEnd({ project_id, id, ended_at: started_at, output, exception }),
  ];
};

/** Asks with what is known of texts, and tells what was left out. */
const search = async (project: ProjectId, where: object, body: object = {}, in_: Store = store) => {
  const spent = requestBudget(60_000);
  const found = await ask(in_, { project_id: project, query: { $expr: where }, ...body }, spent);
  return { found, units: spent.meter.readUnits };
};

/** Looks for a text in outputs, newest first, and tells what that took. */
const counts = async (project: ProjectId, text: string) => {
  const where = {
    kind: 'contains',
    input: { kind: 'convert', input: { kind: 'field', path: toPath('output') }, to: 'string' },
    substr: { kind: 'literal', value: text },
    caseInsensitive: true,
  } as const;
  const query = makeQuery({ projectId: project, where, sort: newestFirst });
  const answer = queryCalls(store, query, requestBudget(60_000));
  const lines = (await Array.fromAsync(answer.json())).flat();
  const { scanned, hydrated } = answer.counts;
  return { ...answer.counts.text, scanned, hydrated, found: lines.map((json) => JSON.parse(json).id) };
};

const stored = async (project: ProjectId): Promise<Item[]> => {
  if (!store.bookkeeping) throw new Error('the store keeps no books');
  const options = { toRow: (item: Item) => item };
  const pages = await Array.fromAsync(
    readRange(store.bookkeeping, textsRange(project), options, requestBudget(60_000)),
  );
  return pages.flat().filter(({ h }) => h !== undefined);
};

const ids = (rows: readonly JsonObject[]) => rows.map(({ id }) => id);

/** A project with a call every ten minutes of a day, one of which says something that no other does. */
const prepare = async (project: ProjectId): Promise<void> => {
  const calls = Array.from({ length: 144 }, (_, i) =>
    whole(project, `call-${i}`, i * 10, {
      inputs: { question: `Where is order ${i}?` },
      output: i === 30 ? 'A zebra took it.' : 'It is on its way.',
    }),
  );
  await send(store, calls.flat());
};

describe('a search for a text', () => {
  it('notes what finished hours have, and looks at no call of those that cannot have it', async () => {
    const project = newProject();
    await prepare(project);
    waitForMarks();
    expect(await counts(project, 'xylophone')).toMatchObject({
      found: [],
      groups: 0,
      noted: 24,
      scanned: 144,
    });
    expect(await counts(project, 'xylophone')).toMatchObject({
      found: [],
      leftOut: 24,
      scanned: 0,
      hydrated: 0,
    });
    expect(await counts(project, 'A ZEBRA')).toMatchObject({
      found: ['call-30'],
      groups: 24,
      leftOut: 23,
      hydrated: 6,
    });
    expect((await counts(project, 'on its way')).found).toHaveLength(143);
  });

  it('notes nothing while hours may still change', async () => {
    const project = newProject();
    await prepare(project);
    expect(await counts(project, 'xylophone')).toMatchObject({ noted: 0 });
    expect(await stored(project)).toEqual([]);
  });

  it('notes what it has read when it is cut off, and goes on from there', async () => {
    const project = newProject();
    await prepare(project);
    waitForMarks();
    const body = { sort_by: [{ field: 'started_at', direction: 'desc' }], limit: 40 };
    const first = await search(project, containing(field('output'), 'on its way'), body);
    expect(first.found).toHaveLength(40);
    const noted = await stored(project);
    expect(noted.length).toBeGreaterThan(0);
    expect(noted.length).toBeLessThan(24);
    expect(await counts(project, 'zebra')).toMatchObject({ found: ['call-30'], noted: 24 - noted.length });
    expect(await stored(project)).toHaveLength(24);
  });

  it('forgets an hour at once when a call of it is deleted or ends otherwise, and never leaves one out', async () => {
    const project = newProject();
    await prepare(project);
    waitForMarks();
    await counts(project, 'xylophone');
    await deleteCalls(store, project, ['call-30'], requestBudget(30_000));
    expect(await stored(project)).toHaveLength(23);
    expect(await counts(project, 'zebra')).toMatchObject({ found: [] });
    const ended = { project_id: project, id: 'call-100', ended_at: at(1000), output: 'A zebra has it.' };
    await send(store, [makeEnd(ended)]);
    expect(await stored(project)).toHaveLength(22);
    expect(await counts(project, 'zebra')).toMatchObject({ found: ['call-100'], leftOut: 22 });
    await send(store, whole(project, 'late', 333, { output: 'Another zebra!' }).flat());
    expect(await counts(project, 'zebra')).toMatchObject({ found: ['call-100', 'late'] });
    waitForMarks();
    expect(await counts(project, 'zebra')).toMatchObject({ found: ['call-100', 'late'], noted: 2 });
    expect(await counts(project, 'zebra')).toMatchObject({ found: ['call-100', 'late'], leftOut: 22 });
  });

  it('keeps nothing of an hour that was marked while it was read', async () => {
    const project = newProject();
    const { bookkeeping: table } = store;
    if (!table) throw new Error('the store keeps no books');
    const maker = new GroupMaker();
    maker.add(begin * 1000, ['"a zebra"']);
    const hour = begin / 3_600_000;
    const text = { hour, from: hour, to: hour + 1, mark: 0, groups: maker.finish() };
    const storeIt = () => storeTexts(table, project, [text], () => undefined, requestBudget(30_000));
    await storeIt();
    expect(await stored(project)).toHaveLength(1);
    await send(store, whole(project, 'late', 70, { output: 'beside' }).flat());
    await storeIt();
    expect(await stored(project)).toHaveLength(1);
    await send(store, whole(project, 'late', 7, { output: 'another' }).flat());
    await storeIt();
    expect(await stored(project)).toEqual([]);
  });

  it('takes no more than 1,500 units a 100,000 calls to find nothing, and little to note them', async () => {
    const project = newProject();
    const calls = Array.from({ length: 1200 }, (_, i) =>
      whole(project, `call-${i}`, i, {
        inputs: { question: `Where is order ${i}? `.repeat(60) },
        output: 'fine',
      }),
    );
    for (let i = 0; i < calls.length; i += 100) await send(store, calls.slice(i, i + 100).flat());
    waitForMarks();
    const spent = requestBudget(60_000);
    const body = { project_id: project, query: { $expr: anywhere('xylophone') } };
    await ask(store, body, spent);
    expect(spent.meter.writeUnits / 1200).toBeLessThanOrEqual(0.1);
    const { found, units } = await search(project, anywhere('xylophone'));
    expect(found).toEqual([]);
    expect((units / 1200) * 100_000).toBeLessThanOrEqual(1500);
  });

  it('answers as if it knew nothing, in the same order', async () => {
    const value = fc.oneof(
      hostileText,
      hostileText.map((text) => [text, { [text]: text }]),
      hostileText.map((text) => ({ list: [text], number: 1.5e30 })),
    );
    const call = fc.record({
      minutes: fc.nat({ max: 600 }),
      value,
      place: fc.constantFrom('inputs', 'output', 'exception', 'attributes', 'op_name'),
      nested: fc.boolean(),
    });
    const sought = fc.record({
      of: fc.nat(),
      start: fc.nat(),
      length: fc.integer({ min: 1, max: 12 }),
      json: fc.boolean(),
      upper: fc.constantFrom('as it is', 'lower', 'upper'),
      insensitive: fc.boolean(),
      form: fc.constantFrom('any', 'column', 'path', 'and', 'not'),
      descending: fc.boolean(),
      from: fc.option(fc.nat({ max: 600 })),
      limit: fc.option(fc.integer({ min: 1, max: 3 })),
      rootsOnly: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { minLength: 1, maxLength: 30 }),
        fc.array(sought, { minLength: 4, maxLength: 12 }),
        async (calls, all) => {
          const project = newProject();
          await send(
            store,
            calls.flatMap(({ minutes, value: some, place, nested }, i) => {
              const text = typeof some === 'string' ? some : JSON.stringify(some);
              const fields = {
                op_name: place === 'op_name' ? `op ${text.replaceAll(/[\p{Cc}\p{Surrogate}]/gu, '')}` : 'op',
                inputs: place === 'inputs' ? { some } : {},
                attributes: place === 'attributes' ? { some } : {},
                output: place === 'output' ? some : null,
                exception: place === 'exception' ? text : null,
                ...(nested && { parent_id: 'a' }),
              };
              return whole(project, `call-${i}`, minutes, fields as JsonObject);
            }),
          );
          waitForMarks();
          for (const each of all) {
            const { value: some = '', place = 'output' } = calls[each.of % calls.length] ?? {};
            const text = typeof some === 'string' && !each.json ? some : JSON.stringify(some);
            const from = each.start % Math.max(1, text.length);
            const part = text.slice(from, from + each.length);
            const cased =
              each.upper === 'upper'
                ? part.toUpperCase()
                : each.upper === 'lower'
                  ? part.toLowerCase()
                  : part;
            const path = place === 'inputs' || place === 'attributes' ? `${place}.some` : place;
            const holds = {
              any: anywhere(cased),
              column: containing(asText(place), cased, each.insensitive),
              path: containing(field(path), cased, each.insensitive),
              and: {
                $and: [
                  containing(asText(place), cased, each.insensitive),
                  { $or: [anywhere(cased), { $eq: [field('id'), { $literal: 'call-0' }] }] },
                ],
              },
              not: { $not: [containing(asText(place), cased, each.insensitive)] },
            }[each.form];
            const where =
              each.from === null
                ? holds
                : { $and: [{ $gte: [field('started_at'), { $literal: at(each.from) }] }, holds] };
            const body = {
              ...(each.descending && { sort_by: [{ field: 'started_at', direction: 'desc' }] }),
              ...(each.limit !== null && { limit: each.limit }),
              ...(each.rootsOnly && { filter: { trace_roots_only: true } }),
            };
            const [known, other] = await Promise.all([
              search(project, where, body),
              search(project, where, body, plain),
            ]);
            expect(ids(known.found), JSON.stringify([cased, where, body])).toEqual(ids(other.found));
          }
        },
      ),
      { numRuns: runs(12), seed },
    );
  });
});
