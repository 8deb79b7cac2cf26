import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type CallRow, fromWire, headerColumns, pathToWire, statusOf } from '../api/calls.ts';
import type { Call, CostTerms } from '../api/types.ts';
import { useSession } from '../session/session.tsx';

/** How often a trace with a running call is read again, in ms. */
const runningIntervalMs = 5000;

/** A trace as it was read. */
export interface ReadTrace {
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
  const { client, me } = useSession();
  const cache = useQueryClient();
  const { name } = me.service;
  const queryKey = ['trace', me.key_id, project, trace];
  return useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<ReadTrace> => {
      const request = {
        project_id: project,
        filter: { trace_ids: [trace] },
        sort_by: [{ field: 'started_at', direction: 'asc' as const }],
        columns: [...headerColumns, 'summary.usage'].map((path) => pathToWire(path, name)),
        include_costs: true,
      };
      const calls: CallRow[] = [];
      // What is shown already is not replaced by a part of it.
      let early = cache.getQueryData(queryKey) === undefined;
      for await (const batch of client.stream('POST /calls/stream_query', request, signal)) {
        for (const row of batch) calls.push(fromWire(row, name));
        if (!early || calls.length < firstShown) continue;
        early = false;
        cache.setQueryData<ReadTrace>(queryKey, { calls: [...calls], readAt: Date.now(), complete: false });
      }
      return { calls, readAt: Date.now(), complete: true };
    },
    refetchInterval: ({ state: { data } }) =>
      data?.calls.some((call) => statusOf(call) === 'running') ? runningIntervalMs : false,
  });
};

/** A whole call with its payload, costs and feedback; null if there is none. */
export const useCall = (project: string, call: Pick<CallRow, 'id' | 'ended_at'> | undefined) => {
  const { client, me } = useSession();
  const { name } = me.service;
  return useQuery({
    // A call that ends has another payload.
    queryKey: ['call', me.key_id, project, call?.id, call?.ended_at],
    enabled: call !== undefined,
    // It is read to its end even if its reader goes on: they may come back, and nothing shall be
    // read twice.
    queryFn: async (): Promise<Call | null> => {
      const request = {
        project_id: project,
        id: call?.id ?? '',
        include_costs: true,
        include_feedback: true,
        include_storage_size: true,
      };
      const { call: read } = await client.ask('POST /call/read', request);
      return read && (fromWire(read, name) as Call);
    },
  });
};

/** The most prices that are read. */
export const maxPrices = 1000;

/** The prices of a project, by model, the newest first; and what adds and removes them. */
export const usePrices = (project: string) => {
  const { client, me } = useSession();
  const cache = useQueryClient();
  const queryKey = ['prices', me.key_id, project];
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const request = {
        project_id: project,
        sort_by: [
          { field: 'llm_id', direction: 'asc' as const },
          { field: 'effective_date', direction: 'desc' as const },
        ],
        limit: maxPrices,
      };
      return (await client.ask('POST /cost/query', request, signal)).results;
    },
  });
  // Costs are worked out when they are asked for, so a price changes those of calls as well.
  const onSuccess = () =>
    cache.invalidateQueries({ predicate: ({ queryKey: [first] }) => first !== 'projects' });
  const add = useMutation({
    mutationFn: ({ model, terms }: { model: string; terms: CostTerms }) =>
      client.ask('POST /cost/create', { project_id: project, costs: { [model]: terms } }),
    onSuccess,
  });
  const remove = useMutation({
    mutationFn: (id: string) =>
      client.ask('POST /cost/purge', {
        project_id: project,
        query: { $expr: { $eq: [{ $getField: 'id' }, { $literal: id }] } },
      }),
    onSuccess,
  });
  return { query, add, remove };
};
