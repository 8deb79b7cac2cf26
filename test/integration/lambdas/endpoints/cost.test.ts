import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { localCredentials } from 'cdk-local-runner';
import { getOutput, localRegion } from 'cdk-local-runner/template';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { readPrices } from '../../../../core/records/costs/index.ts';
import { requestBudget } from '../../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../../foundations/wire/index.ts';
import { type SharedService, sharedService } from '../../../support/service/service.ts';

let service: SharedService;
let client: DynamoDBClient;
beforeAll(async () => {
  service = await sharedService();
  const endpoint = inject('stores').dynamodb;
  client = new DynamoDBClient({ region: localRegion, credentials: localCredentials, endpoint });
});
afterAll(async () => {
  client.destroy();
});

const price = {
  prompt_token_cost: 2.5e-6,
  completion_token_cost: 1e-5,
  effective_date: '2026-10-01T00:00:00Z',
};

/** POSTs and gives the answer's status and body. */
const post = async (path: string, body: object, init?: RequestInit) => {
  const answer = await service.post(path, body, init);
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};
const create = async (project: string, costs: object): Promise<[string, string][]> => {
  const { status, body } = await post('/cost/create', { project_id: project, costs });
  expect(status).toBe(200);
  return body.ids as [string, string][];
};
const query = async (project: string, fields: object = {}): Promise<Record<string, unknown>[]> => {
  const { status, body } = await post('/cost/query', { project_id: project, ...fields });
  expect(status).toBe(200);
  return body.results as Record<string, unknown>[];
};
const byId = (id: string | undefined) => ({ $eq: [{ $getField: 'id' }, { $literal: id }] });
const purge = (project: string, expression: object) =>
  post('/cost/purge', { project_id: project, query: { $expr: expression } });

describe('prices', () => {
  it('are created, queried and purged', async () => {
    const ids = await create('acme/prices', { 'gpt-x': price, 'my-model': { ...price, provider_id: 'own' } });
    expect(ids.map(([model]) => model)).toEqual(['gpt-x', 'my-model']);
    const sort_by = [{ field: 'llm_id', direction: 'asc' }];
    expect(await query('acme/prices', { sort_by })).toEqual([
      {
        id: ids[0]?.[1],
        llm_id: 'gpt-x',
        prompt_token_cost: 2.5e-6,
        completion_token_cost: 1e-5,
        prompt_token_cost_unit: 'USD',
        completion_token_cost_unit: 'USD',
        effective_date: '2026-10-01T00:00:00.000000Z',
        provider_id: 'default',
      },
      expect.objectContaining({ id: ids[1]?.[1], llm_id: 'my-model', provider_id: 'own' }),
    ]);
    expect(await query('acme/prices', { sort_by, fields: ['llm_id'], offset: 1, limit: 5 })).toEqual([
      { llm_id: 'my-model' },
    ]);

    const cheap = { $lt: [{ $getField: 'prompt_token_cost' }, { $literal: 1 }] };
    const recent = { $gte: [{ $getField: 'effective_date' }, { $literal: '2026-10-01' }] };
    const own = { $eq: [{ $getField: 'provider_id' }, { $literal: 'own' }] };
    expect(
      await query('acme/prices', { query: { $expr: { $and: [cheap, recent, own] } }, fields: ['llm_id'] }),
    ).toEqual([{ llm_id: 'my-model' }]);

    expect(await purge('acme/prices', byId(ids[0]?.[1]))).toEqual({ status: 200, body: {} });
    expect(await query('acme/prices', { fields: ['llm_id'] })).toEqual([{ llm_id: 'my-model' }]);
    expect(await purge('acme/prices', { $or: ids.map(([, id]) => byId(id)) })).toEqual({
      status: 200,
      body: {},
    });
    expect(await query('acme/prices')).toEqual([]);
  });

  it('are the same when the request is repeated, also at once', async () => {
    const costs = { 'gpt-x': price, other: price };
    const answers = await Promise.all([1, 2, 3].map(() => create('acme/repeated', costs)));
    answers.push(await create('acme/repeated', costs));
    expect(new Set(answers.map((ids) => JSON.stringify(ids))).size).toBe(1);
    expect(await query('acme/repeated')).toHaveLength(2);
  });

  it('without a date apply from now on, and a repetition adds others with the same terms', async () => {
    const { effective_date: _now, ...undated } = price;
    const before = new Date().toISOString();
    for (let times = 0; times < 2; times++) await create('acme/undated', { 'gpt-x': undated });
    const found = await query('acme/undated', { fields: ['llm_id', 'effective_date', 'prompt_token_cost'] });
    expect(found).toHaveLength(2);
    for (const { effective_date, ...rest } of found) {
      expect(rest).toEqual({ llm_id: 'gpt-x', prompt_token_cost: 2.5e-6 });
      expect(String(effective_date) >= before.slice(0, 23)).toBe(true);
    }
  });

  it('record whose key stored them', async () => {
    await create('acme/whose', { 'gpt-x': price });
    const table = { client, name: getOutput(service.stack, 'CostsTable') };
    expect(await readPrices({ table }, 'acme/whose' as ProjectId, requestBudget(10_000))).toMatchObject([
      { createdBy: 'local' },
    ]);
  });

  it('come in one answer even if they are thousands', async () => {
    for (let i = 0; i < 20; i++) {
      const models = Array.from({ length: 100 }, (_, j) => [`model-${i}-${j}-${'x'.repeat(200)}`, price]);
      await create('acme/thousands', Object.fromEntries(models));
    }
    const found = await query('acme/thousands');
    expect(new Set(found.map(({ llm_id }) => llm_id)).size).toBe(2000);
  });
});

describe('a request for prices', () => {
  it.each<[string, object, string[], string]>([
    [
      '/cost/create',
      { costs: { m: { ...price, prompt_token_cost: -1 } } },
      ['costs', 'm', 'prompt_token_cost'],
      'greater_than_equal',
    ],
    ['/cost/create', { costs: {} }, ['costs'], 'too_short'],
    ['/cost/create', {}, ['costs'], 'missing'],
    [
      '/cost/query',
      { sort_by: [{ field: 'cost', direction: 'asc' }] },
      ['sort_by', '0', 'field'],
      'value_error',
    ],
    ['/cost/query', { query: { $expr: { $like: [] } } }, ['query', '$expr', '$like'], 'value_error'],
    ['/cost/purge', { query: { $expr: { $and: [] } } }, ['query'], 'value_error'],
    ['/cost/purge', {}, ['query'], 'missing'],
    ['/cost/purge', { project_id: 'shop', query: { $expr: { $or: [] } } }, ['project_id'], 'value_error'],
  ])('%s %j is a 422 that names the place', async (path, fields, place, type) => {
    const { status, body } = await post(path, { project_id: 'acme/wrong', ...fields });
    expect(status).toBe(422);
    expect(body).toEqual({ detail: [{ loc: ['body', ...place], msg: expect.any(String), type }] });
  });

  it('stores nothing if one price is wrong', async () => {
    const costs = { good: price, bad: { prompt_token_cost: 1 } };
    expect(await post('/cost/create', { project_id: 'acme/half', costs })).toMatchObject({ status: 422 });
    expect(await query('acme/half')).toEqual([]);
  });
});
