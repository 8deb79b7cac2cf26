import type { Sent } from '../service/in-process.ts';
import { byId, type Fixture, price } from './fixture.ts';

const models = ['gpt-4o', 'claude', 'mistral'];
const create = (p: string): Sent => ({
  path: '/cost/create',
  body: { project_id: p, costs: Object.fromEntries(models.map((model) => [model, price])) },
});
const query = (p: string): Sent => ({ path: '/cost/query', body: { project_id: p } });
const views = (p: string): Sent[] => [query(p)];

/** The routes of prices. */
export const costFixtures = {
  '/cost/create': {
    namesNothing: true,
    permitted: ['costs: PartiQLInsert'],
    body: (p) => ({ project_id: p, costs: { 'm-1': price } }),
    answer: '{"ids":[["m-1","01a0f4c2-c400-7128-b08d-6d80dcf805bb"]]}',
    probes: { 'the same price': (p) => ({ project_id: p, costs: { 'm-1': price } }) },
    scenarios: [{ name: 'prices of three models', request: create, views }],
  },
  '/cost/query': {
    permitted: ['costs: Query'],
    body: (p, { price: id }) => ({ project_id: p, query: byId(id) }),
    answer: '{"results":[]}',
    scenarios: [{ name: 'all prices', before: (p) => [create(p)], request: query }],
  },
  '/cost/purge': {
    permitted: ['costs: BatchWriteItem', 'audit: PartiQLInsert'],
    body: (p, { price: id }) => ({ project_id: p, query: byId(id) }),
    answer: '{}',
    scenarios: [
      {
        name: 'two prices of three',
        before: (p) => [create(p)],
        request: (p, [made]) => {
          const { ids } = JSON.parse(made?.text ?? '') as { ids: [string, string][] };
          const some = ids.slice(1).map(([, id]) => id);
          return { path: '/cost/purge', body: { project_id: p, query: byId(...some) } };
        },
        views,
      },
    ],
  },
} as const satisfies Readonly<Record<string, Fixture>>;
