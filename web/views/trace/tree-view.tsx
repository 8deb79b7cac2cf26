import { useVirtualizer } from '@tanstack/react-virtual';
import { ChevronRight, MessageSquare } from 'lucide-react';
import { type CSSProperties, memo, useCallback, useEffect, useMemo, useRef } from 'react';
import { type CallRow, getStatus, usageByModel } from '../../api/calls.ts';
import type { Preview } from '../../api/kind.ts';
import { CallFigures, statusSigns, WaitBadge } from '../../calls/badges.tsx';
import { useInSight } from '../../calls/data.ts';
import { KindIcon } from '../../calls/kind-icon.tsx';
import { shownPreview } from '../../calls/previews.ts';
import { About } from '../../calls/trace/about.tsx';
import { type Loop, loopText } from '../../calls/trace/loops.ts';
import type { Span, TraceState } from '../../calls/trace/trace-state.ts';
import type { TreeLine, TreeNode } from '../../calls/trace/tree.ts';
import { countedText, durationText, tookText } from '../../data/format.ts';

/** The id of a line's element, for `aria-activedescendant`. */
const lineId = (index: number): string => `line-${index}`;

interface TreeRowProps {
  readonly line: TreeLine;
  readonly index: number;
  readonly span: Span;
  readonly selected: boolean;
  readonly found: boolean;
  /** Whether it is there only to say where calls below it are. */
  readonly beside: boolean;
  /** How many comments it has. */
  readonly comments: number;
  /** What it was about; undefined until that is read. */
  readonly input: string | null;
  readonly output: string | null;
  /** The loop that it stands for, and whether that is unfolded. @default - none */
  readonly loop: Loop | undefined;
  readonly unfolded: boolean;
  /** Whether figures are those of the call itself. */
  readonly own: boolean;
  readonly top: number;
  readonly onSelect: (call: string) => void;
  readonly onToggle: (index: number) => void;
  readonly onLoop: (call: string) => void;
}

/** Deeper levels are indented no further, so that their names stay in sight. */
const maxIndent = 16;

const percent = (part: number, whole: number): string =>
  `${Math.min(100, Math.max(0, (part / (whole || 1)) * 100))}%`;

/** How wide a bar is at least: one at the end of the trace keeps as much room, too. */
const leastBar = 3;

const Bar = ({ line: { node }, span }: Pick<TreeRowProps, 'line' | 'span'>) => {
  const whole = span.end - span.start;
  const style = {
    insetInlineStart: `min(${percent(node.start - span.start, whole)}, 100% - ${leastBar}px)`,
    inlineSize: percent(node.end - node.start, whole),
    minInlineSize: leastBar,
  };
  return (
    <span className="lane" aria-hidden="true">
      <span className={`span ${getStatus(node.call)}`} data-kind={node.kind} style={style} />
    </span>
  );
};

/** A call as a line of tree and timeline. Scrolling leaves the lines as they are that stay in sight. */
const TreeRow = memo((props: TreeRowProps) => {
  const { line, index, selected, found, beside, comments, input, output, own, top, onSelect, onToggle } =
    props;
  const { loop, unfolded, onLoop } = props;
  const { node, depth, expanded } = line;
  const status = getStatus(node.call);
  const inAll = durationText(node.end - node.start);
  const took = tookText(node.end - node.start, node.waitedMs);
  const hasChildren = node.children.length > 0;
  const [model] = usageByModel(node.call).keys();
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the focus, and takes all keys
    <div
      role="treeitem"
      id={lineId(index)}
      aria-level={depth + 1}
      aria-selected={selected}
      aria-expanded={loop && !unfolded ? false : hasChildren ? expanded : loop && true}
      className={`tree-row ${selected ? 'selected' : ''} ${found ? 'found' : ''} ${beside ? 'beside' : ''} ${status}`}
      style={{ transform: `translateY(${top}px)`, '--depth': Math.min(depth, maxIndent) } as CSSProperties}
      onClick={() => onSelect(node.call.id)}
    >
      <span className={`node ${input === null && output === null ? '' : 'told'}`}>
        <span
          className="twisty"
          aria-hidden="true"
          onClick={(event) => {
            if (!hasChildren) return;
            event.stopPropagation();
            onToggle(index);
          }}
        >
          {hasChildren ? <ChevronRight className={expanded ? 'turned' : ''} /> : null}
        </span>
        <KindIcon kind={node.kind} />
        {status === 'success' ? null : (
          <span className={`sign ${status}`} role="img" aria-label={status.replace('_', ' ')}>
            {statusSigns[status]}
          </span>
        )}
        <span className="cut name" dir="auto">
          {node.name}
        </span>
        {line.agent === undefined ? null : (
          <span className="cut agent-name" dir="auto" title={`agent ${line.agent}`}>
            {line.agent}
          </span>
        )}
        {model === undefined || node.name.includes(model) ? null : (
          <span className="cut model-name" dir="auto" title={`model ${model}`}>
            {model}
          </span>
        )}
        {loop ? (
          // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/noStaticElementInteractions: the tree has the focus, and takes all keys
          <span
            className={`badge loop ${unfolded ? 'unfolded' : ''}`}
            title={`${unfolded ? 'Fold' : 'Unfold'} calls of ${loop.tool} that have ${loopText(loop).replace(/^.*? × /, '')}`}
            onClick={(event) => {
              event.stopPropagation();
              onLoop(node.call.id);
            }}
          >
            <span aria-hidden="true">↻</span> {loopText(loop)}
          </span>
        ) : null}
        <WaitBadge call={node.call} />
        {comments > 0 ? (
          <span className="comment-mark" role="img" aria-label={countedText(comments, 'comment')}>
            <MessageSquare /> {comments > 1 ? comments : ''}
          </span>
        ) : null}
        <About input={input} output={output} />
      </span>
      {own ? (
        <CallFigures usage={node.usage} duration={durationText(node.ownMs)} title={`${took} in all`} />
      ) : (
        <CallFigures
          usage={node.totalUsage}
          duration={inAll}
          title={`${node.waitedMs > 0 ? `${took}; ` : ''}${durationText(node.ownMs)} of its own`}
        />
      )}
      <Bar {...props} />
    </div>
  );
});

const rowHeight = 30;

/** Previews are read for so many lines at once. */
const chunkSize = 48;

const columns = ['preview'];

const nothing: Preview = { input: null, output: null };

/** The calls whose previews tell what a line was about: a root may have nothing to show itself. */
const askedFor = ({ call, firstModel, lastModel }: TreeNode): CallRow[] =>
  call.parent_id || !firstModel || !lastModel ? [call] : [call, firstModel, lastModel];

/** What the lines in sight were about, by call, read in batches. */
const usePreviews = (project: string, all: readonly TreeLine[], shown: readonly TreeLine[]) => {
  const places = useMemo(() => new Map(all.map(({ node }, at) => [node.call.id, at])), [all]);
  const chunks = [
    ...new Set(shown.map(({ node }) => Math.floor((places.get(node.call.id) ?? 0) / chunkSize))),
  ].join();
  const batches = useMemo(
    () =>
      (chunks === '' ? [] : chunks.split(',')).map((chunk) => {
        const first = Number(chunk) * chunkSize;
        const calls = all.slice(first, first + chunkSize).flatMap(({ node }) => askedFor(node));
        return [...new Map(calls.map((call) => [call.id, call])).values()];
      }),
    [all, chunks],
  );
  const rows = useInSight(project, batches, columns);
  return ({ call, firstModel, lastModel }: TreeNode): Preview | undefined => {
    const own = rows.get(call.id)?.preview;
    if (!own || call.parent_id) return own;
    return {
      input: own.input ?? rows.get(firstModel?.id ?? '')?.preview?.input ?? null,
      output: own.output ?? rows.get(lastModel?.id ?? '')?.preview?.output ?? null,
    };
  };
};

interface TreeViewProps {
  readonly state: TraceState;
  readonly project: string;
  /** Whether figures are those of each call itself. */
  readonly own: boolean;
  /** How many comments calls have, by their ids. @default - none */
  readonly comments?: ReadonlyMap<string, number> | undefined;
  readonly onSelect: (call: string) => void;
}

/** The lines of a trace, of which only those in sight are in the document. */
export const TreeView = ({ state, project, own, comments, onSelect }: TreeViewProps) => {
  const { all, lines, span, selectedIndex: selected, found, matching, toggle } = state;
  const { loopOf, unfolded, toggleLoop } = state;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const shown = virtual.getVirtualItems();
  const previews = usePreviews(
    project,
    all,
    shown.flatMap(({ index }) => lines[index] ?? []),
  );
  // What lines do when they are clicked is the same from one frame to the next.
  const doing = useRef({ onSelect, toggle, toggleLoop });
  doing.current = { onSelect, toggle, toggleLoop };
  const select = useCallback((call: string) => doing.current.onSelect(call), []);
  const fold = useCallback((index: number) => doing.current.toggle(index), []);
  const foldLoop = useCallback((call: string) => doing.current.toggleLoop(call), []);
  useEffect(() => {
    if (selected >= 0) virtual.scrollToIndex(selected, { align: 'auto' });
  }, [selected, virtual]);
  return (
    <div
      ref={scroller}
      className="tree-scroll"
      role="tree"
      tabIndex={0}
      aria-label="Calls of the trace"
      aria-activedescendant={selected >= 0 ? lineId(selected) : undefined}
    >
      <div role="presentation" className="tree" style={{ height: virtual.getTotalSize() }}>
        {shown.map(({ index, start }) => {
          const line = lines[index];
          if (!line) return null;
          const { id } = line.node.call;
          const itsLoop = loopOf.get(id);
          const loop = itsLoop?.calls[0] === id ? itsLoop : undefined;
          const preview = previews(line.node);
          const { input, output } = preview ? shownPreview(preview, line.node.call) : nothing;
          return (
            <TreeRow
              key={id}
              line={line}
              index={index}
              span={span}
              selected={index === selected}
              found={found.has(id)}
              beside={matching !== undefined && !matching.has(id)}
              comments={comments?.get(id) ?? 0}
              input={input}
              output={output}
              own={own}
              top={start}
              onSelect={select}
              onToggle={fold}
              onLoop={foldLoop}
              loop={loop}
              unfolded={unfolded.has(id)}
            />
          );
        })}
      </div>
    </div>
  );
};
