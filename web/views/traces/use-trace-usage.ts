import { useQueries } from '@tanstack/react-query';
import type { CallRow, Usage } from '../../api/calls.ts';
import { costOf, sumUsage } from '../../api/calls.ts';
import type { Client } from '../../api/client.ts';
import type { CallsUsageRes } from '../../api/types.ts';
import { useSession } from '../../session/session.tsx';
import type { CallList } from './call-list.ts';
import type { RowFigures } from './row-figures.ts';
import type { Root, Sight } from './usage-batches.ts';

/** How many traces a list asks for at once, if it needs all. */
export const chunkSize = 50;

type ModelUsage = CallsUsageRes['call_usage'][string][string];

const usageOf = (usage: ModelUsage): Usage => {
  const { prompt_tokens, completion_tokens, total_tokens } = usage;
  return {
    input: prompt_tokens,
    output: completion_tokens,
    total: total_tokens,
    cost: costOf(usage),
  };
};

/** What roots used with all below them, by their ids. */
export const readUsage = async (
  client: Client,
  project: string,
  roots: readonly Root[],
  signal: AbortSignal,
) => {
  const call_ids = roots.map(({ id }) => id);
  const trace_ids = [...new Set(roots.map(({ trace_id }) => trace_id))];
  const request = { project_id: project, call_ids, trace_ids, include_costs: true };
  const { call_usage, error_counts } = await client.ask('POST /calls/usage', request, signal);
  return new Map(
    Object.entries(call_usage).map(([id, models]): [string, RowFigures] => [
      id,
      { usage: sumUsage(Object.values(models).map(usageOf)), errors: error_counts[id] },
    ]),
  );
};

/**
 * What the traces in sight used in all, and how much failed, by the id of their root. Each trace of
 * the list is asked for once.
 */
export const useTraceUsage = (
  { number, usageBatches }: CallList,
  project: string,
  rows: readonly CallRow[],
  sight: Sight,
): ReadonlyMap<string, RowFigures> => {
  const { client, me } = useSession();
  return useQueries({
    queries: usageBatches.inSight(rows, sight).map((roots) => ({
      // A list that is read anew has the same roots, and they may have used more.
      queryKey: ['usage', me.key_id, number, roots],
      queryFn: ({ signal }: { signal: AbortSignal }) => readUsage(client, project, roots, signal),
      // Live lists ask again for traces that have ended.
      staleTime: Number.POSITIVE_INFINITY,
    })),
    combine: (results) => new Map(results.flatMap(({ data }) => [...(data ?? [])])),
  });
};
