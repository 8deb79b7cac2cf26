import type { StoredRequest } from '../golden.ts';
import { otherProject, project, whereEqual } from './names.ts';

const price = (prompt: number, completion: number, fields: object = {}) => ({
  prompt_token_cost: prompt,
  completion_token_cost: completion,
  effective_date: '2026-01-01T00:00:00Z',
  ...fields,
});

const creation = (name: string, costs: object, owner = project): StoredRequest => ({
  name,
  path: '/cost/create',
  body: { project_id: owner, costs },
});

/** Writes prices. Models without a price of the project have none by default either. */
export const costWrites: readonly StoredRequest[] = [
  creation('prices', {
    'house-large': price(2.5e-6, 1e-5),
    'house-small': price(5e-324, 0, { provider_id: 'hôuse', prompt_token_cost_unit: 'EUR' }),
    'a model: “odd”/☃': price(1e9, 0.1),
  }),
  creation('a newer price', {
    'house-large': price(3e-6, 1.2e-5, { effective_date: '2026-10-01T09:00:00.1+02:00' }),
  }),
  creation('a price before 1970', { old: price(1, 2, { effective_date: '1960-01-01T00:00:00Z' }) }),
  creation('a price without a date', { undated: { prompt_token_cost: 1, completion_token_cost: 2 } }),
  creation('a price of another project', { 'house-large': price(1, 1) }, otherProject),
];

/** Stores and purges prices again. */
export const costRewrites: readonly StoredRequest[] = [
  creation('the same price again, and another', {
    'house-large': price(2.5e-6, 1e-5),
    'house-small': price(7e-6, 0),
  }),
  {
    name: 'a purge of a price',
    path: '/cost/purge',
    body: { project_id: project, query: whereEqual('id', '019b76da-a800-72f7-ad09-93ada10603e3') },
  },
];

/** Reads prices. */
export const costReads: readonly StoredRequest[] = [
  { name: 'prices: all', path: '/cost/query', body: { project_id: project } },
  {
    name: 'prices: of a model, dearest first',
    path: '/cost/query',
    body: {
      project_id: project,
      query: whereEqual('llm_id', 'house-large'),
      sort_by: [{ field: 'prompt_token_cost', direction: 'desc' }],
      fields: ['prompt_token_cost', 'effective_date'],
    },
  },
];
