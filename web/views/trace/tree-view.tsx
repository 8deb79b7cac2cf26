import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import type { TreeLine } from './tree.ts';
import { lineId, type Span, TreeRow } from './tree-row.tsx';

const rowHeight = 30;

interface TreeViewProps {
  readonly lines: readonly TreeLine[];
  readonly span: Span;
  /** The place of the selected line; -1 for none. */
  readonly selected: number;
  readonly found: ReadonlySet<string>;
  /** Whether figures are those of each call itself. */
  readonly own: boolean;
  readonly onSelect: (index: number) => void;
  readonly onToggle: (index: number) => void;
}

/** The lines of a trace, of which only those in sight are in the document. */
export const TreeView = ({ lines, span, selected, found, own, onSelect, onToggle }: TreeViewProps) => {
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
          return (
            <TreeRow
              key={line.node.call.id}
              line={line}
              index={index}
              span={span}
              selected={index === selected}
              found={found.has(line.node.call.id)}
              own={own}
              top={start}
              onSelect={() => onSelect(index)}
              onToggle={() => onToggle(index)}
            />
          );
        })}
      </div>
    </div>
  );
};
