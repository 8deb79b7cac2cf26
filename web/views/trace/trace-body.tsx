import { useRouter, useRouterState } from '@tanstack/react-router';
import { type CSSProperties, Suspense, useEffect, useRef, useState } from 'react';
import { isNarrow, type TraceState, treeKeys, useTraceState } from '../../calls/trace/trace-state.ts';
import { countText } from '../../data/format.ts';
import { changed, type TraceSearch } from '../../navigation/search.ts';
import { chooseShare, chosenShare } from '../../session/device.ts';
import { Button, Check, SearchBox, Skeleton } from '../../ui/controls.tsx';
import { Segments } from '../../ui/fields.tsx';
import type { Keys } from '../../ui/keys.tsx';
import { lazily } from '../../ui/lazy.ts';
import { Sought, useMarks } from '../../ui/sought.ts';
import { Splitter } from '../../ui/splitter.tsx';
import { CallPanel } from './call-panel.tsx';
import { TraceFacts } from './trace-pane.tsx';
import { TreeView } from './tree-view.tsx';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** What a narrow screen shows. @default - the call if the URL has one, else the tree */
    pane?: 'tree' | 'call';
    /** Whether a step back leads to the tree. */
    fromTree?: boolean;
  }
}

const StoryView = lazily(() => import('../../calls/trace/story-view.tsx'), 'StoryView');

/** A change of what the URL of a trace says. */
interface Step {
  readonly search: (before: TraceSearch) => TraceSearch;
  readonly replace?: boolean;
  readonly state?: (before: object) => { readonly pane: 'tree' | 'call'; readonly fromTree?: boolean };
}

/** The state of a trace, and what its panes do with the URL. */
export const useTracePanes = (search: TraceSearch, go: (step: Step) => Promise<void>) => {
  const { history } = useRouter();
  const { pane: shown, fromTree } = useRouterState({ select: ({ location }) => location.state });
  // On a narrow screen only one of them has room.
  const pane = shown ?? (search.call || search.tab ? 'call' : 'tree');
  const change = (changes: (before: TraceSearch) => TraceSearch, next = pane) =>
    go({ search: changes, replace: true, state: (before) => ({ ...before, pane: next }) });
  const select = (call: string) =>
    change((before) => changed<TraceSearch>(before, { call, comment: undefined }));
  /** Shows a call. From the tree of a narrow screen that is a step, which one can take back. */
  const openCall = async (call: string) => {
    const isStep = isNarrow() && pane === 'tree';
    const to = (before: TraceSearch) => changed<TraceSearch>(before, { call, comment: undefined });
    await change(to, isStep ? 'tree' : 'call');
    if (isStep) go({ search: (before) => before, state: () => ({ pane: 'call', fromTree: true }) });
  };
  /** Data stays in sight, of one error after another; any other tab gives way to the error. */
  const selectError = (call: string) =>
    change((before) =>
      changed<TraceSearch>(before, {
        call,
        comment: undefined,
        tab: before.tab === 'data' ? 'data' : undefined,
      }),
    );
  const state = useTraceState(search, select, selectError);
  const body = useRef<HTMLDivElement>(null);
  const focusTree = () => {
    if (pane === 'call' && isNarrow()) {
      if (fromTree) history.back();
      else change((before) => before, 'tree');
    }
    body.current?.querySelector<HTMLElement>('.tree-scroll, .story-scroll')?.focus();
  };
  const story = search.story === true;
  const showStory = (shown: boolean) =>
    change((before) => changed<TraceSearch>(before, { story: shown || undefined }));
  /** What keys do in the trace. @param leave what Escape does where there is nothing to close */
  const keys = (leave: () => void): Keys => ({
    ...treeKeys(state, pane, focusTree, leave),
    t: () => showStory(!story),
  });
  return { search, state, pane, body, change, openCall, focusTree, story, showStory, keys };
};

/** A trace in its panes. */
type TracePanes = ReturnType<typeof useTracePanes>;

/** The whole trace in a line, as soon as it is there. */
export const HeadFacts = ({ state }: { state: TraceState }) => {
  if (state.forest.length === 0 && state.query.isPending) return <Skeleton label="" rows={1} />;
  return <TraceFacts state={state} />;
};

/** What keys do in a trace. */
export const treeShortcuts = [
  ['j ↓', 'next call'],
  ['k ↑', 'previous call'],
  ['→', 'expand, or go to the first call below'],
  ['←', 'collapse, or go to the call above'],
  ['e', 'next error'],
  ['/', 'search in the tree'],
  ['n', 'next find'],
  ['t', 'tree or story'],
] as const;

const views = [
  [false, 'Tree'],
  [true, 'Story'],
] as const;

interface TraceToolsProps {
  readonly panes: TracePanes;
  readonly onHelp: () => void;
}

/** What chooses what is shown of a trace. */
export const TraceTools = ({ panes, onHelp }: TraceToolsProps) => {
  const { state, story, showStory, search, change } = panes;
  return (
    <div className="toolbar tree-tools">
      <Segments fit legend="The trace as" value={story} options={views} onChange={showStory} />
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
            checked={search.own === true}
            onChange={(own) => change((before) => changed<TraceSearch>(before, { own: own || undefined }))}
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
};

interface TraceBodyProps {
  readonly panes: TracePanes;
  /** How many comments calls have, by their ids. @default - none */
  readonly comments?: ReadonlyMap<string, number>;
}

/** The tree or the story of a trace, and the selected call beside it. */
export const TraceBody = ({ panes, comments }: TraceBodyProps) => {
  const { search, state, pane, body, change, openCall, focusTree, story } = panes;
  const { query, selectedCall } = state;
  const isThere = query.data?.complete === true;
  useEffect(() => {
    if (isThere || story) StoryView.preload?.();
  }, [isThere, story]);
  const [share, setShare] = useState(chosenShare);
  const divide = (next: number) => {
    setShare(next);
    chooseShare(next);
  };
  useMarks(body, state.marked, '.call-pane', state.selected);
  return (
    <Sought value={state.marked}>
      <div
        className="trace-body"
        data-pane={pane}
        ref={body}
        style={{ '--share': `${share}%` } as CSSProperties}
      >
        <section className="tree-pane" aria-label={story ? 'Story of the trace' : 'Tree'}>
          {query.data ? (
            story ? (
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
                comments={comments}
                onSelect={openCall}
              />
            )
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
              onTab={(tab) => change((before) => changed<TraceSearch>(before, { tab, comment: undefined }))}
              comment={search.comment}
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
  );
};
