import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTokens } from '../../../../api/shared/usage.ts';
import { computeCosts, priceBook } from '../../../../core/records/costs/index.ts';
import { type JsonObject, parseJson } from '../../../../foundations/wire/index.ts';
import { usages } from '../../../support/otel/usages.ts';
import { makePrice, micros, noDefaults, project } from '../../../support/values/costs.ts';

const nothing = {
  prompt: 0,
  cacheRead: 0,
  cacheWrite: 0,
  completion: 0,
  reasoning: 0,
  total: 0,
  requests: 1,
};

describe('the tokens of a usage', () => {
  it.each<[string, JsonObject, object]>([
    [
      'OpenAI’s names',
      { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
      { prompt: 7, completion: 5, total: 12 },
    ],
    ['Anthropic’s names', { input_tokens: 7, output_tokens: 5 }, { prompt: 7, completion: 5, total: 12 }],
    ['a prompt alone', { prompt_tokens: 7 }, { prompt: 7, total: 7 }],
    [
      'both names, of which the larger counts',
      { prompt_tokens: 0, input_tokens: 7 },
      { prompt: 7, total: 7 },
    ],
    [
      'cached tokens beside fewer others, in the form of Bedrock, whose total leaves them out',
      { inputTokens: 1000, outputTokens: 200, totalTokens: 1200, cacheReadInputTokens: 400 },
      { prompt: 1400, cacheRead: 400, completion: 200, total: 1600 },
    ],
    ['a total of its own', { input_tokens: 7, total_tokens: 9 }, { prompt: 7, total: 9 }],
    ['requests', { requests: 3 }, { requests: 3 }],
    [
      'reasoning among the tokens of the answer',
      { output_tokens: 9, output_tokens_details: { reasoning_tokens: 4 } },
      { completion: 9, reasoning: 4, total: 9 },
    ],
    [
      'more reasoning than there are tokens of the answer',
      { completion_tokens: 3, reasoning_tokens: 4 },
      { completion: 3, reasoning: 3, total: 3 },
    ],
    [
      'cached tokens among those of the prompt',
      { prompt_tokens: 10, prompt_tokens_details: { cached_tokens: 4 } },
      { prompt: 10, cacheRead: 4, total: 10 },
    ],
    [
      'cached tokens among those of the input',
      { input_tokens: 10, input_tokens_details: { cached_tokens: 4 } },
      { prompt: 10, cacheRead: 4, total: 10 },
    ],
    [
      'cached tokens that Anthropic counts apart',
      { input_tokens: 10, cache_read_input_tokens: 4, cache_creation_input_tokens: 3, output_tokens: 1 },
      { prompt: 17, cacheRead: 4, cacheWrite: 3, completion: 1, total: 18 },
    ],
    [
      'Anthropic’s cached tokens beside a prompt that has them already',
      { prompt_tokens: 17, cache_read_input_tokens: 4, cache_creation_input_tokens: 3 },
      { prompt: 17, cacheRead: 4, cacheWrite: 3, total: 17 },
    ],
    [
      'more cached tokens than there are',
      { prompt_tokens: 5, prompt_tokens_details: { cached_tokens: 9 }, cache_creation_input_tokens: 2 },
      { prompt: 5, cacheRead: 5, cacheWrite: 0, total: 5 },
    ],
  ])('by %s', (_name, usage, expected) => {
    expect(readTokens(usage)).toEqual({ ...nothing, ...expected });
  });

  it.each<[string, JsonObject]>([
    ['text', { prompt_tokens: '7', output_tokens: 'many' }],
    ['negative', { prompt_tokens: -1, completion_tokens: -0.5, total_tokens: -9, requests: -1 }],
    ['null, lists and objects', { input_tokens: null, output_tokens: [3], prompt_tokens_details: 4 }],
    ['huge', { prompt_tokens: 1e300, total_tokens: Number.MAX_VALUE, requests: 2 ** 53 }],
    ['missing', {}],
    ['inherited', JSON.parse('{"__proto__": {"prompt_tokens": 7}}')],
  ])('that are %s count for nothing', (_name, usage) => {
    expect(readTokens(usage)).toEqual(nothing);
  });

  it('are counts whatever a client sends, with cached tokens among those of the prompt', () => {
    const value = fc.oneof(fc.jsonValue(), fc.nat(), fc.record({ cached_tokens: fc.jsonValue() }));
    const names = [
      'prompt_tokens',
      'input_tokens',
      'completion_tokens',
      'output_tokens',
      'total_tokens',
      'requests',
      'prompt_tokens_details',
      'input_tokens_details',
      'cache_read_input_tokens',
      'cache_creation_input_tokens',
    ];
    const usages = fc.dictionary(fc.constantFrom(...names), value);
    fc.assert(
      fc.property(usages, (usage) => {
        const tokens = readTokens(usage as JsonObject);
        for (const count of Object.values(tokens)) expect(Number.isFinite(count) && count >= 0).toBe(true);
        expect(tokens.cacheRead + tokens.cacheWrite).toBeLessThanOrEqual(tokens.prompt);
      }),
    );
  });
});

describe('counts', () => {
  it('are read of numbers that the service keeps with their text', () => {
    const usage = parseJson('{"input_tokens": 7.0, "output_tokens": {"valueOf": 5}}');
    expect(readTokens(usage as object)).toMatchObject({ prompt: 7, completion: 0, total: 7 });
  });
});

describe('one request', () => {
  it.each(usages)('is the same in the shape of %s, and costs the same', (_name, usage, written) => {
    expect(readTokens(usage)).toMatchObject({
      prompt: 6600,
      cacheRead: 5000,
      cacheWrite: written,
      completion: 200,
      total: 6800,
      requests: 1,
    });
    const price = makePrice({
      promptTokenCost: 3e-6,
      cacheReadTokenCost: 0.3e-6,
      cacheWriteTokenCost: 3.75e-6,
      completionTokenCost: 15e-6,
    });
    const costs = computeCosts(
      { 'gpt-x': usage as JsonObject },
      micros('2026-06-01'),
      priceBook(project, [price], noDefaults),
    );
    // 1,000 × $3 + 5,000 × $0.30 + 600 × $3.75 (or $3) + 200 × $15, a million
    expect(costs['gpt-x']?.prompt_tokens_total_cost).toBeCloseTo(written > 0 ? 0.00675 : 0.0063, 12);
    expect(costs['gpt-x']?.completion_tokens_total_cost).toBeCloseTo(0.003, 12);
  });
});
