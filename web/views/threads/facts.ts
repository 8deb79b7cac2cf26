import { useQueries } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { type CallRow, sumUsage, type Usage } from '../../api/calls.ts';
import type { CallsQuery, Thread } from '../../api/contract.ts';
import { isTurn, readRows } from '../../calls/data.ts';
import { toOperation } from '../../calls/list/request.ts';
import { readUsage } from '../../calls/list/usage.ts';
import { isSilent, previewsOfTraces } from '../../calls/previews.ts';
import { type Reading, useRead, useSession } from '../../session/session.tsx';
import { firstText, placeOf, resourcePath } from './groups.ts';

/** What a thread is about, and what it took. */
export interface ThreadFacts {
  /** What was said first, in a line; null for nothing. */
  readonly message: string | null;
  /** The end user, if a turn names one. */
  readonly user: string | undefined;
  /** Their e-mail, if the first turn names it: coding agents name users by a hash. */
  readonly email: string | undefined;
  /** Where a coding agent worked, as the resource of its telemetry says. */
  readonly repository: string | undefined;
  readonly branch: string | undefined;
  readonly usage: Usage | undefined;
  readonly errors: number;
  /** Whether usage and errors are those of all turns. */
  readonly whole: boolean;
  /** The thread of the trace that its turns are a part of; undefined if they are roots. */
  readonly within: string | undefined;
}

/** The most turns whose usage is asked for at once: traces may be long. */
const maxTurns = 400;

/** The request for all turns of some threads, thread by thread in order of their start. */
export const turnsRequest = (project: string, threads: readonly string[]): CallsQuery => ({
  project_id: project,
  filter: { thread_ids: [...threads] },
  query: { $expr: isTurn },
  sort_by: [
    { field: 'thread_id', direction: 'asc' },
    { field: 'started_at', direction: 'asc' },
  ],
  columns: [],
});

const getUser = ({ attributes }: CallRow): string | undefined => {
  const { user } = attributes ?? {};
  const id = typeof user === 'object' && user !== null && 'id' in user ? user.id : undefined;
  return typeof id === 'string' ? id : undefined;
};

/** The threads of the roots above turns that are nested, by trace. */
const threadsAbove = async (reading: Reading, project: string, nested: readonly CallRow[]) => {
  if (nested.length === 0) return new Map<string, string>();
  const roots = await readRows(reading, {
    project_id: project,
    filter: { trace_ids: nested.map(({ trace_id }) => trace_id), trace_roots_only: true },
    columns: ['thread_id'],
  });
  return new Map(roots.flatMap(({ trace_id, thread_id }) => (thread_id ? [[trace_id, thread_id]] : [])));
};

const readFacts = async (
  reading: Reading,
  project: string,
  threads: readonly Thread[],
): Promise<Map<string, ThreadFacts>> => {
  const { client, signal } = reading;
  const [firsts, turns] = await Promise.all([
    readRows(reading, {
      project_id: project,
      filter: { call_ids: threads.map(({ first_turn_id }) => first_turn_id) },
      columns: ['parent_id', 'preview', 'attributes.user.id', 'attributes.user.email', resourcePath],
    }),
    readRows(reading, {
      project_id: project,
      filter: { thread_ids: threads.map(({ thread_id }) => thread_id) },
      query: { $expr: isTurn },
      sort_by: [{ field: 'started_at', direction: 'desc' }],
      columns: ['thread_id', 'attributes.user.id'],
      limit: maxTurns,
    }),
  ]);
  const silent = firsts.filter(isSilent).map(({ trace_id }) => trace_id);
  const nested = firsts.filter(({ parent_id }) => parent_id);
  const [figures, previews, above] = await Promise.all([
    readUsage(client, project, turns, signal),
    silent.length > 0 ? previewsOfTraces(client, project, silent, signal) : new Map(),
    threadsAbove(reading, project, nested),
  ]);
  const byId = new Map(firsts.map((call) => [call.id, call]));
  return new Map(
    threads.map(({ thread_id, first_turn_id, turn_count }) => {
      const first = byId.get(first_turn_id);
      const own = turns.filter((turn) => turn.thread_id === thread_id);
      const used = own.flatMap(({ id }) => figures.get(id) ?? []);
      const around = above.get(first?.trace_id ?? '');
      const facts: ThreadFacts = {
        message: first?.preview?.input ?? previews.get(first?.trace_id ?? '')?.input ?? null,
        user: [...(first ? [first] : []), ...own].map(getUser).find((user) => user !== undefined),
        email: firstText(first, ['user.email']),
        ...placeOf(first),
        usage: sumUsage(used.flatMap(({ usage }) => usage ?? [])),
        errors: used.reduce((sum, { errors = 0 }) => sum + errors, 0),
        whole: own.length >= turn_count,
        within: around === thread_id ? undefined : around,
      };
      return [thread_id, facts];
    }),
  );
};

/** So many threads are asked for at once, and so many rows ahead of their reader. */
const batchSize = 20;
const ahead = 8;

/** The place after the last row that was in sight, which grows as somebody scrolls. */
const useSeen = (count: number): number => {
  const [seen, setSeen] = useState(batchSize);
  // biome-ignore lint/correctness/useExhaustiveDependencies: more rows may be in sight at once
  useEffect(() => {
    const view = document.getElementById('view');
    const look = () => {
      const rows = [...document.querySelectorAll('.threads tbody tr')];
      const last = rows.findLastIndex((row) => row.getBoundingClientRect().top < window.innerHeight);
      setSeen((before) => Math.max(before, last + 1 + ahead));
    };
    look();
    view?.addEventListener('scroll', look, { passive: true });
    return () => view?.removeEventListener('scroll', look);
  }, [count]);
  return seen;
};

/**
 * What threads are about and what they took, by id, for those that were in sight.
 *
 * @param all whether it is asked for all of them
 */
export const useFacts = (
  project: string,
  threads: readonly Thread[],
  all: boolean,
): ReadonlyMap<string, ThreadFacts> => {
  const { client, me } = useSession();
  const seen = useSeen(threads.length);
  const batches = useMemo(() => {
    const count = Math.ceil((all ? threads.length : Math.min(seen, threads.length)) / batchSize);
    return Array.from({ length: count }, (_, at) => threads.slice(at * batchSize, (at + 1) * batchSize));
  }, [threads, seen, all]);
  return useQueries({
    queries: batches.map((batch) => ({
      queryKey: [
        'thread facts',
        me.key_id,
        project,
        batch.map((thread) => [thread.thread_id, thread.last_updated]),
      ],
      queryFn: ({ signal }: { signal: AbortSignal }) => readFacts({ client, signal }, project, batch),
    })),
    combine: together,
  });
};

const together = (results: readonly { readonly data: Map<string, ThreadFacts> | undefined }[]) =>
  new Map(results.flatMap(({ data }) => [...(data ?? [])]));

/** How many calls that say a text are looked for: their threads are those that are listed. */
const maxFound = 1000;

/**
 * The threads in which something was said, or that have the text as their id.
 *
 * @param bounds ISO 8601, where the search begins and ends
 */
export const useThreadsWith = (
  project: string,
  text: string | undefined,
  bounds: { readonly after?: string | undefined; readonly before?: string | undefined },
) =>
  useRead(
    ['threads with', project, text, bounds],
    async (reading) => {
      const value = text ?? '';
      const { after, before } = bounds;
      const startedAt = { $getField: 'started_at' };
      const holds = ['inputs', 'output'].map((path) => toOperation({ path, op: 'contains', value }));
      const found = await readRows(reading, {
        project_id: project,
        query: {
          $expr: {
            $and: [
              ...(after ? [{ $gte: [startedAt, { $literal: after }] }] : []),
              ...(before ? [{ $lt: [startedAt, { $literal: before }] }] : []),
              { $ne: [{ $getField: 'thread_id' }, { $literal: null }] },
              { $or: holds },
            ],
          },
        },
        sort_by: [{ field: 'started_at', direction: 'desc' }],
        columns: ['thread_id'],
        limit: maxFound,
      });
      return [...new Set([value, ...found.flatMap(({ thread_id }) => thread_id ?? [])])];
    },
    { enabled: text !== undefined },
  );
