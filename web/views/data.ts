import { useMutation, useQueries, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { type CallRow, headerColumns, statusOf } from '../api/calls.ts';
import type { Call, CallsQuery, Operation, PriceTerms } from '../api/contract.ts';
import { type Reading, useRead, useSession } from '../session/session.tsx';
import { useSettled } from '../ui/settled.ts';
import { type Changes, changed } from './search.ts';

/**
 * Changes the state of a view, as the URL has it.
 *
 * @param navigate that of the view's route
 */
export const useChange = <State extends object>(
  navigate: (options: { search: (before: State) => State }) => unknown,
) =>
  useCallback(
    (changes: Changes<State>) => navigate({ search: (before) => changed<State>(before, changes) }),
    [navigate],
  );

/** How often calls are read again while one of them runs, in ms; false if none does. */
export const intervalOf = (calls: readonly CallRow[] | undefined): number | false =>
  calls?.some((call) => statusOf(call) === 'running') ? 5000 : false;

/** The columns of calls by their headers. */
export const headersOf = (...others: readonly string[]): string[] => [...headerColumns, ...others];

/** A turn of a thread is a call that is its own turn. */
export const isTurn: Operation = { $eq: [{ $getField: 'turn_id' }, { $getField: 'id' }] };

/** All rows that a request is answered with. */
export const readRows = async ({ client, signal }: Reading, request: CallsQuery): Promise<CallRow[]> => {
  const rows: CallRow[] = [];
  for await (const batch of client.stream('/calls/stream_query', request, signal)) rows.push(...batch);
  return rows;
};

interface ReadTrace {
  readonly calls: readonly CallRow[];
  /** When, in ms since 1970. */
  readonly readAt: number;
  /** Whether all calls are there. */
  readonly complete: boolean;
}

/** From this many calls on, a trace is shown once before all of it is there. */
const firstShown = 300;

/** All calls of a trace by their headers, with usage and costs, in order of their start. */
export const useTrace = (project: string, trace: string) => {
  const { me } = useSession();
  const cache = useQueryClient();
  const queryKey = ['trace', me.key_id, project, trace];
  return useRead(
    ['trace', project, trace],
    async ({ client, signal }): Promise<ReadTrace> => {
      const request = {
        project_id: project,
        filter: { trace_ids: [trace] },
        sort_by: [{ field: 'started_at', direction: 'asc' as const }],
        columns: headersOf('summary.usage'),
        include_costs: true,
      };
      const calls: CallRow[] = [];
      // What is shown already is not replaced by a part of it.
      let early = cache.getQueryData(queryKey) === undefined;
      for await (const batch of client.stream('/calls/stream_query', request, signal)) {
        calls.push(...batch);
        if (!early || calls.length < firstShown) continue;
        early = false;
        cache.setQueryData<ReadTrace>(queryKey, { calls: [...calls], readAt: Date.now(), complete: false });
      }
      return { calls, readAt: Date.now(), complete: true };
    },
    { refetchInterval: ({ state: { data } }) => intervalOf(data?.calls) },
  );
};

const byId = (results: readonly { readonly data: CallRow[] | undefined }[]): ReadonlyMap<string, CallRow> =>
  new Map(results.flatMap(({ data }) => data ?? []).map((row) => [row.id, row]));

/** For how long that is kept which nobody looks at any more, in ms. */
const keptMs = 60_000;

/** What is in sight for less than this many ms is passed by. */
const passingMs = 80;

/**
 * Columns of the calls that are in sight, in batches that are read once each.
 *
 * @param batches calls that are read together: the same ones again and again
 * @returns what came so far, by the id of the call
 */
export const useInSight = (
  project: string,
  batches: readonly (readonly CallRow[])[],
  columns: readonly string[],
): ReadonlyMap<string, CallRow> => {
  const { client, me } = useSession();
  const settled = useSettled(batches, passingMs);
  return useQueries({
    queries: (settled.length > 0 ? settled : batches)
      .filter(({ length }) => length > 0)
      .map((calls) => ({
        queryKey: ['in sight', me.key_id, project, columns, calls.map(({ id, ended_at }) => [id, ended_at])],
        queryFn: ({ signal }: { signal: AbortSignal }) => {
          const ids = calls.map(({ id }) => id);
          const request = { project_id: project, filter: { call_ids: ids }, columns: [...columns] };
          return readRows({ client, signal }, request);
        },
        staleTime: Number.POSITIVE_INFINITY,
        gcTime: keptMs,
      })),
    combine: byId,
  });
};

/** A whole call with its payload, costs and feedback; null if there is none. */
export const useCall = (project: string, id: string | undefined, endedAt?: string | null) =>
  useRead(
    // A call that ends has another payload.
    ['call', project, id, endedAt],
    // Without the signal: people come back to a call, and nothing shall be read twice.
    async ({ client }): Promise<Call | null> => {
      const request = {
        project_id: project,
        id: id ?? '',
        include_costs: true,
        include_feedback: true,
        include_storage_size: true,
      };
      const { call: read } = await client.ask('/call/read', request);
      return read;
    },
    { enabled: id !== undefined },
  );

/** The most prices that are read. */
export const maxPrices = 1000;

/** The prices of a project, by model, the newest first; and what adds and removes them. */
export const usePrices = (project: string, enabled = true) => {
  const { client } = useSession();
  const cache = useQueryClient();
  const query = useRead(
    ['prices', project],
    async ({ client, signal }) => {
      const request = {
        project_id: project,
        sort_by: [
          { field: 'llm_id', direction: 'asc' as const },
          { field: 'effective_date', direction: 'desc' as const },
        ],
        limit: maxPrices,
      };
      return (await client.ask('/cost/query', request, signal)).results;
    },
    { enabled },
  );
  // Costs are worked out when they are asked for, so a price changes those of calls as well.
  const onSuccess = () =>
    cache.invalidateQueries({ predicate: ({ queryKey: [first] }) => first !== 'projects' });
  const add = useMutation({
    mutationFn: ({ model, terms }: { model: string; terms: PriceTerms }) =>
      client.ask('/cost/create', { project_id: project, costs: { [model]: terms } }),
    onSuccess,
  });
  const remove = useMutation({
    mutationFn: (id: string) =>
      client.ask('/cost/purge', {
        project_id: project,
        query: { $expr: { $eq: [{ $getField: 'id' }, { $literal: id }] } },
      }),
    onSuccess,
  });
  return { query, add, remove };
};

/**
 * Whether all sums of a project's costs are dollars. The service adds up amounts of all units, so they
 * are if all of the project's own prices are. Default prices are. False while nobody knows.
 */
export const useAreDollars = (project: string, enabled = true): boolean => {
  const { data } = usePrices(project, enabled).query;
  return (
    data !== undefined &&
    data.length < maxPrices &&
    data.every(
      ({ prompt_token_cost_unit: prompt = 'USD', completion_token_cost_unit: completion = 'USD' }) =>
        prompt === 'USD' && completion === 'USD',
    )
  );
};
