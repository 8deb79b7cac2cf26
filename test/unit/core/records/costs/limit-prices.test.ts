import { beforeAll, describe, expect, it } from 'vitest';
import {
  type LimitPrices,
  limitPrices,
  loadDefaultPrices,
  type PriceBook,
  priceBook,
} from '../../../../../core/records/costs/index.ts';
import { parseProjectId } from '../../../../../foundations/wire/index.ts';
import { micros } from '../../../../support/values/costs.ts';

const now = micros('2026-06-01T12:00:00Z');
const projectId = parseProjectId('acme/shop');
if (!projectId) throw new Error('no project id');

interface Own {
  readonly prompt: number;
  readonly completion: number;
  readonly unit?: string;
  readonly from?: string;
}

let defaults: PriceBook;
beforeAll(async () => {
  defaults = await loadDefaultPrices();
});

const pricesWith = (own: Readonly<Record<string, Own>>): LimitPrices => {
  const prices = Object.entries(own).map(
    ([model, { prompt, completion, unit = 'USD', from = '2020-01-01' }], i) => ({
      model,
      id: String(i),
      promptTokenCost: prompt,
      completionTokenCost: completion,
      promptTokenCostUnit: unit,
      completionTokenCostUnit: unit,
      effectiveDate: micros(`${from}T00:00:00Z`),
      providerId: 'default',
      createdAt: now,
      createdBy: 'ada',
    }),
  );
  return limitPrices(
    priceBook(projectId, prices, () => undefined),
    defaults,
  );
};

const listed = { promptTokenCost: 1.5e-7, completionTokenCost: 6e-7 };
const model = 'gpt-4o-mini';

describe('the price by which limits count', () => {
  it.each<[string, Own | null, object]>([
    ['nothing', null, listed],
    ['less', { prompt: 0, completion: 0 }, listed],
    ['more', { prompt: 1, completion: 2 }, { promptTokenCost: 1, completionTokenCost: 2 }],
    ['less of one and more of another', { prompt: 0, completion: 1 }, { ...listed, completionTokenCost: 1 }],
    ['another currency', { prompt: 1, completion: 1, unit: 'EUR' }, listed],
    ['more from tomorrow on', { prompt: 1, completion: 1, from: '2026-06-02' }, listed],
  ])('is the larger of both where a project says %s', (_, own, expected) => {
    const prices = pricesWith(own ? { [model]: own } : {});
    expect(prices([model], now, 1)).toMatchObject(expected);
  });

  it('is of cached tokens the larger, too', () => {
    const prices = pricesWith({ [model]: { prompt: 1e-8, completion: 1e-8 } });
    expect(prices([model], now, 1)?.cacheReadTokenCost).toBe(7.5e-8);
    expect(prices([model], now, 1)?.cacheWriteTokenCost).toBe(1.5e-7);
  });

  it('is that of a name that has one, and no less than what is listed of a later one', () => {
    const prices = pricesWith({ mine: { prompt: 1e-9, completion: 1 }, dear: { prompt: 5, completion: 5 } });
    expect(prices(['mine'], now, 1)).toMatchObject({ promptTokenCost: 1e-9, completionTokenCost: 1 });
    expect(prices(['mine', model], now, 1)).toMatchObject({ ...listed, completionTokenCost: 1 });
    expect(prices(['unknown', 'mine'], now, 1)).toMatchObject({ promptTokenCost: 1e-9 });
    expect(prices([model, 'dear'], now, 1)).toMatchObject(listed);
    expect(prices(['unknown'], now, 1)).toBeUndefined();
  });

  it('is that of the model itself for a snapshot that nobody knows', () => {
    const prices = pricesWith({ 'gpt-4o-mini-2026-01-01': { prompt: 0, completion: 0 } });
    expect(prices(['gpt-4o-mini-2026-01-01'], now, 1)).toMatchObject(listed);
  });
});
