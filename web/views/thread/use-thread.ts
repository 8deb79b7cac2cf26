import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type CallRow, fromWire, headerColumns, pathToWire, statusOf } from '../../api/calls.ts';
import type { Client } from '../../api/client.ts';
import type { CallsQueryReq } from '../../api/types.ts';
import { useSession } from '../../session/session.tsx';
import { type TreeNode, treeOf } from '../trace/tree.ts';

/** How often a thread with a running turn is read again, in ms. */
const runningIntervalMs = 5000;

/** A thread may get steps while its reader is elsewhere: it is read again when they return. */
const staleTime = 0;

const byTime = [{ field: 'started_at', direction: 'asc' as const }];

const readRows = async (client: Client, service: string, request: CallsQueryReq, signal: AbortSignal) => {
  const rows: CallRow[] = [];
  for await (const batch of client.stream('POST /calls/stream_query', request, signal))
    for (const row of batch) rows.push(fromWire(row, service));
  return rows;
};

/** The turns of a thread by their headers, in order of their start. */
export const useTurns = (project: string, thread: string) => {
  const { client, me } = useSession();
  const { name } = me.service;
  return useQuery({
    queryKey: ['thread', me.key_id, project, thread],
    queryFn: ({ signal }) =>
      readRows(
        client,
        name,
        {
          project_id: project,
          filter: { thread_ids: [thread] },
          // A turn is a call that is its own turn.
          query: { $expr: { $eq: [{ $getField: 'turn_id' }, { $getField: 'id' }] } },
          sort_by: byTime,
          columns: headerColumns.map((path) => pathToWire(path, name)),
        },
        signal,
      ),
    staleTime,
    refetchInterval: ({ state: { data } }) =>
      data?.some((call) => statusOf(call) === 'running') ? runningIntervalMs : false,
  });
};

/** What is below turns: the nodes of their trees, by the id of the turn. */
const nodesOf = (
  calls: readonly CallRow[],
  turns: readonly CallRow[],
  readAt: number,
): Map<string, TreeNode> => {
  const wanted = new Set(turns.map(({ id }) => id));
  const found = new Map<string, TreeNode>();
  const waiting = [...Map.groupBy(calls, ({ trace_id }) => trace_id).values()].flatMap((trace) =>
    treeOf(trace, readAt),
  );
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (wanted.has(node.call.id)) found.set(node.call.id, node);
    waiting.push(...node.children);
  }
  return found;
};

/** The steps, tokens and costs of some turns, from the headers of their traces. */
export const useSteps = (project: string, turns: readonly CallRow[]) => {
  const { client, me } = useSession();
  const { name } = me.service;
  const traces = [...new Set(turns.map(({ trace_id }) => trace_id))];
  const query = useQuery({
    queryKey: ['steps', me.key_id, project, traces, turns.map(({ ended_at }) => ended_at)],
    queryFn: async ({ signal }) => {
      const request = {
        project_id: project,
        filter: { trace_ids: traces },
        sort_by: byTime,
        columns: [...headerColumns, 'summary.usage'].map((path) => pathToWire(path, name)),
        include_costs: true,
      };
      return { calls: await readRows(client, name, request, signal), readAt: Date.now() };
    },
    staleTime,
    placeholderData: keepPreviousData,
  });
  const { data } = query;
  const nodes = useMemo(
    () => (data ? nodesOf(data.calls, turns, data.readAt) : new Map<string, TreeNode>()),
    [data, turns],
  );
  return { query, nodes };
};

/** What was said in some turns: their payloads, by the id of the turn. */
export const useSaid = (project: string, turns: readonly CallRow[]) => {
  const { client, me } = useSession();
  const { name } = me.service;
  const ids = turns.map(({ id }) => id);
  return useQuery({
    queryKey: ['said', me.key_id, project, ids, turns.map(({ ended_at }) => ended_at)],
    queryFn: async ({ signal }) => {
      const request = {
        project_id: project,
        filter: { call_ids: ids },
        columns: ['inputs', 'output', 'exception'],
      };
      const rows = await readRows(client, name, request, signal);
      return new Map(rows.map((row) => [row.id, row]));
    },
    placeholderData: keepPreviousData,
  });
};
