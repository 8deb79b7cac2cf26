import { useRouter, useRouterState } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { type ComponentProps, type CSSProperties, Suspense, useEffect, useRef, useState } from 'react';
import { partText } from '../../calls/trace/parts.ts';
import { isNarrow, timelineKeys, treeKeys, useTraceState } from '../../calls/trace/trace-state.ts';
import { countText } from '../../data/format.ts';
import { changed, type Form, type Totals, type TraceSearch } from '../../navigation/search.ts';
import { chooseShare, chosenShare } from '../../session/device.ts';
import { Button, Check, SearchBox, Skeleton } from '../../ui/controls.tsx';
import { Segments } from '../../ui/fields.tsx';
import type { Keys } from '../../ui/keys.tsx';
import { isLoaded, lazily } from '../../ui/lazy.ts';
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

const TotalsPanel = lazily(() => import('./totals.tsx'), 'TotalsPanel');
const StoryView = lazily(() => import('../../calls/trace/story-view.tsx'), 'StoryView');
const TimelineView = lazily(() => import('./timeline-view.tsx'), 'TimelineView');
const GraphView = lazily(() => import('./graph-view.tsx'), 'GraphView');

/** What a trace is shown as, in the order of the keys. */
const forms: readonly (readonly [form: Form | undefined, name: string])[] = [
  [undefined, 'Tree'],
  ['story', 'Story'],
  ['timeline', 'Timeline'],
  ['graph', 'Graph'],
];

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
    body.current
      ?.querySelector<HTMLElement>('.tree-scroll, .story-scroll, .timeline-scroll, .graph-scroll')
      ?.focus();
  };
  const showAs = (as: Form | undefined) => change((before) => changed<TraceSearch>(before, { as }));
  const showOnly = (only: string | undefined) => change((before) => changed<TraceSearch>(before, { only }));
  const showWindow = (window: string | undefined) =>
    change((before) => changed<TraceSearch>(before, { window }));
  const nextForm = () =>
    showAs(forms[(forms.findIndex(([form]) => form === search.as) + 1) % forms.length]?.[0]);
  /** What keys do in the trace. @param leave what Escape does where there is nothing to close */
  const keys = (leave: () => void): Keys => ({
    ...treeKeys(state, pane, focusTree, leave),
    ...(search.as === 'timeline' && timelineKeys(state)),
    t: nextForm,
  });
  const showTotals = (totals: Totals | undefined) =>
    change((before) => changed<TraceSearch>(before, { totals }));
  const toggleTotals = (totals: Totals) => showTotals(search.totals === totals ? undefined : totals);
  return {
    search,
    state,
    pane,
    body,
    change,
    openCall,
    focusTree,
    showAs,
    showOnly,
    showWindow,
    showTotals,
    toggleTotals,
    keys,
  };
};

/** A trace in its panes. */
type TracePanes = ReturnType<typeof useTracePanes>;

/** The whole trace in a line, as soon as it is there. */
export const HeadFacts = ({ state, onTotals }: ComponentProps<typeof TraceFacts>) => {
  if (state.forest.length === 0 && state.query.isPending) return <Skeleton label="" rows={1} />;
  return <TraceFacts state={state} onTotals={onTotals} />;
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
  ['t', 'tree, story, timeline or graph'],
  ['w s', 'closer, or farther away in the timeline'],
  ['a d', 'earlier, or later in the timeline'],
  ['f', 'the call over all of the timeline'],
  ['0', 'the whole timeline'],
] as const;

interface TraceToolsProps {
  readonly panes: TracePanes;
  readonly onHelp: () => void;
}

/** What chooses what is shown of a trace. */
export const TraceTools = ({ panes, onHelp }: TraceToolsProps) => {
  const { state, showAs, showOnly, search, change } = panes;
  return (
    <div className="toolbar tree-tools">
      <Segments fit legend="The trace as" value={search.as} options={forms} onChange={showAs} />
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
      {search.as === undefined ? (
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
      ) : null}
      {state.errors > 0 ? (
        <Button kind="quiet" onClick={state.nextError}>
          Next error
        </Button>
      ) : null}
      <Button kind="quiet" onClick={onHelp} aria-label="Keyboard">
        ?
      </Button>
      {search.only === undefined ? null : (
        <ul className="chips" aria-label="Filters">
          <li className="chip">
            <span className="cut" dir="auto">
              {partText(search.only)}
            </span>
            <button
              type="button"
              aria-label={`Remove the filter ${partText(search.only)}`}
              onClick={() => showOnly(undefined)}
            >
              <X />
            </button>
          </li>
        </ul>
      )}
    </div>
  );
};

/** What the trace adds up to, if its reader asked for it. */
export const TraceTotals = ({ panes }: { panes: TracePanes }) => {
  const { search, state, showTotals, showOnly, openCall } = panes;
  if (!search.totals) return null;
  return (
    <Suspense fallback={null}>
      <TotalsPanel
        project={search.project}
        state={state}
        shown={search.totals}
        onShow={showTotals}
        onPart={showOnly}
        onCall={openCall}
      />
    </Suspense>
  );
};

interface TraceBodyProps {
  readonly panes: TracePanes;
  /** How many comments calls have, by their ids. @default - none */
  readonly comments?: ReadonlyMap<string, number> | undefined;
}

const laterForms = { story: StoryView, timeline: TimelineView, graph: GraphView } as const;

/**
 * Whether a form of a trace can be shown, or could not be loaded, which it then says itself. It loads while the trace is
 * read: React would show a placeholder for 300 ms at least.
 */
const useFormLoaded = (form: keyof typeof laterForms | undefined): boolean => {
  const [tried, setTried] = useState<typeof form>();
  useEffect(() => {
    if (form === undefined) return;
    let isWanted = true;
    const load = async () => {
      await laterForms[form].preload?.()?.catch(() => undefined);
      if (isWanted) setTried(form);
    };
    void load();
    return () => {
      isWanted = false;
    };
  }, [form]);
  return form === undefined || tried === form || isLoaded(laterForms[form]);
};

/** A trace as its reader chose to see it. */
const Shown = ({ panes, comments }: TraceBodyProps) => {
  const { search, state, openCall, showOnly, showWindow } = panes;
  const { as, only, project, own = false, plain = false } = search;
  if (only !== undefined && state.matching?.size === 0 && as !== 'graph')
    return <p className="muted center">No call of this trace is of {partText(only)}.</p>;
  if (as === 'story') return <StoryView state={state} project={project} plain={plain} onSelect={openCall} />;
  if (as === 'timeline')
    return (
      <TimelineView
        key={search.trace}
        state={state}
        window={search.window}
        onSelect={openCall}
        onWindow={showWindow}
      />
    );
  if (as === 'graph') return <GraphView state={state} only={only} onOnly={showOnly} />;
  return <TreeView state={state} project={project} own={own} comments={comments} onSelect={openCall} />;
};

/** A trace in the form that was chosen, and the selected call beside it. */
export const TraceBody = ({ panes, comments }: TraceBodyProps) => {
  const { search, state, pane, body, change, focusTree } = panes;
  const { query, selectedCall } = state;
  const name = forms.find(([form]) => form === search.as)?.[1] ?? 'Tree';
  const isThere = query.data?.complete === true;
  useEffect(() => {
    if (isThere) StoryView.preload?.();
  }, [isThere]);
  const isFormLoaded = useFormLoaded(search.as);
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
        <section className="tree-pane" aria-label={search.as ? `${name} of the trace` : name}>
          {query.data && isFormLoaded ? (
            <Suspense>
              <Shown panes={panes} comments={comments} />
            </Suspense>
          ) : query.isPending || query.data ? (
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
