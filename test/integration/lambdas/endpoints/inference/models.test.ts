import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProjectId } from '../../../../../foundations/wire/index.ts';
import { newKey } from '../../../../support/service/keys.ts';
import { startService, type TestService } from '../../../../support/service/service.ts';

const upstreams = [
  { name: 'openai', baseUrl: 'https://api.openai.com/v1', models: ['gpt-4o*'] },
  { name: 'claude', api: 'anthropic', baseUrl: 'https://api.anthropic.com/v1', models: ['claude-haiku-4-5'] },
  {
    name: 'bedrock',
    bedrock: true,
    models: [{ match: 'team/nova', send: 'amazon.nova-lite-v1:0' }, 'claude-haiku-4-5'],
  },
  { name: 'own', baseUrl: 'http://127.0.0.1:9/v1', models: ['own/*'] },
];

let service: TestService;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  service = await startService({ upstreams });
  openai = new OpenAI({ apiKey: service.key, baseURL: `${service.url}/inference/v1`, maxRetries: 0 });
  anthropic = new Anthropic({ apiKey: service.key, baseURL: `${service.url}/inference`, maxRetries: 0 });
});
afterAll(() => service.stop());

describe("OpenAI's client", () => {
  it('lists what the rules name, with window and prices, and a * by the price table', async () => {
    const models = await Array.fromAsync(openai.models.list());
    const ids = models.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(['gpt-4o', 'gpt-4o-mini', 'claude-haiku-4-5', 'team/nova']));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !id.startsWith('gpt-4o'))).toEqual(['claude-haiku-4-5', 'team/nova']);
    expect(models.find(({ id }) => id === 'team/nova')).toEqual({
      id: 'team/nova',
      object: 'model',
      created: 0,
      owned_by: 'bedrock',
      context_window: 300_000,
      prompt_token_cost: 6e-8,
      completion_token_cost: 2.4e-7,
      cache_read_token_cost: 1.5e-8,
      cache_write_token_cost: 6e-8,
    });
    // The upstream that is asked first.
    expect(models.find(({ id }) => id === 'claude-haiku-4-5')?.owned_by).toBe('claude');
  });

  it('reads one model, with a slash in its name or by a rule with *', async () => {
    expect(await openai.models.retrieve('team/nova')).toMatchObject({ id: 'team/nova', owned_by: 'bedrock' });
    expect(await openai.models.retrieve('own/anything')).toEqual({
      id: 'own/anything',
      object: 'model',
      created: 0,
      owned_by: 'own',
    });
    await expect(openai.models.retrieve('nobody')).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
  });
});

describe("Anthropic's client", () => {
  it('lists and reads them in its own shape', async () => {
    const models = await Array.fromAsync(anthropic.models.list());
    expect(models.find(({ id }) => id === 'claude-haiku-4-5')).toMatchObject({
      type: 'model',
      display_name: 'claude-haiku-4-5',
      created_at: '1970-01-01T00:00:00Z',
      max_input_tokens: 200_000,
    });
    expect(await anthropic.models.retrieve('team/nova')).toMatchObject({ type: 'model', id: 'team/nova' });
    await expect(anthropic.models.retrieve('nobody')).rejects.toMatchObject({ status: 404 });
  });
});

it('takes a key that may use inference somewhere', async () => {
  const get = (key: string) =>
    fetch(`${service.url}/inference/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  const scope = 'acme/shop' as ProjectId;
  const reader = await newKey(service, { scope, role: 'read' });
  const asker = await newKey(service, { scope, role: 'inference' });
  expect([(await get(reader)).status, (await get(asker)).status]).toEqual([403, 200]);
});
