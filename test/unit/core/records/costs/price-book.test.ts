import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProvider } from '@pydantic/genai-prices';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  defaultPricesSource,
  loadDefaultPrices,
  type PriceBook,
} from '../../../../../core/records/costs/index.ts';
import { anyCharacter } from '../../../../support/values/arbitraries/character.ts';
import { micros } from '../../../../support/values/costs.ts';

const root = join(import.meta.dirname, '../../../../..');
const library = '@pydantic/genai-prices';
const time = micros('2026-06-01T12:00:00Z');

let getPrice: PriceBook;
beforeAll(async () => {
  getPrice = await loadDefaultPrices();
});

describe('the default prices', () => {
  it('are of the installed version, which the documents name', () => {
    const read = (file: string) => readFileSync(join(root, file), 'utf8');
    const installed = `${library} ${JSON.parse(read(`node_modules/${library}/package.json`)).version}`;
    expect(defaultPricesSource).toBe(installed);
    expect(`${library} ${JSON.parse(read('package.json')).dependencies[library]}`).toBe(installed);
    const named = [...read('docs/model-prices.md').matchAll(/@pydantic\/genai-prices`? (\d+\.\d+\.\d+)/g)];
    expect(named.length).toBeGreaterThan(0);
    for (const [, version] of named) expect(`${library} ${version}`).toBe(installed);
  });

  it.each([
    ['gpt-4o', 'openai', 2.5e-6],
    ['GPT-4o', 'openai', 2.5e-6],
    ['gpt-4o-2024-08-06', 'openai', 2.5e-6],
    ['openai/gpt-4o', 'openai', 2.5e-6],
    ['azure/gpt-4o', 'azure', 2.5e-6],
    ['gpt-4o-mini', 'openai', 1.5e-7],
    ['text-embedding-3-small', 'openai', 2e-8],
    ['ft:gpt-4o-mini-2024-07-18:acme::abc', 'openai', 3e-7],
    ['models/gemini-2.5-flash', 'google', 3e-7],
    ['gemini/gemini-2.5-flash', 'google', 3e-7],
    ['claude-sonnet-4-20250514', 'anthropic', 3e-6],
    ['anthropic/claude-3-5-sonnet-20241022', 'anthropic', 3e-6],
    ['us.anthropic.claude-sonnet-4-20250514-v1:0', 'aws', 3e-6],
    ['bedrock/us.anthropic.claude-sonnet-4-20250514-v1:0', 'aws', 3e-6],
    ['amazon.nova-pro-v1:0', 'aws', 8e-7],
    ['openrouter/anthropic/claude-3.5-sonnet', 'openrouter', 3e-6],
  ])('know %s as %s’s', (model, providerId, promptTokenCost) => {
    expect(getPrice(model, time, 1)).toMatchObject({ providerId, promptTokenCost });
  });

  it.each([
    '',
    ' ',
    'my-model',
    'my-gpt-4o',
    '/',
    'models/',
    'openai/',
    'llama3:8b',
    'whisper-1',
    'constructor',
  ])('know nothing of %j', (model) => {
    expect(getPrice(model, time, 1)).toBeUndefined();
  });

  it.each([
    ['gpt-4o-mini-2026-01-01', 'gpt-4o-mini'],
    ['gpt-5-2026-03-03', 'gpt-5'],
    ['GPT-5-2026-03-03', 'gpt-5'],
    ['gpt-5-20260303', 'gpt-5'],
    ['openai/gpt-5-2026-03-03', 'openai/gpt-5'],
    ['azure/gpt-5-2026-03-03', 'azure/gpt-5'],
    ['o3-2026-02-28', 'o3'],
    ['gpt-4-0914', 'gpt-4'],
    ['text-embedding-3-small-2026-01-01', 'text-embedding-3-small'],
    ['ft:gpt-4o-mini-2026-07-18:acme::abc', 'ft:gpt-4o-mini-2024-07-18:acme::abc'],
    ['claude-sonnet-4-5-20260101', 'claude-sonnet-4-5'],
    ['claude-opus-4-1@20260101', 'claude-opus-4-1'],
    ['openrouter/anthropic/claude-3.5-sonnet-20260101', 'openrouter/anthropic/claude-3.5-sonnet'],
    ['gemini-2.5-flash-preview-11-2026', 'gemini-2.5-flash'],
    ['gemini-2.5-flash-preview-12-31', 'gemini-2.5-flash'],
    ['models/gemini-2.5-flash-002', 'gemini-2.5-flash'],
    ['us.anthropic.claude-sonnet-4-20260514-v1:0', 'us.anthropic.claude-sonnet-4-20250514-v1:0'],
    ['bedrock/eu.anthropic.claude-haiku-4-5-20270101-v1:0', 'eu.anthropic.claude-haiku-4-5-20251001-v1:0'],
    ['global.anthropic.claude-sonnet-4-5-20260514-v1:0', 'global.anthropic.claude-sonnet-4-5-20250929-v1:0'],
    ['mistral-small-2612', 'mistral-small-2603'],
    ['mistral-large-2612', 'mistral-large'],
    ['grok-4-0909', 'grok-4'],
  ])('give %s, a snapshot that the table does not know, the price of %s', (model, known) => {
    const price = getPrice(model, time, 1);
    expect(price).toBeDefined();
    expect(price).toEqual(getPrice(known, time, 1));
  });

  it.each([
    ['gpt-4o-2024-05-13', 'gpt-4o'],
    ['mistral-large-2512', 'mistral-large'],
    ['gpt-3.5-turbo-0613', 'gpt-3.5-turbo'],
  ])('give %s, a snapshot of another price, not that of %s', (model, other) => {
    expect(getPrice(model, time, 1)?.promptTokenCost).not.toBe(getPrice(other, time, 1)?.promptTokenCost);
  });

  it.each([
    'my-model-2026-01-01',
    'gpt-5-2026-13-01',
    'gpt-5-2026-01-32',
    'gpt-5-12026-01-01',
    'gpt-5.99-2026-01-01',
    '-2026-01-01',
    'gpt-5-2026-03-03-mine',
  ])('know nothing of %j, which is no snapshot of a model', (model) => {
    expect(getPrice(model, time, 1)).toBeUndefined();
  });

  it('follow the prices of a model over time for its snapshots, too', () => {
    const o3 = (day: string) => getPrice('o3-2026-02-28', micros(day), 1)?.promptTokenCost;
    expect([o3('2025-06-09'), o3('2025-06-10')]).toEqual([1e-5, 2e-6]);
  });

  it('accept no longer name than a project’s own price does', () => {
    const longest = `claude-3-opus${'x'.repeat(243)}`;
    expect(getPrice(longest, time, 1)).toMatchObject({ providerId: 'anthropic' });
    expect(getPrice(`${longest}x`, time, 1)).toBeUndefined();
  });

  it('depend on the time even if the same model was priced before', () => {
    const o3 = (day: string) => getPrice('o3', micros(day), 1)?.promptTokenCost;
    expect([o3('2025-06-09'), o3('2025-06-10'), o3('2025-06-09')]).toEqual([1e-5, 2e-6, 1e-5]);
  });

  it('follow prices that change with the time of day', () => {
    const at = (hour: string) => getPrice('deepseek-chat', micros(`2026-06-01T${hour}:00:00Z`), 1);
    expect(at('20')?.promptTokenCost).toBeLessThan(at('12')?.promptTokenCost ?? 0);
    expect(at('20')?.effectiveDate).toBeNull();
  });

  it('are finite, non-negative numbers for every model of every large provider at any time', () => {
    for (const providerId of [
      'openai',
      'anthropic',
      'google',
      'aws',
      'azure',
      'mistral',
      'deepseek',
      'openrouter',
    ]) {
      const { models } = findProvider({ providerId }) ?? { models: [] };
      expect(models.length).toBeGreaterThan(5);
      for (const { id } of models) {
        for (const tokens of [1, 1e6]) {
          const price = getPrice(`${providerId}/${id}`, time, tokens) ?? {
            promptTokenCost: 0,
            completionTokenCost: 0,
            cacheReadTokenCost: 0,
            cacheWriteTokenCost: 0,
          };
          const costs = [
            price.promptTokenCost,
            price.completionTokenCost,
            price.cacheReadTokenCost,
            price.cacheWriteTokenCost,
          ];
          for (const cost of costs) expect(cost >= 0 && cost < 0.01).toBe(true);
        }
      }
    }
  });

  it('never fail, whatever the name of the model and the start of the call', () => {
    const prefix = fc.constantFrom(
      '',
      'openai/',
      'models/',
      'gpt-',
      'claude',
      'us.anthropic.',
      'litellm/',
      'gemini',
    );
    const names = fc
      .tuple(prefix, fc.string({ unit: anyCharacter, maxLength: 260 }))
      .map((parts) => parts.join(''));
    const times = fc.integer({ min: -(2 ** 53 - 1), max: 2 ** 53 - 1 });
    fc.assert(
      fc.property(names, times, fc.maxSafeNat(), (model, startedAt, tokens) => {
        const price = getPrice(model, startedAt, tokens);
        expect(price === undefined || price.promptTokenCost >= 0).toBe(true);
      }),
    );
  });
});
