import { type ComponentType, useDeferredValue, useMemo, useRef, useState } from 'react';
import { type CallRow, sumUsage } from '../../api/calls.ts';
import { toggled } from '../../data/values.ts';
import type { TraceSearch } from '../../navigation/search.ts';
import { useRead } from '../../session/session.tsx';
import { type Keys, stepKeys } from '../../ui/keys.tsx';
import { useSettled } from '../../ui/settled.ts';
import { readRows, useTrace } from '../data.ts';
import { toOperation } from '../list/request.ts';
import { findAncestors, findParents, matches, type TreeLine, toLines, toTree } from './tree.ts';

/** The time that the timeline spans, in ms since 1970. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const getSpan = (lines: readonly TreeLine[]): Span => {
  let start = Number.POSITIVE_INFINITY;
  let end = Number.NEGATIVE_INFINITY;
  for (const { node } of lines) {
    start = Math.min(start, node.start);
    end = Math.max(end, node.end);
  }
  return { start, end };
};

const none: readonly CallRow[] = [];

const useForest = (project: string, trace: string) => {
  const query = useTrace(project, trace);
  const { calls = none, readAt = 0 } = query.data ?? {};
  const forest = useMemo(() => toTree(calls, readAt), [calls, readAt]);
  const all = useMemo(() => toLines(forest), [forest]);
  const span = useMemo(() => getSpan(all), [all]);
  const usage = useMemo(() => sumUsage(forest.flatMap(({ totalUsage }) => totalUsage ?? [])), [forest]);
  return { query, calls, forest, all, span, usage };
};

/** The next item after a place that fulfils a condition, from the start again after the end. */
const nextAfter = (lines: readonly TreeLine[], at: number, fits: (line: TreeLine) => boolean) => {
  const order = [...lines.slice(at + 1), ...lines.slice(0, at + 1)];
  return order.find(fits)?.node.call.id;
};

/** For how long a text must stand before contents are searched for it, in ms, and how long it must be. */
const typingMs = 350;
const shortest = 2;

const searched = ['inputs', 'output', 'exception', 'attributes'] as const;

const noIds: ReadonlySet<string> = new Set();

/** The calls of a trace in whose contents a text is, by id: the service looks for it. */
const useFoundInside = (project: string, trace: string, sought: string) => {
  const text = useSettled(sought.trim(), typingMs);
  const query = useRead(
    ['found inside', project, trace, text],
    async (reading) => {
      const holds = searched.map((path) => toOperation({ path, op: 'contains', value: text }));
      const rows = await readRows(reading, {
        project_id: project,
        filter: { trace_ids: [trace] },
        query: { $expr: { $or: holds } },
        columns: ['parent_id'],
      });
      return new Set(rows.map(({ id }) => id));
    },
    { enabled: text.length >= shortest },
  );
  return { inside: query.data ?? noIds, searching: query.isLoading || text !== sought.trim() };
};

/** Puts the state of the view together. */
export const useTraceState = (
  { project, trace, call, find }: TraceSearch,
  select: (call: string) => void,
  /** Selects a call that failed, to see why. @default - as any other */
  selectError = select,
) => {
  const { query, calls, forest, all, span, usage } = useForest(project, trace);
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const [sought, setSought] = useState(find ?? '');
  const searchBox = useRef<HTMLInputElement>(null);
  const deferred = useDeferredValue(sought.trim().toLowerCase());
  const lines = useMemo(() => toLines(forest, collapsed), [forest, collapsed]);
  const { inside, searching } = useFoundInside(project, trace, sought);
  const found = useMemo(() => {
    const fits = (line: TreeLine) => inside.has(line.node.call.id) || matches(line, deferred);
    return new Set(deferred === '' ? [] : all.filter(fits).map(({ node }) => node.call.id));
  }, [all, deferred, inside]);
  const errors = useMemo(() => all.filter(({ node }) => node.isError).length, [all]);
  const selected = call ?? forest[0]?.call.id;
  const selectedIndex = useMemo(
    () => lines.findIndex(({ node }) => node.call.id === selected),
    [lines, selected],
  );
  const selectedCall = calls.find(({ id }) => id === selected);
  /** Selects a call that may be below a closed one. */
  const show = (id: string | undefined, go = select) => {
    if (id === undefined) return;
    const above = findAncestors(calls, id);
    setCollapsed((before) => new Set([...before].filter((closed) => !above.includes(closed))));
    go(id);
  };
  const placeInAll = () => all.findIndex(({ node }) => node.call.id === selected);
  return {
    query,
    calls,
    forest,
    all,
    lines,
    selected,
    span,
    usage,
    errors,
    selectedIndex,
    selectedCall,
    sought,
    /** It in lower case, if it is long enough to be marked where it stands. */
    marked: deferred.length < shortest ? '' : deferred,
    found,
    searching,
    anyCollapsed: collapsed.size > 0,
    searchBox,
    search: setSought,
    selectIndex: (index: number) => {
      const line = lines[index];
      if (line) select(line.node.call.id);
    },
    toggle: (index: number) => {
      const line = lines[index];
      if (line) setCollapsed((before) => toggled(before, line.node.call.id));
    },
    toggleAll: () => setCollapsed((before) => new Set(before.size > 0 ? [] : findParents(forest))),
    nextError: () =>
      show(
        nextAfter(all, placeInAll(), ({ node }) => node.isError),
        selectError,
      ),
    nextFound: () => show(nextAfter(all, placeInAll(), ({ node }) => found.has(node.call.id))),
  };
};

/** Whether there is room for the tree or the call alone, as the styles have it. */
export const isNarrow = (): boolean => window.innerWidth < 800;

/** A trace with what its reader opened, selected and looks for. */
export type TraceState = ReturnType<typeof useTraceState>;

const move = (state: TraceState, by: number): void =>
  state.selectIndex(Math.max(0, Math.min(state.lines.length - 1, state.selectedIndex + by)));

/** Opens a closed line; from an open one it goes to the first line below. */
const open = (state: TraceState): void => {
  const line = state.lines[state.selectedIndex];
  if (!line || line.node.children.length === 0) return;
  if (line.expanded) move(state, 1);
  else state.toggle(state.selectedIndex);
};

/** Closes an open line; from any other it goes to the line above it in the tree. */
const close = (state: TraceState): void => {
  const line = state.lines[state.selectedIndex];
  if (!line) return;
  if (line.expanded && line.node.children.length > 0) {
    state.toggle(state.selectedIndex);
    return;
  }
  const above = state.lines.slice(0, state.selectedIndex).findLastIndex(({ depth }) => depth < line.depth);
  if (above >= 0) state.selectIndex(above);
};

/** What keys do in the tree. */
export const treeKeys = (
  state: TraceState,
  pane: 'tree' | 'call',
  focusTree: () => void,
  leave: () => void,
): Keys => ({
  ...stepKeys((by) => move(state, by)),
  ArrowRight: () => open(state),
  ArrowLeft: () => close(state),
  Home: () => state.selectIndex(0),
  End: () => state.selectIndex(state.lines.length - 1),
  e: state.nextError,
  n: state.nextFound,
  '/': () => state.searchBox.current?.focus(),
  Escape: () => {
    const isInCall = document.activeElement?.closest('.call-pane');
    if (isInCall || (pane === 'call' && isNarrow())) focusTree();
    else leave();
  },
});

/** What a list opens beside itself: a trace, with what goes on to the next one. */
export interface TracePaneProps {
  readonly project: string;
  readonly trace: string;
  /** The call that is selected. @default - the root */
  readonly call: string | undefined;
  /** What is looked for in the trace. @default - nothing */
  readonly find: string | undefined;
  /** What the list calls the trace, until it is there. @default - nothing */
  readonly name: string | undefined;
  readonly onCall: (call: string) => void;
  /** Goes to the trace of the next row, or of the one before. @default - the list has none */
  readonly onNext: (() => void) | undefined;
  readonly onPrevious: (() => void) | undefined;
  readonly onClose: () => void;
  /** Goes back to the thread that it was opened from. @default - it was opened from the list */
  readonly onBack?: (() => void) | undefined;
}

/**
 * What shows a trace beside a list. It belongs to the view of traces, which lists may not import: the
 * frame of the page gives it to them. It loads when it is first shown.
 */
export type TracePaneType = ComponentType<TracePaneProps> & {
  readonly preload?: () => Promise<void> | undefined;
};
