import { useQueries } from '@tanstack/react-query';
import type { CallRow, Usage } from '../../api/calls.ts';
import { sumUsage } from '../../api/calls.ts';
import type { Client } from '../../api/client.ts';
import type { CallsUsageRes } from '../../api/types.ts';
import { useSession } from '../../session/session.tsx';
import type { RowFigures } from './row-figures.ts';

/** How many traces are asked for at once. */
export const chunkSize = 50;

type ModelUsage = CallsUsageRes['call_usage'][string][string];

const usageOf = (usage: ModelUsage): Usage => {
  const { prompt_tokens, completion_tokens, total_tokens } = usage;
  const { prompt_tokens_total_cost: input, completion_tokens_total_cost: output } = usage;
  const hasCost = input !== undefined || output !== undefined;
  return {
    input: prompt_tokens,
    output: completion_tokens,
    total: total_tokens,
    cost: hasCost ? (input ?? 0) + (output ?? 0) : undefined,
  };
};

/** A root whose usage is asked for. */
type Root = Pick<CallRow, 'id' | 'trace_id'>;

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

/** Rows in pieces of one size, as far as they are in sight. A list that grows keeps full pieces. */
const chunksIn = (rows: readonly CallRow[], first: number, last: number): Root[][] => {
  const chunks: Root[][] = [];
  for (let at = Math.floor(Math.max(0, first) / chunkSize) * chunkSize; at <= last; at += chunkSize) {
    const chunk = rows.slice(at, at + chunkSize).map(({ id, trace_id }) => ({ id, trace_id }));
    if (chunk.length > 0) chunks.push(chunk);
  }
  return chunks;
};

/**
 * What the traces in sight used in all, and how much failed, by the id of their root. While more
 * rows come in, only full pieces of the list are asked for: no trace is asked for twice.
 *
 * @param settled whether no rows are on their way
 */
export const useTraceUsage = (
  project: string,
  rows: readonly CallRow[],
  { first, last, settled }: { first: number; last: number; settled: boolean },
): ReadonlyMap<string, RowFigures> => {
  const { client, me } = useSession();
  const chunks = chunksIn(rows, first, last).filter((roots) => settled || roots.length === chunkSize);
  return useQueries({
    queries: chunks.map((roots) => ({
      queryKey: ['usage', me.key_id, project, roots],
      queryFn: ({ signal }: { signal: AbortSignal }) => readUsage(client, project, roots, signal),
    })),
    combine: (results) => new Map(results.flatMap(({ data }) => [...(data ?? [])])),
  });
};
