import { hashKey, useQueries } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { type CallRow, getStatus } from '../../api/calls.ts';
import type { Preview } from '../../api/kind.ts';
import { readRows } from '../../calls/data.ts';
import { CallList, type ListState } from '../../calls/list/call-list.ts';
import { listState } from '../../calls/list/layout.ts';
import { usePeekSteps } from '../../calls/list/peek.tsx';
import { toRequest } from '../../calls/list/request.ts';
import type { Seen, Sight } from '../../calls/list/sight.ts';
import { costTest, getTotals, type RowFigures, readUsage } from '../../calls/list/usage.ts';
import { isSilent, previewsOfTraces } from '../../calls/previews.ts';
import { tagsOf } from '../../calls/scores.ts';
import type { TracePaneType } from '../../calls/trace/trace-state.ts';
import { isOfAllCalls, type TraceSearch, type TracesSearch } from '../../navigation/search.ts';
import { useKept, useKeptStore } from '../../session/kept.ts';
import { useSession } from '../../session/session.tsx';
import { stepKeys, stepped, useKeys } from '../../ui/keys.tsx';
import { type Hit, readHits } from './hits.ts';

/** The trace of a row: at the call if it is not the root, with the text that the rows were found by. */
export const toTraceSearch = (row: CallRow, find: string | undefined): TraceSearch & { project: string } => ({
  project: row.project_id,
  trace: row.trace_id,
  ...(row.parent_id && { call: row.id }),
  ...(find && { find }),
});

/**
 * The list of a URL's state, as its reader left it or begun anew.
 *
 * @returns the list, what it holds, what begins it anew, and why that failed last
 */
export const useCallList = (search: TracesSearch) => {
  const { client } = useSession();
  const listOptions = listState(search);
  const make = () =>
    new CallList({
      client,
      request: toRequest(listOptions, Date.now()),
      roots: !isOfAllCalls(listOptions),
      costTest: costTest(listOptions),
      text: listOptions.text,
    });
  const { kept: list, state, replace } = useKeptStore(['calls', listOptions], make);
  useEffect(() => {
    if (list.store.getState().rows.length === 0) list.more();
    return list.leave;
  }, [list]);
  // What is on the screen stays until there is something to take its place.
  const [failure, setFailure] = useState<unknown>();
  const refresh = () => {
    setFailure(undefined);
    const next = make();
    const look = () => {
      const { phase, rows, complete, error } = next.store.getState();
      if (phase === 'failed' && rows.length === 0) setFailure(error);
      else if (rows.length === 0 && !complete) return;
      else {
        next.active = list.active;
        replace(next);
      }
      leave();
    };
    const leave = next.store.subscribe(look);
    next.more();
  };
  return { list, state, refresh, failure };
};

/** Looks something up for batches of a list's rows, and keeps it as long as the list. */
const useLookUps = <Found>(
  what: keyof CallList['lookUps'],
  { number, lookUps }: CallList,
  rows: readonly Seen[],
  sight: Sight,
  read: (rows: readonly Seen[], signal: AbortSignal) => Promise<ReadonlyMap<string, Found>>,
): ReadonlyMap<string, Found> => {
  const { me } = useSession();
  return useQueries({
    queries: lookUps[what].inSight(rows, sight).map((batch) => ({
      // A list that is read anew has the same rows, and there may be more to find.
      queryKey: [what, me.key_id, number, batch],
      queryFn: ({ signal }: { signal: AbortSignal }) => read(batch, signal),
      // Live lists ask again for traces that have ended.
      staleTime: Number.POSITIVE_INFINITY,
    })),
    combine: joined,
  }) as ReadonlyMap<string, Found>;
};

const joined = (results: readonly { readonly data: ReadonlyMap<string, unknown> | undefined }[]) =>
  new Map(results.flatMap(({ data }) => [...(data ?? [])]));

const nowhere: Sight = { first: 0, last: -1, settled: true };

/** What is looked up for the rows in sight, each thing by the id of the row. */
export interface LookedUp {
  /** What their traces used in all, and how much of them failed. */
  readonly usage: ReadonlyMap<string, RowFigures>;
  /** What roots without content of their own were about. */
  readonly previews: ReadonlyMap<string, Preview>;
  /** Where the text stands that they were found by. */
  readonly hits: ReadonlyMap<string, Hit>;
  /** Their tags, if the list shows them. */
  readonly tags: ReadonlyMap<string, readonly string[]>;
}

/**
 * Looks up for rows in sight what the list does not have, and each once. Roots without content are
 * looked up once it is known that a model was used below them: without one there is nothing to find.
 */
export const useLookedUp = (
  list: CallList,
  { rows, figures }: ListState,
  sight: Sight,
  withTags: boolean,
): LookedUp => {
  const { client } = useSession();
  const { request, options } = list;
  const { project_id } = request;
  const { text = '' } = options;
  const withUsage = options.roots && !options.costTest && !request.include_trace_totals;
  const usage = useLookUps('usage', list, rows, withUsage ? sight : nowhere, (batch, signal) =>
    readUsage(client, project_id, batch, signal),
  );
  const usesModel = (row: CallRow): boolean =>
    (figures.get(row.id) ?? getTotals(row) ?? usage.get(row.id))?.usage !== undefined;
  const isAsked = options.roots && request.columns?.includes('preview') === true;
  const silent = rows
    .slice(Math.max(0, sight.first), isAsked ? sight.last + 1 : 0)
    .filter((row) => isSilent(row) && getStatus(row) !== 'running' && usesModel(row));
  const previews = useLookUps(
    'previews',
    list,
    silent,
    { ...sight, first: 0, last: silent.length - 1 },
    async (batch, signal) => {
      const traces = batch.map(({ trace_id }) => trace_id);
      const found = await previewsOfTraces(client, project_id, traces, signal);
      return new Map(
        batch.flatMap(({ id, trace_id }): [string, Preview][] => {
          const preview = found.get(trace_id);
          return preview ? [[id, preview]] : [];
        }),
      );
    },
  );
  const hits = useLookUps('hits', list, rows, text === '' ? nowhere : sight, (batch, signal) =>
    readHits(client, project_id, batch, text, signal),
  );
  const tags = useLookUps('tags', list, rows, withTags ? sight : nowhere, async (batch, signal) => {
    const found = await readRows(
      { client, signal },
      {
        project_id,
        filter: { call_ids: batch.map(({ id }) => id) },
        columns: ['attributes.tags'],
        include_feedback: true,
      },
    );
    return new Map(found.map((row) => [row.id, tagsOf(row)]));
  });
  return { usage, previews, hits, tags };
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
      const before = list.store.getState().rows;
      await list.catchUp(Date.now(), ending.signal);
      const after = list.store.getState().rows;
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

/**
 * The rows that are selected, in the order in which they were. They are those of a list: another filter shows
 * other rows, of which none is selected. Sorted otherwise, or with other columns, it is the same list.
 */
export const usePicked = (search: TracesSearch) => {
  const { project } = search;
  const { sort: _sort, columns: _columns, layout: _layout, ...rows } = listState(search);
  const [picked, keep] = useKept('kept picks', hashKey([rows]), none);
  const navigate = useNavigate();
  const latest = useRef(picked);
  latest.current = picked;
  // Where a range begins: the row that was selected last.
  const last = useRef<string>(undefined);
  const pick = (id: string) => {
    last.current = id;
    keep(picked.includes(id) ? picked.filter((other) => other !== id) : [...picked, id]);
  };
  /** Selects the rows from the one that was selected last to another one, or takes them out as that one is. */
  const pickTo = (id: string, rows: readonly CallRow[]) => {
    const from = rows.findIndex((row) => row.id === last.current);
    const to = rows.findIndex((row) => row.id === id);
    if (from < 0 || to < 0) return pick(id);
    const ids = rows.slice(Math.min(from, to), Math.max(from, to) + 1).map((row) => row.id);
    last.current = id;
    keep(
      picked.includes(id)
        ? picked.filter((other) => !ids.includes(other))
        : [...new Set([...picked, ...ids])],
    );
  };
  /** Selects all of some rows. If they are selected already, no row is. */
  const pickAll = (ids: readonly string[]) => {
    const all = new Set([...picked, ...ids]);
    keep(all.size > picked.length ? [...all] : none);
  };
  const compare = () => {
    const [left, right, ...others] = picked;
    if (left && right && others.length === 0) navigate({ to: '/compare', search: { project, left, right } });
  };
  return {
    picked,
    pick,
    pickTo,
    pickAll,
    /** Takes some out, whatever was selected meanwhile. */
    unpick: (ids: readonly string[]) => {
      latest.current = latest.current.filter((id) => !ids.includes(id));
      keep(latest.current);
    },
    clear: () => keep(none),
    compare,
  };
};

/** The trace beside the list: it opens, goes on to other rows, and closes. */
export const usePeek = (
  { peek, call }: TracesSearch,
  Pane: TracePaneType,
  scroller: RefObject<HTMLDivElement | null>,
) => {
  const isOpen = peek !== undefined;
  const steps = usePeekSteps<TracesSearch>('/traces', isOpen, Pane, () => {
    const { current: element } = scroller;
    const row = element?.querySelector<HTMLElement>('.table-row.active .row-link');
    (row ?? element)?.focus({ preventScroll: true });
  });
  // Whether the list itself has opened it: a link says only which trace it is.
  const isShown = useRef(false);
  const show = (row: CallRow) => {
    isShown.current = true;
    return steps.show({ peek: row.trace_id, call: row.parent_id ? row.id : undefined });
  };
  const close = () => {
    isShown.current = false;
    steps.close({ peek: undefined, call: undefined });
  };
  const select = (id: string) => steps.change({ call: id });
  /** The place of the row that a link means, as far as rows are there. */
  const findLinked = (rows: Rows, active: number): number => {
    if (rows[active]?.trace_id === peek) return active;
    const found = rows.findIndex((row) => row.trace_id === peek && row.id === call);
    return found < 0 ? rows.findIndex((row) => row.trace_id === peek) : found;
  };
  return { isOpen, isShown, show, close, select, findLinked };
};

interface ListKeysOptions {
  readonly list: CallList;
  readonly rows: Rows;
  readonly focusSearch: () => void;
  readonly refresh: () => void;
  readonly picks: ReturnType<typeof usePicked>;
  readonly peek: ReturnType<typeof usePeek>;
}

/** The keyboard of the list: which row it is at, and what its keys do. */
export const useListKeys = (options: ListKeysOptions) => {
  const { list, rows, focusSearch, refresh, picks, peek } = options;
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
  const linked =
    peek.isOpen && !(peek.isShown.current && list.active >= 0) ? peek.findLinked(rows, list.active) : -1;
  useEffect(() => {
    if (linked >= 0 && linked !== list.active) setActive(() => linked);
  }, [linked, list, setActive]);
  const row = rows[list.active];
  const goTo = (at: number) => {
    const next = rows[at];
    if (!next) return;
    setActive(() => at);
    if (peek.isOpen) peek.show(next);
  };
  const move = (by: number) => goTo(stepped(list.active, by, rows.length));
  const open = () => {
    if (!row) return;
    navigate({ to: '/trace', search: toTraceSearch(row, list.options.text) });
  };
  useKeys({
    ...stepKeys(move),
    Enter: open,
    p: () => (peek.isOpen ? peek.close() : row && peek.show(row)),
    ...(peek.isOpen && { Escape: peek.close }),
    x: () => row && picks.pick(row.id),
    X: () => row && picks.pickTo(row.id, rows),
    c: picks.compare,
    '/': focusSearch,
    r: refresh,
    '?': () => setHelp(true),
  });
  return { active: list.active, setActive, goTo, move, help, setHelp };
};
