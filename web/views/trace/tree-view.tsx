import { useVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, useEffect, useRef } from 'react';
import { statusOf } from '../../api/calls.ts';
import { durationText } from '../../data/format.ts';
import { CallFigures, statusSigns } from '../../ui/controls.tsx';
import type { Span, TraceState } from './trace-state.ts';
import type { TreeLine } from './tree.ts';

/** The id of a line's element, for `aria-activedescendant`. */
const lineId = (index: number): string => `line-${index}`;

interface TreeRowProps {
  readonly line: TreeLine;
  readonly index: number;
  readonly span: Span;
  readonly selected: boolean;
  readonly found: boolean;
  /** Whether figures are those of the call itself. */
  readonly own: boolean;
  readonly top: number;
  readonly onSelect: () => void;
  readonly onToggle: () => void;
}

/** Deeper levels are indented no further, so that their names stay in sight. */
const maxIndent = 16;

const percent = (part: number, whole: number): string =>
  `${Math.min(100, Math.max(0, (part / (whole || 1)) * 100))}%`;

const Bar = ({ line: { node }, span }: Pick<TreeRowProps, 'line' | 'span'>) => {
  const whole = span.end - span.start;
  const style = {
    insetInlineStart: percent(node.start - span.start, whole),
    inlineSize: percent(node.end - node.start, whole),
  };
  return (
    <span className="lane" aria-hidden="true">
      <span className={`span ${statusOf(node.call)}`} style={style} />
    </span>
  );
};

/** A call as a line of tree and timeline. */
const TreeRow = (props: TreeRowProps) => {
  const { line, index, selected, found, own, top, onSelect, onToggle } = props;
  const { node, depth, expanded } = line;
  const status = statusOf(node.call);
  const inAll = durationText(node.end - node.start);
  const hasChildren = node.children.length > 0;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the focus, and takes all keys
    <div
      role="treeitem"
      id={lineId(index)}
      aria-level={depth + 1}
      aria-selected={selected}
      aria-expanded={hasChildren ? expanded : undefined}
      className={`tree-row ${selected ? 'selected' : ''} ${found ? 'found' : ''} ${status}`}
      style={{ transform: `translateY(${top}px)`, '--depth': Math.min(depth, maxIndent) } as CSSProperties}
      onClick={onSelect}
    >
      <span className="node">
        <span
          className="twisty"
          aria-hidden="true"
          onClick={(event) => {
            if (!hasChildren) return;
            event.stopPropagation();
            onToggle();
          }}
        >
          {hasChildren ? (expanded ? '▾' : '▸') : ''}
        </span>
        {status === 'success' ? null : (
          <span className={`sign ${status}`} role="img" aria-label={status.replace('_', ' ')}>
            {statusSigns[status]}
          </span>
        )}
        <span className="cut" dir="auto">
          {node.name}
        </span>
      </span>
      {own ? (
        <CallFigures usage={node.usage} duration={durationText(node.ownMs)} title={`${inAll} in all`} />
      ) : (
        <CallFigures
          usage={node.totalUsage}
          duration={inAll}
          title={`${durationText(node.ownMs)} of its own`}
        />
      )}
      <Bar {...props} />
    </div>
  );
};

const rowHeight = 30;

interface TreeViewProps {
  readonly state: TraceState;
  /** Whether figures are those of each call itself. */
  readonly own: boolean;
  readonly onSelect: (call: string) => void;
}

/** The lines of a trace, of which only those in sight are in the document. */
export const TreeView = ({ state, own, onSelect }: TreeViewProps) => {
  const { lines, span, selectedIndex: selected, found, toggle } = state;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
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
        {virtual.getVirtualItems().map(({ index, start }) => {
          const line = lines[index];
          if (!line) return null;
          const { id } = line.node.call;
          return (
            <TreeRow
              key={id}
              line={line}
              index={index}
              span={span}
              selected={index === selected}
              found={found.has(id)}
              own={own}
              top={start}
              onSelect={() => onSelect(id)}
              onToggle={() => toggle(index)}
            />
          );
        })}
      </div>
    </div>
  );
};
