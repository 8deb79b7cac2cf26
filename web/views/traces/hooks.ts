import { useQueries } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { CallRow } from '../../api/calls.ts';
import { useKept, useSession, useStore } from '../../session/session.tsx';
import { stepKeys, useKeys } from '../../ui/keys.tsx';
import type { TracesSearch } from '../search.ts';
import { CallList, type ListState } from './call-list.ts';
import { requestOf } from './request.ts';
import { costTestOf, type RowFigures, readUsage, type Sight } from './usage.ts';

/**
 * The list of a URL's state, from the cache or begun anew.
 *
 * @returns the list, what it holds, what begins it anew, and why that failed last
 */
export const useCallList = ({ live: _live, ...asked }: TracesSearch) => {
  const { client } = useSession();
  const make = () =>
    new CallList({
      client,
      request: requestOf(asked, Date.now()),
      roots: !asked.all,
      costTest: costTestOf(asked),
    });
  const { store: list, state, replace } = useStore<CallList, ListState>(['calls', asked], make);
  useEffect(() => {
    if (list.snapshot().rows.length === 0) list.more();
    return list.leave;
  }, [list]);
  // What is on the screen stays until there is something to take its place.
  const [failure, setFailure] = useState<unknown>();
  const refresh = () => {
    setFailure(undefined);
    const next = make();
    const look = () => {
      const { phase, rows, complete, error } = next.snapshot();
      if (phase === 'failed' && rows.length === 0) setFailure(error);
      else if (rows.length === 0 && !complete) return;
      else {
        next.active = list.active;
        replace(next);
      }
      leave();
    };
    const leave = next.subscribe(look);
    next.more();
  };
  return { list, state, refresh, failure };
};

/**
 * What the traces in sight used in all, and how much failed, by the id of their root. Each trace of
 * the list is asked for once.
 */
export const useTraceUsage = (
  { number, usageBatches, request }: CallList,
  rows: readonly CallRow[],
  sight: Sight,
): ReadonlyMap<string, RowFigures> => {
  const { client, me } = useSession();
  return useQueries({
    queries: usageBatches.inSight(rows, sight).map((roots) => ({
      // A list that is read anew has the same roots, and they may have used more.
      queryKey: ['usage', me.key_id, number, roots],
      queryFn: ({ signal }: { signal: AbortSignal }) => readUsage(client, request.project_id, roots, signal),
      // Live lists ask again for traces that have ended.
      staleTime: Number.POSITIVE_INFINITY,
    })),
    combine: (results) => new Map(results.flatMap(({ data }) => [...(data ?? [])])),
  });
};

/** How often the live mode looks for new calls, in ms. */
const intervalMs = 4000;

type Rows = readonly CallRow[];

/**
 * Looks for new calls again and again while the list is live and the page is in sight.
 *
 * @param onAdded is told the rows before a look that changed them, and those after it
 */
export const useLive = (
  live: boolean,
  list: CallList,
  onAdded: (before: Rows, after: Rows) => void,
): void => {
  useEffect(() => {
    if (!live) return;
    const ending = new AbortController();
    const look = async () => {
      if (document.hidden) return;
      const before = list.snapshot().rows;
      await list.catchUp(Date.now(), ending.signal);
      const after = list.snapshot().rows;
      if (after !== before && !ending.signal.aborted) onAdded(before, after);
    };
    const timer = setInterval(look, intervalMs);
    return () => {
      ending.abort();
      clearInterval(timer);
    };
  }, [live, list, onAdded]);
};

/** Where the row at a place of some rows is in others; -1 if it has left. */
export const placeAfter = (place: number, before: readonly CallRow[], after: readonly CallRow[]): number => {
  const id = before[place]?.id;
  return id === undefined ? -1 : after.findIndex((row) => row.id === id);
};

/**
 * Keeps what is being read where it is when rows come in above it. At the very top nothing is kept:
 * whoever is there wants to see what is new.
 */
export const useAnchor = (
  rows: readonly CallRow[],
  scroller: RefObject<HTMLDivElement | null>,
  rowHeight: number,
): void => {
  const shown = useRef(rows);
  useLayoutEffect(() => {
    const before = shown.current;
    shown.current = rows;
    const { current: element } = scroller;
    if (before === rows || !element || element.scrollTop <= 0) return;
    const place = Math.floor(element.scrollTop / rowHeight);
    const added = placeAfter(place, before, rows) - place;
    if (added > 0) element.scrollTop += added * rowHeight;
  }, [rows, scroller, rowHeight]);
};

const none: readonly string[] = [];

/** The two rows that are to be compared: a third takes the place of the first. */
export const usePicked = (project: string) => {
  const [picked, keep] = useKept('kept picks', project, none);
  const navigate = useNavigate();
  const pick = (id: string) =>
    keep(picked.includes(id) ? picked.filter((other) => other !== id) : [...picked, id].slice(-2));
  const compare = () => {
    const [left, right] = picked;
    if (left && right) navigate({ to: '/compare', search: { project, left, right } });
  };
  return { picked, pick, compare };
};

/** The keyboard of the list: which row it is at, and what its keys do. */
export const useListKeys = (
  list: CallList,
  rows: ListState['rows'],
  project: string,
  focusSearch: () => void,
  refresh: () => void,
  { pick, compare }: ReturnType<typeof usePicked>,
) => {
  const navigate = useNavigate();
  const [help, setHelp] = useState(false);
  // The list keeps the row, for a reader who comes back.
  const [, setMoves] = useState(0);
  const setActive = useCallback(
    (placeFrom: (before: number) => number) => {
      list.active = placeFrom(list.active);
      setMoves((moves) => moves + 1);
    },
    [list],
  );
  const row = rows[list.active];
  const move = (by: number) =>
    setActive((at) => Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by)));
  const open = () => {
    if (!row) return;
    const call = row.parent_id ? { call: row.id } : {};
    navigate({ to: '/trace', search: { project, trace: row.trace_id, ...call } });
  };
  useKeys({
    ...stepKeys(move),
    Enter: open,
    x: () => row && pick(row.id),
    c: compare,
    '/': focusSearch,
    r: refresh,
    '?': () => setHelp(true),
  });
  return { active: list.active, setActive, help, setHelp };
};
