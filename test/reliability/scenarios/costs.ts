import type { Sent } from '../../support/in-process.ts';
import { byIds, type Scenario } from './scenario.ts';

const models = ['gpt-4o', 'claude', 'mistral'];

const create = (p: string): Sent => ({
  path: '/cost/create',
  body: {
    project_id: p,
    costs: Object.fromEntries(
      models.map((model, i) => [
        model,
        { prompt_token_cost: i, completion_token_cost: 2, effective_date: '2026-10-01T00:00:00Z' },
      ]),
    ),
  },
});

const query = (p: string): Sent => ({ path: '/cost/query', body: { project_id: p } });
const views = (p: string): Sent[] => [query(p)];

/** The routes of prices. */
export const costScenarios: Readonly<Record<string, readonly Scenario[]>> = {
  '/cost/create': [{ name: 'prices of three models', request: create, views }],
  '/cost/query': [{ name: 'all prices', before: (p) => [create(p)], request: query }],
  '/cost/purge': [
    {
      name: 'two prices of three',
      before: (p) => [create(p)],
      request: (p, [made]) => {
        const { ids } = JSON.parse(made?.text ?? '') as { ids: [string, string][] };
        return {
          path: '/cost/purge',
          body: { project_id: p, query: byIds(ids.slice(1).map(([, id]) => id)) },
        };
      },
      views,
    },
  ],
};
