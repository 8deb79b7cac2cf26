import { Link } from '@tanstack/react-router';
import { ArrowLeft, Maximize2 } from 'lucide-react';
import { type CSSProperties, type KeyboardEvent, useRef, useState } from 'react';
import { getCallName, getWait } from '../../api/calls.ts';
import { WaitBadge } from '../../calls/badges.tsx';
import { Peek } from '../../calls/list/peek-pane.tsx';
import type { TracePaneProps } from '../../calls/trace/trace-state.ts';
import { type TraceState, treeKeys, useTraceState } from '../../calls/trace/trace-state.ts';
import { costText, countedText, countText, tokensText, tookText } from '../../data/format.ts';
import type { Tab } from '../../navigation/search.ts';
import { Failure, IconButton, Moment, Notice, Skeleton } from '../../ui/controls.tsx';
import { useSettled } from '../../ui/settled.ts';
import { Sought, useMarks } from '../../ui/sought.ts';
import { CallPanel } from './call-panel.tsx';
import { TreeView } from './tree-view.tsx';

/** What the whole trace took. */
export const TraceFacts = ({ state }: { state: TraceState }) => {
  const { query, forest, all, calls, span, usage, errors } = state;
  const [root] = forest;
  const waited = forest.reduce((sum, { waitedMs }) => sum + waitedMs, 0);
  const waiting = all.find(({ node }) => getWait(node.call) === true);
  if (!root) return null;
  return (
    <p className="facts">
      <Moment time={root.call.started_at} />
      <span>{tookText(span.end - span.start, waited)}</span>
      <span>
        {query.data?.complete === false
          ? `${countText(calls.length)}+ calls`
          : countedText(calls.length, 'call')}
      </span>
      {usage ? <span>{tokensText(usage.total)} tokens</span> : null}
      {usage?.cost === undefined ? null : <span>{costText(usage.cost)}</span>}
      {errors > 0 ? (
        <button type="button" className="as-link error-text" title="Next error" onClick={state.nextError}>
          {countedText(errors, 'error')}
        </button>
      ) : null}
      {waiting ? <WaitBadge call={waiting.node.call} /> : null}
    </p>
  );
};

/** How its reader looks at a trace. It stays as they go on to others. */
interface Look {
  readonly tab?: Tab;
  readonly plain: boolean;
}

interface ShownProps extends Pick<TracePaneProps, 'project' | 'trace' | 'call' | 'find' | 'name' | 'onCall'> {
  readonly look: Look;
  readonly onLook: (look: Look) => void;
}

/** Keys that the tree has for itself while it has the focus: elsewhere they go through the list. */
const ownKeys = /^(Arrow|Home$|End$)/;

/** A trace of a single call needs no tree. */
const minLines = 2;

const doNothing = () => {};

const Shown = ({ look, onLook, ...props }: ShownProps) => {
  const { project, onCall } = props;
  const state = useTraceState(toSearch(props), onCall, (call) => {
    if (look.tab !== 'data') onLook({ plain: look.plain });
    onCall(call);
  });
  const body = useRef<HTMLDivElement>(null);
  useMarks(body, state.marked, '.call-pane', state.selected);
  const { query, lines, all, selectedCall } = state;
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !ownKeys.test(event.key)) return;
    event.preventDefault();
    treeKeys(state, 'tree', doNothing, doNothing)[event.key]?.();
  };
  if (query.data && lines.length === 0)
    return (
      <div className="peek-body">
        <Notice kind="error">
          This trace does not exist: it was deleted, or its calls were never reported.
        </Notice>
      </div>
    );
  return (
    <Sought value={state.marked}>
      <div className="peek-body" ref={body}>
        <Failure error={query.error} onRetry={query.refetch} />
        <TraceFacts state={state} />
        {all.length < minLines ? null : (
          // biome-ignore lint/a11y/noStaticElementInteractions: what is inside has the focus
          <div className="peek-tree" style={{ '--lines': lines.length } as CSSProperties} onKeyDown={onKey}>
            <TreeView state={state} project={project} own={false} onSelect={onCall} />
          </div>
        )}
        {query.isPending ? (
          <Skeleton label="Loading the trace…" className="skeletons peek-loading" rows={9} />
        ) : null}
        {selectedCall ? (
          <section className="call-pane" aria-label="Selected call">
            <CallPanel
              key={selectedCall.id}
              call={selectedCall}
              calls={state.calls}
              tab={look.tab}
              onTab={(tab) => onLook({ ...look, tab })}
              plain={look.plain}
              isNamed={getCallName(selectedCall) !== props.name}
              onPlain={(plain) => onLook({ ...look, plain })}
            />
          </section>
        ) : null}
      </div>
    </Sought>
  );
};

/** The state of the whole view of a trace. */
const toSearch = ({
  project,
  trace,
  call,
  find,
}: Pick<TracePaneProps, 'project' | 'trace' | 'call' | 'find'>) => ({
  project,
  trace,
  ...(call !== undefined && { call }),
  ...(find !== undefined && { find }),
});

/** A row that is passed by in less than this many ms is not read. */
const passingMs = 120;

/** A trace beside the list that it is in. */
export const TracePane = (props: TracePaneProps) => {
  const { trace, name, onNext, onPrevious, onClose, onBack } = props;
  const [look, setLook] = useState<Look>({ plain: false });
  const settled = useSettled(trace, passingMs);
  return (
    <Peek
      label="Trace beside the list"
      title={name ?? 'Trace'}
      what="trace"
      back={onBack && <IconButton icon={ArrowLeft} name="Back to the thread" onClick={onBack} />}
      tools={
        <Link
          to="/trace"
          search={toSearch(props)}
          className="button quiet icon"
          aria-label="Open the trace"
          title="Open the trace (Enter)"
        >
          <Maximize2 />
        </Link>
      }
      onNext={onNext}
      onPrevious={onPrevious}
      onClose={onClose}
    >
      {settled === trace ? (
        <Shown key={trace} {...props} look={look} onLook={setLook} />
      ) : (
        <div className="peek-body" />
      )}
    </Peek>
  );
};
