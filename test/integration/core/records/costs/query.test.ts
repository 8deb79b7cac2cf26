import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { PriceRow } from '../../../../../api/costs.ts';
import { type CostsQuery, priceKind } from '../../../../../api/costs.ts';
import { createPrices, queryPrices } from '../../../../../core/records/costs/index.ts';
import { sortPrices } from '../../../../../core/records/costs/query.ts';
import { type Expression, toPath } from '../../../../../foundations/expression/index.ts';
import { requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import { createStores } from '../../../../support/service/stores.ts';
import { makeCreate, micros, project } from '../../../../support/values/costs.ts';

let store: Pick<Store, 'table'>;
beforeAll(async () => {
  const { dynamodb, costsTable } = await createStores();
  store = { table: { client: dynamodb, name: costsTable } };
  const prices = makeCreate(
    { model: 'b', promptTokenCost: 10, effectiveDate: micros('2026-01-03') },
    { model: 'a', promptTokenCost: 9, effectiveDate: micros('2026-01-02') },
    { model: 'a', promptTokenCost: 10, effectiveDate: micros('2026-01-04') },
    { model: '\u{1f600}', promptTokenCost: 1, effectiveDate: micros('2026-01-01') },
    { model: '\uffee', promptTokenCost: 1, effectiveDate: micros('2026-01-05') },
  );
  await createPrices(store, prices, 'ada', requestBudget(30_000));
});

const query = (asked: Partial<CostsQuery> = {}) =>
  queryPrices(
    store,
    { projectId: project, fields: null, where: null, sort: [], limit: null, offset: 0, ...asked },
    requestBudget(30_000),
  );
const by = (...keys: [field: string, direction: 'asc' | 'desc'][]) =>
  keys.map(([field, direction]) => ({ path: toPath(field), descending: direction === 'desc' }));
const whereModel = (model: string): Expression => ({
  kind: 'compare',
  operator: '$eq',
  left: { kind: 'field', path: toPath('llm_id') },
  right: { kind: 'literal', value: model },
});
const days = async (asked: Partial<CostsQuery>) =>
  (await query(asked)).map(({ effective_date }) => effective_date?.slice(8, 10));

describe('a query for prices', () => {
  it('gives all of a project in the order of their ids, which is that of their dates', async () => {
    const rows = await query();
    expect(rows[1]).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      llm_id: 'a',
      prompt_token_cost: 9,
      completion_token_cost: 3,
      prompt_token_cost_unit: 'USD',
      completion_token_cost_unit: 'USD',
      effective_date: '2026-01-02T00:00:00.000000Z',
      provider_id: 'default',
    });
    expect(await days({})).toEqual(['01', '02', '03', '04', '05']);
  });

  it('gives those that match', async () => {
    expect(await days({ where: whereModel('a') })).toEqual(['02', '04']);
  });

  it('sorts numbers as numbers and texts by code point, by several keys, and ties by id', async () => {
    expect(await days({ sort: by(['prompt_token_cost', 'asc']) })).toEqual(['01', '05', '02', '03', '04']);
    expect(await days({ sort: by(['prompt_token_cost', 'desc']) })).toEqual(['03', '04', '02', '01', '05']);
    expect(
      await days({
        sort: by(['llm_id', 'asc'], ['effective_date', 'desc']),
      }),
    ).toEqual(['04', '02', '03', '05', '01']);
  });

  it('skips and limits', async () => {
    expect(await days({ offset: 1, limit: 2 })).toEqual(['02', '03']);
    expect(await days({ offset: 4 })).toEqual(['05']);
    expect(await days({ offset: 9, limit: 1 })).toEqual([]);
    expect(await days({ limit: 0 })).toEqual([]);
  });

  it('gives the requested fields in the requested order', async () => {
    const [row] = await query({ fields: ['effective_date', 'llm_id', 'llm_id'], limit: 1 });
    expect(Object.entries(row ?? {})).toEqual([
      ['llm_id', '\u{1f600}'],
      ['effective_date', '2026-01-01T00:00:00.000000Z'],
    ]);
    expect(await query({ fields: [], limit: 1 })).toEqual([{}]);
  });
});

describe('the order of prices', () => {
  it('is total for any keys', async () => {
    const rows = (await query()) as PriceRow[];
    const keys = fc.array(fc.tuple(fc.constantFrom(...priceKind().fields), fc.constantFrom('asc', 'desc')), {
      maxLength: 4,
    });
    const shuffled = fc.shuffledSubarray(rows, { minLength: rows.length });
    fc.assert(
      fc.property(shuffled, shuffled, keys, (some, others, sort) => {
        expect(sortPrices(some, by(...sort))).toEqual(sortPrices(others, by(...sort)));
      }),
    );
  });
});
