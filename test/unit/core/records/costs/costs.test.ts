import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  computeCosts,
  defaultPricesSource,
  loadDefaultPrices,
  type PriceBook,
  priceBook,
} from '../../../../../core/records/costs/index.ts';
import type { JsonObject } from '../../../../../foundations/wire/index.ts';
import { makePrice, micros, noDefaults, project } from '../../../../support/values/costs.ts';

const startedAt = micros('2026-06-01T12:00:00.000001Z');
const usage = { 'gpt-x': { prompt_tokens: 10, completion_tokens: 5, requests: 2 } };

describe('what a call cost', () => {
  it('counts cached tokens at the project’s own price of them', () => {
    const cached = { prompt_tokens: 100, cache_read_input_tokens: 90, cache_creation_input_tokens: 4 };
    const total = (price: object) =>
      computeCosts(
        { 'gpt-x': cached },
        startedAt,
        priceBook(project, [makePrice({ promptTokenCost: 1, ...price })], noDefaults),
      )['gpt-x']?.prompt_tokens_total_cost;
    expect(total({})).toBe(100);
    expect(total({ cacheReadTokenCost: 0.5 })).toBe(6 + 45 + 4);
    expect(total({ cacheReadTokenCost: 0.5, cacheWriteTokenCost: 1.25 })).toBe(6 + 45 + 5);
  });

  it('is tokens × the project’s own price, with the source of the price', () => {
    const price = makePrice({ promptTokenCost: 0.25, completionTokenCostUnit: 'EUR', providerId: 'own' });
    expect(computeCosts(usage, startedAt, priceBook(project, [price], noDefaults))).toEqual({
      'gpt-x': {
        prompt_tokens: 10,
        completion_tokens: 5,
        requests: 2,
        total_tokens: 15,
        prompt_token_cost: 0.25,
        completion_token_cost: 3,
        prompt_tokens_total_cost: 2.5,
        completion_tokens_total_cost: 15,
        prompt_token_cost_unit: 'USD',
        completion_token_cost_unit: 'EUR',
        effective_date: '2026-01-01T00:00:00.000000Z',
        provider_id: 'own',
        pricing_level: 'project',
        pricing_level_id: 'acme/shop',
        created_at: '2026-01-02T00:00:00.000000Z',
        created_by: 'ada',
      },
    });
  });

  it('has no entry for a model without a price', () => {
    expect(
      computeCosts(
        { ...usage, other: { prompt_tokens: 1 } },
        startedAt,
        priceBook(project, [makePrice()], noDefaults),
      ),
    ).toHaveProperty('gpt-x');
    expect(
      computeCosts({ other: { prompt_tokens: 1 } }, startedAt, priceBook(project, [makePrice()], noDefaults)),
    ).toEqual({});
  });

  it.each([null, 7, 'usage', [], [{ prompt_tokens: 1 }], { 'gpt-x': null }, { 'gpt-x': 7 }, { 'gpt-x': [] }])(
    'is nothing for the usage %j',
    (odd) => {
      expect(computeCosts(odd, startedAt, priceBook(project, [makePrice()], noDefaults))).toEqual({});
    },
  );

  it('is known for as many models as a call can use, and for no more', () => {
    const many = Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`m-${i}`, { prompt_tokens: 1 }]));
    const any: PriceBook = (model) =>
      priceBook(project, [makePrice({ model })], noDefaults)(model, startedAt, 1);
    expect(Object.keys(computeCosts(many, startedAt, any))).toHaveLength(1000);
  });

  it('is known for a model with the name of a prototype', () => {
    const odd = JSON.parse('{"__proto__": {"prompt_tokens": 1}}') as JsonObject;
    const costs = computeCosts(
      odd,
      startedAt,
      priceBook(project, [makePrice({ model: '__proto__' })], noDefaults),
    );
    expect(Object.keys(costs)).toEqual(['__proto__']);
  });

  it('counts cached tokens like others if the price does not mention them', () => {
    const cached = { 'gpt-x': { prompt_tokens: 10, prompt_tokens_details: { cached_tokens: 4 } } };
    const costs = computeCosts(cached, startedAt, priceBook(project, [makePrice()], noDefaults));
    expect(costs['gpt-x']?.prompt_tokens_total_cost).toBe(20);
  });
});

describe('the price in force', () => {
  const costAt = (time: string, ...prices: Parameters<typeof makePrice>[0][]) =>
    computeCosts(usage, micros(time), priceBook(project, prices.map(makePrice), noDefaults))['gpt-x']
      ?.prompt_token_cost;

  it('is the newest at the call’s start, to the microsecond', () => {
    const prices = [
      { promptTokenCost: 1, effectiveDate: micros('2026-01-01') },
      { promptTokenCost: 2, effectiveDate: micros('2026-03-01T00:00:00.000001Z') },
    ];
    expect(costAt('2025-12-31T23:59:59.999999Z', ...prices)).toBeUndefined();
    expect(costAt('2026-01-01', ...prices)).toBe(1);
    expect(costAt('2026-03-01', ...prices)).toBe(1);
    expect(costAt('2026-03-01T00:00:00.000001Z', ...prices)).toBe(2);
  });

  it('is the later stored one of two with one date, then the one with the higher id', () => {
    const stored = (cost: number, day: string, id: string) => ({
      promptTokenCost: cost,
      createdAt: micros(day),
      id,
    });
    expect(costAt('2026-06-01', stored(1, '2026-02-02', 'a'), stored(2, '2026-02-01', 'b'))).toBe(1);
    expect(costAt('2026-06-01', stored(1, '2026-02-01', 'a'), stored(2, '2026-02-01', 'b'))).toBe(2);
  });

  it('matches the model’s exact name', () => {
    expect(
      costAt('2026-06-01', { model: 'gpt' }, { model: 'GPT-X' }, { model: 'gpt-x-2026-01-01' }),
    ).toBeUndefined();
  });

  it('is the default one until one of the project’s own applies', () => {
    const defaults: PriceBook = (model) => ({
      ...makePrice({ model, promptTokenCost: 7 }),
      cacheReadTokenCost: 1,
      cacheWriteTokenCost: 9,
      level: 'default',
      levelId: 'default',
    });
    const book = priceBook(project, [makePrice({ effectiveDate: micros('2026-06-02') })], defaults);
    expect(computeCosts(usage, startedAt, book)['gpt-x']).toMatchObject({
      prompt_token_cost: 7,
      pricing_level: 'default',
      pricing_level_id: 'default',
    });
    expect(computeCosts(usage, micros('2026-06-03'), book)['gpt-x']).toMatchObject({
      prompt_token_cost: 2,
      pricing_level: 'project',
    });
    const cached = { m: { input_tokens: 10, cache_read_input_tokens: 4, cache_creation_input_tokens: 3 } };
    expect(computeCosts(cached, startedAt, book).m).toMatchObject({
      prompt_tokens: 17,
      prompt_tokens_total_cost: 10 * 7 + 4 * 1 + 3 * 9,
    });
  });
});

describe('costs, for any usage and prices,', () => {
  const models = fc.constantFrom('a', 'b', 'gpt-4o');
  const costs = fc.oneof(fc.nat(100), fc.double({ min: 0, max: 1e9, noNaN: true }));
  const prices = fc
    .array(
      fc.record({
        model: models,
        promptTokenCost: costs,
        completionTokenCost: costs,
        effectiveDate: fc.integer({ min: 0, max: 5 }),
        createdAt: fc.integer({ min: 0, max: 3 }),
      }),
      { maxLength: 12 },
    )
    .map((list) => list.map((price, i) => makePrice({ ...price, id: `id-${i}` })));
  const counts = fc.tuple(fc.nat(), fc.nat());
  const time = fc.integer({ min: -1, max: 6 });
  const book = (list: ReturnType<typeof makePrice>[]) => priceBook(project, list, noDefaults);

  it('do not depend on the order of the prices', () => {
    fc.assert(
      fc.property(prices, models, time, fc.func(fc.integer()), (list, model, at, rank) => {
        const shuffled = [...list].sort((a, b) => rank(a.id) - rank(b.id));
        const used = { [model]: { prompt_tokens: 3 } };
        expect(computeCosts(used, at, book(shuffled))).toEqual(computeCosts(used, at, book(list)));
      }),
    );
  });

  it('use the last price by date, storing and id that is no later than the call', () => {
    fc.assert(
      fc.property(prices, models, time, (list, model, at) => {
        const expected = list
          .filter((price) => price.model === model && price.effectiveDate <= at)
          .reduce<(typeof list)[number] | undefined>((best, price) => {
            if (!best) return price;
            const order = [
              price.effectiveDate - best.effectiveDate,
              price.createdAt - best.createdAt,
              price.id > best.id ? 1 : -1,
            ];
            return (order.find((difference) => difference !== 0) ?? 0) > 0 ? price : best;
          }, undefined);
        const found = computeCosts({ [model]: { prompt_tokens: 3 } }, at, book(list))[model];
        expect(found?.prompt_token_cost).toBe(expected?.promptTokenCost);
        expect(found?.prompt_tokens_total_cost).toBe(expected && 3 * expected.promptTokenCost);
      }),
    );
  });

  it('are the same by either naming', () => {
    fc.assert(
      fc.property(prices, models, time, counts, (list, model, at, [prompt, completion]) => {
        const one = { [model]: { prompt_tokens: prompt, completion_tokens: completion } };
        const other = { [model]: { input_tokens: prompt, output_tokens: completion } };
        expect(computeCosts(one, at, book(list))).toEqual(computeCosts(other, at, book(list)));
      }),
    );
  });

  it('are finite, non-negative numbers that survive JSON, whatever a client sends', () => {
    const odd = fc.dictionary(
      fc.oneof(models, fc.string()),
      fc.oneof(
        fc.jsonValue(),
        fc.dictionary(
          fc.constantFrom('prompt_tokens', 'output_tokens', 'requests', 'cache_read_input_tokens'),
          fc.oneof(fc.double(), fc.maxSafeNat(), fc.jsonValue()),
        ),
      ),
    );
    fc.assert(
      fc.property(prices, odd, time, (list, used, at) => {
        const found = computeCosts(used as JsonObject, at, book(list));
        expect(JSON.parse(JSON.stringify(found))).toEqual(found);
        for (const cost of Object.values(found)) {
          expect(cost.prompt_tokens_total_cost).toBeGreaterThanOrEqual(0);
          expect(cost.completion_tokens_total_cost).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });
});

describe('with the default prices', () => {
  let defaults: PriceBook;
  beforeAll(async () => {
    defaults = await loadDefaultPrices();
  });
  const own = (used: JsonObject, at = startedAt) => computeCosts(used, at, priceBook(project, [], defaults));

  it('a call costs what the provider lists', () => {
    expect(own({ 'gpt-4o': { prompt_tokens: 1000, completion_tokens: 100 } })).toEqual({
      'gpt-4o': {
        prompt_tokens: 1000,
        completion_tokens: 100,
        requests: 1,
        total_tokens: 1100,
        prompt_token_cost: 0.0000025,
        completion_token_cost: 0.00001,
        prompt_tokens_total_cost: 0.0025,
        completion_tokens_total_cost: 0.001,
        prompt_token_cost_unit: 'USD',
        completion_token_cost_unit: 'USD',
        effective_date: null,
        provider_id: 'openai',
        pricing_level: 'default',
        pricing_level_id: 'default',
        created_at: null,
        created_by: defaultPricesSource,
      },
    });
  });

  it('cached tokens cost their listed price', () => {
    const [cached] = Object.values(
      own({ 'gpt-4o': { prompt_tokens: 1000, prompt_tokens_details: { cached_tokens: 400 } } }),
    );
    expect(cached?.prompt_tokens_total_cost).toBeCloseTo((600 * 2.5 + 400 * 1.25) / 1e6, 15);
    const [apart] = Object.values(
      own({
        'claude-sonnet-4-20250514': {
          input_tokens: 600,
          cache_read_input_tokens: 400,
          cache_creation_input_tokens: 100,
        },
      }),
    );
    expect(apart?.prompt_tokens_total_cost).toBeCloseTo((600 * 3 + 400 * 0.3 + 100 * 3.75) / 1e6, 15);
  });

  it('long prompts cost their listed price, by the tokens of one request', () => {
    const prompt = (tokens: number, requests?: number) =>
      own({ 'claude-sonnet-4-5': { input_tokens: tokens, ...(requests && { requests }) } })[
        'claude-sonnet-4-5'
      ]?.prompt_token_cost;
    expect([prompt(200_000), prompt(200_001), prompt(400_000, 2), prompt(400_002, 2)]).toEqual([
      3e-6, 6e-6, 3e-6, 6e-6,
    ]);
  });

  it('a call costs the price listed when it started', () => {
    const o3 = (time: string) => own({ o3: { prompt_tokens: 1 } }, micros(time)).o3;
    expect(o3('2025-06-09T23:59:59Z')).toMatchObject({ prompt_token_cost: 1e-5, effective_date: null });
    expect(o3('2025-06-10')).toMatchObject({
      prompt_token_cost: 2e-6,
      effective_date: '2025-06-10T00:00:00.000000Z',
    });
  });
});
