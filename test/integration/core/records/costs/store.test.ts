import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  createPrices,
  type PriceTerms,
  purgePrices,
  readPrices,
} from '../../../../../core/records/costs/index.ts';
import { fromItem, toItem } from '../../../../../core/records/costs/store.ts';
import {
  asBytes,
  asText,
  queryPage,
  requestBudget,
  type Store,
} from '../../../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../../../foundations/wire/index.ts';
import { createStores } from '../../../../support/service/stores.ts';
import { makeCreate, makePrice, makeTerms, micros, project } from '../../../../support/values/costs.ts';

let store: Pick<Store, 'table'>;
beforeAll(async () => {
  const { dynamodb, costsTable } = await createStores();
  store = { table: { client: dynamodb, name: costsTable } };
});

let projects = 0;
/** A project that no other test has. */
const newProject = (): ProjectId => `acme/costs-${projects++}` as ProjectId;
const create = (projectId: ProjectId, ...terms: Partial<PriceTerms>[]) =>
  createPrices(store, { ...makeCreate(...terms), projectId }, 'ada', requestBudget(30_000));
const read = (projectId: ProjectId) => readPrices(store, projectId, requestBudget(30_000));

describe('prices that were created', () => {
  it('are read back in the order of their effective dates', async () => {
    const own = newProject();
    const terms = [
      makeTerms({
        model: 'b',
        effectiveDate: micros('2026-02-01T00:00:00.123456Z'),
        promptTokenCost: 5e-324,
      }),
      makeTerms({
        model: 'a',
        effectiveDate: micros('2026-01-01'),
        completionTokenCost: 0.1 + 0.2,
        providerId: '日本',
      }),
      makeTerms({ model: 'c', effectiveDate: micros('1960-01-01'), promptTokenCostUnit: 'EUR' }),
    ];
    const before = Date.now() * 1000;
    const answer = await create(own, ...terms);
    expect(answer.map(([model]) => model)).toEqual(['b', 'a', 'c']);
    const prices = await read(own);
    expect(prices).toEqual(
      [2, 1, 0].map((i) => ({
        ...terms[i],
        id: answer[i]?.[1],
        createdAt: expect.any(Number),
        createdBy: 'ada',
      })),
    );
    for (const { createdAt } of prices) expect(createdAt).toBeGreaterThanOrEqual(before);
  });

  it('have UUIDv7s of the server', async () => {
    const [[, id] = []] = await create(newProject(), {});
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('belong to their project, even beside one whose name starts alike', async () => {
    const own = newProject();
    const other = newProject();
    await create(own, {});
    await create(`${own}0` as ProjectId, {}, { model: 'more' });
    expect(await read(own)).toHaveLength(1);
    expect(await read(other)).toEqual([]);
  });

  it('can be created again without a trace', async () => {
    const own = newProject();
    const first = await create(own, {}, { model: 'other' });
    const before = await read(own);
    expect(await create(own, {}, { model: 'other' })).toEqual(first);
    expect(await read(own)).toEqual(before);
  });

  it('keep their position when an earlier one is created again', async () => {
    const own = newProject();
    const [[, wrong] = []] = await create(own, { promptTokenCost: 1 });
    const [[, right] = []] = await create(own, { promptTokenCost: 2 });
    await create(own, { promptTokenCost: 1 });
    const created = new Map((await read(own)).map(({ id, createdAt }) => [id, createdAt]));
    expect(created.get(right ?? '')).toBeGreaterThanOrEqual(created.get(wrong ?? '') ?? Number.NaN);
    expect(created.size).toBe(2);
  });

  it('are one if several clients create them at once', async () => {
    const own = newProject();
    await Promise.all(Array.from({ length: 8 }, () => create(own, {}, { model: 'other' })));
    expect(await read(own)).toHaveLength(2);
  });

  it('differ if any of their terms differs', async () => {
    const own = newProject();
    const changes: Partial<PriceTerms>[] = [
      {},
      { model: 'other' },
      { promptTokenCost: 9 },
      { completionTokenCost: 9 },
      { promptTokenCostUnit: 'EUR' },
      { completionTokenCostUnit: 'EUR' },
      { effectiveDate: micros('2026-01-01T00:00:00.000001Z') },
      { providerId: 'other' },
    ];
    for (const change of changes) await create(own, change);
    expect(await read(own)).toHaveLength(changes.length);
  });

  it('can be more than DynamoDB gives at once', async () => {
    const own = newProject();
    const long = 'x'.repeat(250);
    const terms = Array.from({ length: 2000 }, (_, i) => ({
      model: `${long}${i}`,
      providerId: long,
      promptTokenCostUnit: long,
      completionTokenCostUnit: long,
    }));
    await create(own, ...terms);
    const spent = requestBudget(30_000);
    expect(new Set((await readPrices(store, own, spent)).map(({ model }) => model)).size).toBe(2000);
    expect(spent.meter.requests).toBeGreaterThan(1);
  });
});

describe('purging', () => {
  it('deletes the prices with the ids and no others', async () => {
    const own = newProject();
    const created = await create(own, ...Array.from({ length: 60 }, (_, i) => ({ model: `m${i}` })));
    const ids = created.map(([, id]) => id);
    await purgePrices(store, own, ids.slice(0, 40), requestBudget(30_000));
    expect((await read(own)).map(({ id }) => id).sort()).toEqual(ids.slice(40).sort());
  });

  it('ignores unknown ids and other texts, and can be repeated', async () => {
    const own = newProject();
    const other = newProject();
    const [[, id = ''] = []] = await create(own, {});
    const [[, foreign = ''] = []] = await create(other, {});
    const noIds = [
      'nothing',
      id.toUpperCase(),
      `{${id}}`,
      '-'.repeat(36),
      '019a0000-0000-7000-8000-000000000000',
      foreign,
    ];
    await purgePrices(store, own, noIds, requestBudget(30_000));
    await purgePrices(store, own, [], requestBudget(30_000));
    expect(await read(own)).toHaveLength(1);
    expect(await read(other)).toHaveLength(1);
    for (let times = 0; times < 2; times++) await purgePrices(store, own, [id], requestBudget(30_000));
    expect(await read(own)).toEqual([]);
  });
});

describe('an item', () => {
  it('restores the exact price that it was made of', () => {
    const time = fc.integer({ min: micros('1700-01-01'), max: micros('2250-01-01') });
    const cost = fc.double({ min: 0, max: 1e9, noNaN: true });
    fc.assert(
      fc.property(
        fc.uuid({ version: 7 }),
        cost,
        cost,
        time,
        time,
        (id, promptTokenCost, completionTokenCost, effectiveDate, createdAt) => {
          const price = makePrice({ id, promptTokenCost, completionTokenCost, effectiveDate, createdAt });
          // Of -0 only the 0 is kept, which is the same price.
          expect(JSON.stringify(fromItem(toItem(project, price)))).toBe(JSON.stringify(price));
        },
      ),
    );
  });

  it.each(['p', 'model', 'prompt', 'completion', 'effective', 'createdAt'])(
    'without %s is damaged, not a free model',
    (name) => {
      const { [name]: _gone, ...item } = toItem(
        project,
        makePrice({ id: '019a0000-0000-7000-8000-000000000000' }),
      );
      expect(() => fromItem(item)).toThrow(`damaged: ${name}`);
      if (name !== 'p')
        expect(() => fromItem({ ...item, [name]: 'x', ...(name === 'model' && { model: 1 }) })).toThrow(
          'damaged',
        );
    },
  );

  it('takes less than 300 bytes', async () => {
    const own = newProject();
    await create(own, {
      model: 'claude-sonnet-4-20250514',
      promptTokenCost: 0.000003,
      completionTokenCost: 0.000015,
    });
    const { items } = await queryPage(
      store.table,
      { partition: ['k', Buffer.from(own)] },
      requestBudget(30_000),
    );
    const bytes = items
      .flatMap((item) => Object.entries(item))
      .reduce(
        (sum, [name, value]) => sum + name.length + (asText(value)?.length ?? asBytes(value)?.length ?? 0),
        0,
      );
    expect(bytes).toBeLessThan(300);
  });
});
