import { useAllowed, useRead } from '../../session/session.tsx';
import { maxPrices } from '../prices.ts';
import { whole } from './requests.ts';

const none: readonly string[] = [];

/** For how many days back models are listed that were used. */
const usedDays = 90;
const dayMs = 86_400_000;

/**
 * The models that the service's upstreams have, that were used of late, and that have a price of the
 * project's own.
 */
export const useModels = (project: string): readonly string[] => {
  const mayAsk = useAllowed(project, 'inference');
  const { data = none } = useRead(['models of the playground', project], async ({ client, signal }) => {
    const now = Date.now();
    const used = client.ask(
      '/calls/stats',
      {
        project_id: project,
        start: new Date(now - usedDays * dayMs).toISOString(),
        end: new Date(now).toISOString(),
        granularity: whole,
        usage_metrics: [{ metric: 'total_tokens', aggregations: ['count'] }],
      },
      signal,
    );
    const priced = client.ask('/cost/query', { project_id: project, limit: maxPrices }, signal);
    const served = mayAsk ? client.ask('/inference/v1/models', undefined, signal) : { data: [] };
    const [{ usage_buckets }, { results }, { data: models }] = await Promise.all([used, priced, served]);
    const names: unknown[] = [
      ...models.map(({ id }) => id),
      ...usage_buckets.map(({ model }) => model),
      ...results.map(({ llm_id }) => llm_id),
    ];
    return [
      ...new Set(names.filter((name): name is string => typeof name === 'string' && name !== '')),
    ].sort();
  });
  return data;
};
