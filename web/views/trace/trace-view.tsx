import { getRouteApi, Link, useRouter, useRouterState } from '@tanstack/react-router';
import { type CSSProperties, Suspense, useEffect, useRef, useState } from 'react';
import type { CallRow } from '../../api/calls.ts';
import type { CallList } from '../../calls/list/call-list.ts';
import { listState } from '../../calls/list/layout.ts';
import { isNarrow, type TraceState, treeKeys, useTraceState } from '../../calls/trace/trace-state.ts';
import { countText } from '../../data/format.ts';
import { changed, type TraceSearch, type TracesSearch } from '../../navigation/search.ts';
import { useTitle } from '../../navigation/title.ts';
import { chooseShare, chosenShare } from '../../session/device.ts';
import { useKeeper, useKept } from '../../session/kept.ts';
import { useWake } from '../../session/session.tsx';
import { Button, Check, Failure, Notice, SearchBox, Skeleton } from '../../ui/controls.tsx';
import { Segments } from '../../ui/fields.tsx';
import { Shortcuts, useKeys } from '../../ui/keys.tsx';
import { lazily } from '../../ui/lazy.ts';
import { Sought, useMarks } from '../../ui/sought.ts';
import { Splitter } from '../../ui/splitter.tsx';
import { CallPanel } from './call-panel.tsx';
import { TraceFacts } from './trace-pane.tsx';
import { TreeView } from './tree-view.tsx';

/** The list that a trace was opened from, as its reader left it, with the rows around the trace. */
const useNeighbours = (project: string, trace: string) => {
  const keeper = useKeeper();
  const [search] = useKept<TracesSearch>('kept list', project, { project });
  const list = keeper.get<CallList>(['calls', listState(search)]);
  const rows = list?.store.getState().rows ?? [];
  const isHere = (row: CallRow | undefined) => row?.trace_id === trace;
  const at = list && isHere(rows[list.active]) ? list.active : rows.findIndex(isHere);
  return {
    search,
    /** The place of the trace in its list, from 1; undefined if it is in none. */
    place: at < 0 ? undefined : at + 1,
    mayGo: (by: 1 | -1) =>
      at >= 0 && (by < 0 ? at > 0 : at < rows.length - 1 || !list?.store.getState().complete),
    /** The row before or after the trace, which the list then is at; undefined if there is none. */
    step: async (by: 1 | -1): Promise<CallRow | undefined> => {
      if (!list || at < 0) return undefined;
      if (at + by >= list.store.getState().rows.length) await list.more();
      const row = list.store.getState().rows[at + by];
      if (row) list.active = at + by;
      return row;
    },
  };
};

export { TracePane } from './trace-pane.tsx';

const route = getRouteApi('/trace');

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** What a narrow screen shows. @default - the call if the URL has one, else the tree */
    pane?: 'tree' | 'call';
    /** Whether a step back leads to the tree. */
    fromTree?: boolean;
  }
}

const keys = [
  ['j ↓', 'next call'],
  ['k ↑', 'previous call'],
  ['→', 'expand, or go to the first call below'],
  ['←', 'collapse, or go to the call above'],
  ['e', 'next error'],
  ['/', 'search in the tree'],
  ['n', 'next find'],
  ['t', 'tree or story'],
  ['J', 'next trace of the list'],
  ['K', 'previous trace of the list'],
  ['Escape', 'back to the tree, or the list'],
  ['?', 'these keys'],
] as const;

const StoryView = lazily(() => import('../../calls/trace/story-view.tsx'), 'StoryView');

/** The whole trace in a line. */
const Summary = ({ state }: { state: TraceState }) => {
  const [root] = state.forest;
  if (!root) return state.query.isPending ? <Skeleton label="" rows={1} /> : null;
  return (
    <>
      <h1 className="cut" dir="auto">
        {root.name}
      </h1>
      <TraceFacts state={state} />
    </>
  );
};

interface WayBackProps {
  readonly neighbours: ReturnType<typeof useNeighbours>;
  readonly onStep: (by: 1 | -1) => void;
}

const steps = [
  [-1, '↑', 'Previous trace of the list', 'K'],
  [1, '↓', 'Next trace of the list', 'J'],
] as const;

/** The way to the list as it was left, and to the traces around this one. */
const WayBack = ({ neighbours, onStep }: WayBackProps) => (
  <nav className="way-back" aria-label="The list of traces">
    <Link to="/traces" search={neighbours.search} className="button quiet">
      ← Traces
    </Link>
    {neighbours.place === undefined
      ? null
      : steps.map(([by, sign, name, key]) => (
          <Button
            key={by}
            kind="quiet"
            aria-label={name}
            title={`${name} (${key})`}
            idle={!neighbours.mayGo(by)}
            onClick={() => onStep(by)}
          >
            {sign}
          </Button>
        ))}
  </nav>
);

const views = [
  [false, 'Tree'],
  [true, 'Story'],
] as const;

interface TreeToolsProps {
  readonly state: TraceState;
  readonly story: boolean;
  readonly onStory: (story: boolean) => void;
  readonly own: boolean;
  readonly onOwn: (own: boolean) => void;
  readonly onHelp: () => void;
}

const TreeTools = ({ state, story, onStory, own, onOwn, onHelp }: TreeToolsProps) => (
  <div className="tree-tools">
    <Segments legend="The trace as" value={story} options={views} onChange={onStory} />
    <SearchBox
      box={state.searchBox}
      label="Search in the tree"
      placeholder="Search"
      text={state.sought}
      onText={state.search}
      onKeyDown={(event) => {
        if (event.key === 'Enter') state.nextFound();
        if (event.key === 'Escape') event.currentTarget.blur();
      }}
    />
    {state.sought ? (
      <span className="muted" role="status">
        {countText(state.found.size)}
        {state.searching ? '…' : ' found'}
      </span>
    ) : null}
    {story ? null : (
      <>
        <Check
          label="Own"
          title="Each call on its own, without its children"
          checked={own}
          onChange={onOwn}
        />
        <Button kind="quiet" onClick={state.toggleAll}>
          {state.anyCollapsed ? 'Open all' : 'Close all'}
        </Button>
      </>
    )}
    {state.errors > 0 ? (
      <Button kind="quiet" onClick={state.nextError}>
        Next error
      </Button>
    ) : null}
    <Button kind="quiet" onClick={onHelp} aria-label="Keyboard">
      ?
    </Button>
  </div>
);

/** What stands there when a trace has no calls. */
const Gone = ({ project }: { project: string }) => (
  <main className="center">
    <Notice
      kind="error"
      action={
        <Link to="/traces" search={{ project }}>
          All traces
        </Link>
      }
    >
      This trace does not exist: it was deleted, or its calls were never reported.
    </Notice>
  </main>
);

/** A trace: its tree and timeline, and the selected call beside it. */
export const TraceView = () => {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [help, setHelp] = useState(false);
  const { history } = useRouter();
  const { pane: shown, fromTree } = useRouterState({ select: ({ location }) => location.state });
  // On a narrow screen only one of them has room.
  const pane = shown ?? (search.call || search.tab ? 'call' : 'tree');
  const change = (changes: (before: TraceSearch) => TraceSearch, next = pane) =>
    navigate({ search: changes, replace: true, state: (before) => ({ ...before, pane: next }) });
  const select = (call: string) => change((before) => ({ ...before, call }));
  /** Shows a call. From the tree of a narrow screen that is a step, which one can take back. */
  const openCall = async (call: string) => {
    const isStep = isNarrow() && pane === 'tree';
    await change((before) => ({ ...before, call }), isStep ? 'tree' : 'call');
    if (isStep) navigate({ search: (before) => before, state: { pane: 'call', fromTree: true } });
  };
  useWake(search.project, ['/call/read']);
  const state = useTraceState(search, select);
  useTitle(state.forest[0]?.name);
  const body = useRef<HTMLDivElement>(null);
  const focusTree = () => {
    if (pane === 'call' && isNarrow()) {
      if (fromTree) history.back();
      else change((before) => before, 'tree');
    }
    body.current?.querySelector<HTMLElement>('.tree-scroll, .story-scroll')?.focus();
  };
  const neighbours = useNeighbours(search.project, search.trace);
  const leave = () => navigate({ to: '/traces', search: neighbours.search });
  const step = async (by: 1 | -1) => {
    const row = await neighbours.step(by);
    if (!row) return;
    const { trace_id: trace, id, parent_id } = row;
    const call = parent_id ? id : undefined;
    navigate({ search: (before) => changed<TraceSearch>(before, { trace, call }), replace: true });
  };
  const story = search.story === true;
  const showStory = (shown: boolean) =>
    change((before) => changed<TraceSearch>(before, { story: shown || undefined }));
  const isThere = state.query.data?.complete === true;
  useEffect(() => {
    if (isThere || story) StoryView.preload?.();
  }, [isThere, story]);
  const [share, setShare] = useState(chosenShare);
  const divide = (next: number) => {
    setShare(next);
    chooseShare(next);
  };
  useKeys({
    ...treeKeys(state, pane, focusTree, leave),
    t: () => showStory(!story),
    J: () => step(1),
    K: () => step(-1),
    '?': () => setHelp(true),
  });
  useMarks(body, state.marked, '.call-pane', state.selected);
  const { query, lines, selectedCall } = state;
  if (query.data && lines.length === 0) return <Gone project={search.project} />;
  return (
    <main className="trace">
      <Failure error={query.error} onRetry={query.refetch} />
      <div className="trace-head">
        <WayBack neighbours={neighbours} onStep={step} />
        <Summary state={state} />
      </div>
      <Sought value={state.marked}>
        <div
          className="trace-body"
          data-pane={pane}
          ref={body}
          style={{ '--share': `${share}%` } as CSSProperties}
        >
          <section className="tree-pane" aria-label={story ? 'Story of the trace' : 'Tree'}>
            {query.data ? (
              <>
                <TreeTools
                  state={state}
                  story={story}
                  onStory={showStory}
                  own={search.own === true}
                  onOwn={(own) => change((before) => changed<TraceSearch>(before, { own: own || undefined }))}
                  onHelp={() => setHelp(true)}
                />
                {story ? (
                  <Suspense fallback={<p className="muted center">Loading the story…</p>}>
                    <StoryView
                      state={state}
                      project={search.project}
                      plain={search.plain ?? false}
                      onSelect={openCall}
                    />
                  </Suspense>
                ) : (
                  <TreeView
                    state={state}
                    project={search.project}
                    own={search.own === true}
                    onSelect={openCall}
                  />
                )}
              </>
            ) : query.isPending ? (
              <Skeleton label="Loading the trace…" rows={9} />
            ) : null}
          </section>
          <Splitter label="Width of the tree" share={share} onShare={divide} />
          <section className="call-pane" aria-label="Selected call">
            <Button kind="quiet" className="back" onClick={focusTree}>
              ← Tree
            </Button>
            {selectedCall ? (
              <CallPanel
                key={selectedCall.id}
                call={selectedCall}
                calls={state.calls}
                tab={search.tab}
                onTab={(tab) => change((before) => ({ ...before, tab }))}
                plain={search.plain ?? false}
                onPlain={(plain) =>
                  change((before) => changed<TraceSearch>(before, { plain: plain || undefined }))
                }
              />
            ) : query.isPending ? (
              <Skeleton label="" rows={9} />
            ) : null}
          </section>
        </div>
      </Sought>
      <Shortcuts open={help} onClose={() => setHelp(false)} keys={keys} />
    </main>
  );
};
