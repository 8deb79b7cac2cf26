import { type Reading, useAllowed, useRead } from '../../session/session.tsx';
import { maxPrices } from '../prices.ts';
import { whole } from './requests.ts';

const none: readonly string[] = [];

/** For how many days back what was used is listed. */
const usedDays = 90;
const dayMs = 86_400_000;

/** The statistics that tell what was used. */
const recent = (project: string) => {
  const now = Date.now();
  return {
    project_id: project,
    start: new Date(now - usedDays * dayMs).toISOString(),
    end: new Date(now).toISOString(),
    granularity: whole,
  };
};

/** Reads the users of the keys that reported calls of late. Throws as the client does. */
export const readUsers = async (
  project: string,
  client: Reading['client'],
  signal: AbortSignal,
): Promise<readonly string[]> => {
  const { call_buckets } = await client.ask(
    '/calls/stats',
    {
      ...recent(project),
      call_metrics: [{ metric: 'call_count' }],
      group_by: ['svc_user_id'],
    },
    signal,
  );
  return call_buckets
    .flatMap(({ svc_user_id: user }) => (typeof user === 'string' && user !== '' ? [user] : []))
    .sort();
};

/** The users of the keys that reported calls of late. */
export const useUsers = (project: string): readonly string[] => {
  const { data = none } = useRead(['users', project], ({ client, signal }) =>
    readUsers(project, client, signal),
  );
  return data;
};

/**
 * The models that the service's upstreams have, that were used of late, and that have a price of the
 * project's own.
 */
export const useModels = (project: string): readonly string[] => {
  const mayAsk = useAllowed(project, 'inference');
  const { data = none } = useRead(['models of the playground', project], async ({ client, signal }) => {
    const used = client.ask(
      '/calls/stats',
      {
        ...recent(project),
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
