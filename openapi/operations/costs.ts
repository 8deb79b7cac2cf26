import * as z from 'zod/mini';
import * as requests from '../../api/requests.ts';
import { done, field } from '../answers/fields.ts';
import { price } from '../answers/others.ts';
import type { Operations } from '../operation.ts';

const project = 'acme/shop';

const terms = {
  prompt_token_cost: 0.0000025,
  completion_token_cost: 0.00001,
  effective_date: '2026-01-01T00:00:00Z',
};

// Tools know lists of a fixed length better than tuples.
const pair = z.array(z.string()).check(z.minLength(2), z.maxLength(2));

/** What the document says of prices. */
export const costOperations: Pick<Operations, '/cost/create' | '/cost/query' | '/cost/purge'> = {
  '/cost/create': [
    {
      name: 'CostCreate',
      tag: 'costs',
      summary: 'Store prices of models',
      description:
        'Stores what models cost the project per token from `effective_date` on, or from now on without it. The same price again gives the same id. Of several prices of a model, the newest one in force counts.',
      request: requests.costCreate,
      answer: z.object({
        ids: field(z.array(pair), 'The name of each model, and the id of its price.'),
      }),
      examples: {
        model: {
          summary: 'The price of one model',
          body: { project_id: project, costs: { 'gpt-4o': terms } },
          answer: { ids: [['gpt-4o', '019b76da-a800-705a-af62-24b59533ff7e']] },
        },
      },
    },
  ],
  '/cost/query': [
    {
      name: 'CostQuery',
      tag: 'costs',
      summary: "Query a project's prices",
      description: "The project's own prices, strongly consistent. Without `sort_by` they come by `id`.",
      request: requests.costQuery,
      answer: z.object({ results: field(z.array(price), 'The prices, in order.') }),
      examples: {
        prices: {
          summary: 'Two fields of each price',
          body: {
            project_id: project,
            fields: ['llm_id', 'prompt_token_cost'],
            sort_by: [{ field: 'llm_id', direction: 'asc' }],
          },
          answer: { results: [{ llm_id: 'gpt-4o', prompt_token_cost: 0.0000025 }] },
        },
      },
    },
  ],
  '/cost/purge': [
    {
      name: 'CostPurge',
      tag: 'costs',
      summary: 'Delete prices',
      description: 'Deletes prices by their ids. Unknown ids are ignored.',
      request: requests.costPurge,
      answer: done,
      examples: {
        one: {
          summary: 'One price',
          body: {
            project_id: project,
            query: {
              $expr: { $eq: [{ $getField: 'id' }, { $literal: '019b76da-a800-705a-af62-24b59533ff7e' }] },
            },
          },
          answer: {},
        },
      },
    },
  ],
};
