import { useVirtualizer } from '@tanstack/react-virtual';
import { useDeferredValue, useMemo, useRef, useState } from 'react';
import { countText } from '../../data/format.ts';
import { CopyButton } from '../copy-button.tsx';
import { JsonRow } from './json-row.tsx';
import { copyText, firstOpen, type JsonRoot, linesOf, search } from './lines.ts';

interface JsonTreeProps extends JsonRoot {
  /** What it is, for screen readers. */
  readonly label: string;
  /** Shows only calls that have a value at a path. @default - it is not offered */
  readonly onFilter?: (path: string, value: string) => void;
}

const lineHeight = 24;

/** From this many lines on, a tree can be searched. */
const searchableLines = 8;

const toggled = (set: ReadonlySet<string>, path: string): ReadonlySet<string> => {
  const next = new Set(set);
  if (!next.delete(path)) next.add(path);
  return next;
};

/** Any JSON value as a tree of lines, of which only those in sight are in the document. */
export const JsonTree = ({ value, path, label, onFilter }: JsonTreeProps) => {
  const root = useMemo(() => ({ value, path }), [value, path]);
  const [open, setOpen] = useState(() => firstOpen(root));
  const [sought, setSought] = useState('');
  const deferred = useDeferredValue(sought);
  const found = useMemo(() => (deferred === '' ? undefined : search(root, deferred)), [root, deferred]);
  const plain = useMemo(() => linesOf(root, open), [root, open]);
  const lines = found?.lines ?? plain;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => lineHeight,
    overscan: 8,
  });
  return (
    <div className="json">
      <div className="json-tools">
        {plain.length >= searchableLines || found ? (
          <input
            type="search"
            aria-label={`Search in ${label}`}
            placeholder="Search keys and values"
            value={sought}
            onChange={(event) => setSought(event.target.value)}
          />
        ) : null}
        {found ? (
          <span className="muted" role="status">
            {countText(found.lines.length)}
            {found.cut ? ' and more' : ''} found
          </span>
        ) : null}
        <span className="spring" />
        <CopyButton text={() => copyText(value)} label={`Copy ${label} as JSON`}>
          Copy
        </CopyButton>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by keyboard */}
      <div ref={scroller} className="json-scroll" tabIndex={0} role="region" aria-label={label}>
        <div className="json-lines" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start, key }) => {
            const line = lines[index];
            return line ? (
              <div
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                className="json-line"
                style={{ transform: `translateY(${start}px)` }}
              >
                <JsonRow
                  line={line}
                  onToggle={() => setOpen((before) => toggled(before, line.path))}
                  {...(onFilter && { onFilter })}
                />
              </div>
            ) : null;
          })}
        </div>
      </div>
    </div>
  );
};
