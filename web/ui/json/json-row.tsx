import { useState } from 'react';
import { countText } from '../../data/format.ts';
import { typedText } from '../../data/literal.ts';
import { imageOf } from '../image.ts';
import { LongText } from '../long-text.tsx';
import { Menu } from '../menu.tsx';
import { copyText, type JsonLine } from './lines.ts';

interface JsonRowProps {
  readonly line: JsonLine;
  readonly onToggle: () => void;
  readonly onFilter?: (path: string, value: string) => void;
}

/** How much of a text a line shows before somebody opens it. */
const lineLength = 160;

const TextValue = ({ text }: { text: string }) => {
  const [whole, setWhole] = useState(false);
  const image = imageOf(text);
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
      <span aria-hidden="true">{expanded ? '▾' : '▸'}</span> {text}
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
export const JsonRow = ({ line, onToggle, onFilter }: JsonRowProps) => {
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
