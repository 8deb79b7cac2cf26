import { findProvider, type TieredPrices } from '@pydantic/genai-prices';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { neverReached } from '../../../../../core/doors/inference/index.ts';
import { findMostExpensive, tokensAtMost } from '../../../../../core/doors/inference/spending.ts';
import { upstreamTimedOut, upstreamUnreachable } from '../../../../../core/doors/inference/upstream.ts';
import { askForUsage, withoutUsage } from '../../../../../core/doors/inference/usage.ts';
import { dearestDefault, loadDefaultPrices } from '../../../../../core/records/costs/index.ts';

const model = 'm';

describe('the tokens of a request', () => {
  it.each([
    ['/chat/completions', { max_tokens: 10 }, 10],
    ['/chat/completions', { max_tokens: 10, max_completion_tokens: 20, n: 3 }, 60],
    ['/chat/completions', { max_output_tokens: 10 }, 4096],
    ['/chat/completions', { max_tokens: null }, 4096],
    ['/completions', { max_tokens: 10, n: 2, best_of: 5, prompt: ['a', 'b', 'c'] }, 150],
    ['/completions', { max_tokens: 10, prompt: [1, 2, 3] }, 10],
    ['/responses', { max_output_tokens: 10 }, 10],
    ['/responses', { max_tokens: 10 }, 4096],
    ['/embeddings', { input: 'a' }, 0],
  ] as const)('of %s with %j are at most so many in the answer: %d', (path, body, most) => {
    expect(tokensAtMost(path, { model, ...body }).completion).toBe(most);
  });

  it('are no more in the prompt than the body has bytes', () => {
    const body = { model, messages: [{ role: 'user', content: 'Schön ☀️' }] };
    expect(tokensAtMost('/chat/completions', body).prompt).toBe(Buffer.byteLength(JSON.stringify(body)));
  });
});

describe('of the models that may be asked one after the other', () => {
  const dearest = async (models: readonly string[], body: object) => {
    const defaults = await loadDefaultPrices();
    const prices = (names: readonly string[], at: number, tokens: number) =>
      names.map((name) => defaults(name, at, tokens)).find((price) => price !== undefined);
    const request = { path: '/chat/completions', body: { model, ...body }, prices, now: Date.now() } as const;
    return findMostExpensive(models, request);
  };

  it('the dearest is that whose answer can cost most', async () => {
    expect(await dearest(['gpt-4o-mini', 'o1-pro', 'gpt-4o'], { max_tokens: 100 })).toBe('o1-pro');
    expect(await dearest(['gpt-4o-mini'], {})).toBe('gpt-4o-mini');
    expect(await dearest([], {})).toBeUndefined();
  });

  it('one without a price goes before all, so that limits refuse it', async () => {
    expect(await dearest(['o1-pro', 'nobody-knows-it'], {})).toBe('nobody-knows-it');
  });
});

const makeChunk = (choices: object[], usage: unknown) => `data: ${JSON.stringify({ choices, usage })}\n\n`;

describe('a stream whose client did not ask for its usage', () => {
  const text = makeChunk([{ delta: { content: 'Schön "usage" ☀️' } }], null);
  const usage = makeChunk([], { prompt_tokens: 1 });
  const others = [
    makeChunk([], undefined),
    makeChunk([{ delta: {} }], { prompt_tokens: 1 }),
    ': a comment\r\n\r\n',
    `data: ${'"usage"'.repeat(20_000)}\n\n`,
    'data: {"choices": [], "usage": 1}\r\rdata: [DONE]\n\n',
  ];

  it('has every byte but that chunk, wherever it is split', async () => {
    const events = fc.array(fc.constantFrom(text, usage, ...others), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        events,
        fc.integer({ min: 1, max: 100_000 }),
        fc.boolean(),
        async (list, size, ends) => {
          const whole = list.join('') + (ends ? usage.trimEnd() : '');
          const bytes = Buffer.from(whole);
          const filter = withoutUsage();
          const step = Math.max(size, Math.ceil(bytes.length / 500));
          for (let at = 0; at < bytes.length; at += step) filter.write(bytes.subarray(at, at + step));
          filter.end();
          const passed = Buffer.concat(await filter.toArray()).toString('utf8');
          expect(passed).toBe(list.filter((one) => one !== usage).join(''));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('is asked for it, and keeps its own options', () => {
    const body = { model, stream: true, stream_options: { include_obfuscation: false } };
    expect(askForUsage('/chat/completions', body)).toEqual({
      body: { ...body, stream_options: { include_obfuscation: false, include_usage: true } },
      withholdsUsage: true,
    });
    expect(askForUsage('/responses', body)).toEqual({ body, withholdsUsage: false });
    expect(askForUsage('/completions', { model })).toEqual({ body: { model }, withholdsUsage: false });
  });
});

it('a request that reached no upstream is free, and one that may have is not', () => {
  const refused = Object.assign(new Error('refused'), { syscall: 'connect' });
  expect(neverReached(upstreamUnreachable('u', refused))).toBe(true);
  expect(neverReached(upstreamUnreachable('u', new Error('no connection within 5000 ms')))).toBe(true);
  expect(neverReached(upstreamUnreachable('u', new Error('socket hang up')))).toBe(false);
  expect(neverReached(upstreamTimedOut('u', 1, false))).toBe(false);
});

it('no model of a provider is dearer than the dearest', async () => {
  const dearest = await dearestDefault();
  const highestPrice = (price: number | TieredPrices | undefined): number =>
    typeof price === 'object' ? Math.max(price.base, ...price.tiers.map((tier) => tier.price)) : (price ?? 0);
  for (const providerId of [
    'openai',
    'anthropic',
    'google',
    'aws',
    'azure',
    'mistral',
    'openrouter',
    'x-ai',
  ]) {
    const { models = [] } = findProvider({ providerId }) ?? {};
    expect(models.length, providerId).toBeGreaterThan(0);
    for (const { prices } of models)
      for (const terms of Array.isArray(prices) ? prices.map((one) => one.prices) : [prices]) {
        for (const input of ['input_mtok', 'cache_read_mtok', 'cache_write_mtok'])
          expect(highestPrice(terms[input]) / 1e6).toBeLessThanOrEqual(dearest.promptTokenCost);
        expect(highestPrice(terms.output_mtok) / 1e6).toBeLessThanOrEqual(dearest.completionTokenCost);
      }
  }
});
