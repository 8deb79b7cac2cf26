import { useQueries, useQueryClient } from '@tanstack/react-query';
import { type CallRow, getStatus, headerColumns } from '../api/calls.ts';
import type { Answer, Call, CallsQuery, Operation } from '../api/contract.ts';
import { type Reading, useRead, useSession } from '../session/session.tsx';
import { useSettled } from '../ui/settled.ts';

/** How often calls are read again while one of them runs, in ms; false if none does. */
export const getInterval = (calls: readonly CallRow[] | undefined): number | false =>
  calls?.some((call) => getStatus(call) === 'running') ? 5000 : false;

/** The columns of calls by their headers. */
export const withHeaderColumns = (...others: readonly string[]): string[] => [...headerColumns, ...others];

/** A turn of a thread is a call that is its own turn. */
export const isTurn: Operation = { $eq: [{ $getField: 'turn_id' }, { $getField: 'id' }] };

/** All rows that a request is answered with. */
export const readRows = async ({ client, signal }: Reading, request: CallsQuery): Promise<CallRow[]> => {
  const rows: CallRow[] = [];
  for await (const batch of client.stream('/calls/stream_query', request, signal)) rows.push(...batch);
  return rows;
};

/** What filled the window of one of several requests to models. */
export type ContextOfMany = Extract<
  Answer<'/call/context'>,
  { readonly contexts: unknown }
>['contexts'][number];

/** What filled the windows of up to 100 requests to models, in their order. */
export const readContexts = async (
  { client, signal }: Reading,
  project: string,
  ids: readonly string[],
): Promise<readonly ContextOfMany[]> => {
  if (ids.length === 0) return [];
  const found = await client.ask('/call/context', { project_id: project, ids: [...ids] }, signal);
  return 'contexts' in found ? found.contexts : [];
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
        columns: withHeaderColumns('summary.usage', 'attributes.prompt.name', 'attributes.prompt.version'),
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
    { refetchInterval: ({ state: { data } }) => getInterval(data?.calls) },
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
