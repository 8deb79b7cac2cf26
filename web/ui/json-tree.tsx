import { useVirtualizer } from '@tanstack/react-virtual';
import { ChevronRight } from 'lucide-react';
import { useDeferredValue, useMemo, useRef, useState } from 'react';
import { countText } from '../data/format.ts';
import { toggled, typedText } from '../data/values.ts';
import { CopyButton, SearchBox } from './controls.tsx';
import { copyText, firstOpen, type JsonLine, type JsonRoot, search, toLines } from './json.ts';
import { Menu } from './popups.tsx';
import { getImage, LongText } from './text.tsx';

interface JsonRowProps {
  readonly line: JsonLine;
  readonly onToggle: () => void;
  readonly onFilter?: (path: string, value: string) => void;
}

/** How much of a text a line shows before somebody opens it. */
const lineLength = 160;

const TextValue = ({ text }: { text: string }) => {
  const [whole, setWhole] = useState(false);
  const image = getImage(text);
  if (whole && image) return <img className="image" src={image} alt="In the call's data" />;
  if (whole) return <LongText text={text} />;
  const isLong = text.length > lineLength || text.includes('\n');
  if (!isLong)
    return (
      <span className="json-string" dir="auto">
        {JSON.stringify(text)}
      </span>
    );
  return (
    <button type="button" className="json-string open-text" onClick={() => setWhole(true)} dir="auto">
      {JSON.stringify(text.slice(0, lineLength)).slice(0, -1)}…{' '}
      <span className="muted">{image ? 'show the image' : `${countText(text.length)} characters`}</span>
    </button>
  );
};

const Value = ({ line, onToggle }: Pick<JsonRowProps, 'line' | 'onToggle'>) => {
  const { value, size, expanded, label } = line;
  if (typeof value === 'string') return <TextValue text={value} />;
  if (size === undefined) return <span className={`json-${typeof value}`}>{String(value)}</span>;
  const text = Array.isArray(value) ? `[${countText(size)}]` : `{${countText(size)}}`;
  if (size === 0) return <span className="muted">{Array.isArray(value) ? '[]' : '{}'}</span>;
  return (
    <button
      type="button"
      className="json-open"
      aria-expanded={expanded}
      aria-label={`${label} ${text}`}
      onClick={onToggle}
    >
      <ChevronRight className={expanded ? 'turned' : ''} /> {text}
    </button>
  );
};

const copy = (text: () => string) => () => {
  // A value may be nested too deeply to be written, and browsers may keep the clipboard back.
  try {
    navigator.clipboard.writeText(text()).catch(() => {});
  } catch {}
};

/** A value with its key, and what can be done with it. */
const JsonRow = ({ line, onToggle, onFilter }: JsonRowProps) => {
  const { label, path, value, depth, size } = line;
  const items = [
    { label: 'Copy value', onSelect: copy(() => copyText(value)) },
    { label: 'Copy path', onSelect: copy(() => path) },
    ...(onFilter && size === undefined && path !== ''
      ? [
          {
            label: 'Filter by this value',
            onSelect: () =>
              onFilter(path, typeof value === 'string' ? typedText(value) : JSON.stringify(value)),
          },
        ]
      : []),
  ];
  return (
    <div className="json-row" style={{ paddingInlineStart: `${Math.min(depth, 30) * 14}px` }}>
      <Menu
        label={<bdi className="json-key">{label === '' ? 'value' : label}</bdi>}
        name={`Value of ${path}`}
        className="json-menu"
        items={items}
      />
      <Value line={line} onToggle={onToggle} />
    </div>
  );
};

interface JsonTreeProps extends JsonRoot {
  /** What it is, for screen readers. */
  readonly label: string;
  /** Shows only calls that have a value at a path. @default - it is not offered */
  readonly onFilter?: (path: string, value: string) => void;
}

const lineHeight = 24;

/** From this many lines on, a tree can be searched. */
const searchableLines = 8;

/** Any JSON value as a tree of lines, of which only those in sight are in the document. */
export const JsonTree = ({ value, path, label, onFilter }: JsonTreeProps) => {
  const root = useMemo(() => ({ value, path }), [value, path]);
  const [open, setOpen] = useState(() => firstOpen(root));
  const [sought, setSought] = useState('');
  const deferred = useDeferredValue(sought);
  const found = useMemo(() => (deferred === '' ? undefined : search(root, deferred)), [root, deferred]);
  const plain = useMemo(() => toLines(root, open), [root, open]);
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
          <SearchBox
            label={`Search in ${label}`}
            placeholder="Search keys and values"
            text={sought}
            onText={setSought}
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
