import { useMemo, useState } from 'react';
import { countText } from '../../data/format.ts';
import { Button } from '../button.tsx';
import { blocksOf, type DiffBlock, type DiffLine, diffOf } from './lines.ts';

interface DiffViewProps {
  readonly one: string;
  readonly other: string;
  /** What is compared, for screen readers. */
  readonly label: string;
}

/** How many lines of a block are in the document at first. */
const firstLines = 500;

const signs: Readonly<Record<DiffLine['kind'], string>> = { same: ' ', removed: '−', added: '+' };
const words: Readonly<Record<DiffLine['kind'], string>> = {
  same: '',
  removed: 'removed: ',
  added: 'added: ',
};

const Line = ({ line: { kind, pieces } }: { line: DiffLine }) => (
  <div className={`diff-line ${kind}`}>
    <span aria-hidden="true" className="diff-sign">
      {signs[kind]}
    </span>
    <span className="diff-text" dir="auto">
      <span className="hidden">{words[kind]}</span>
      {pieces.map(({ text, changed }, at) => (changed ? <mark key={at}>{text}</mark> : text))}
    </span>
  </div>
);

const Block = ({ block }: { block: DiffBlock }) => {
  const [open, setOpen] = useState(!block.folded);
  const [count, setCount] = useState(firstLines);
  const { lines } = block;
  if (!open)
    return (
      <button type="button" className="diff-fold" onClick={() => setOpen(true)}>
        {countText(lines.length)} equal lines
      </button>
    );
  return (
    <>
      {lines.slice(0, count).map((line, at) => (
        <Line key={at} line={line} />
      ))}
      {lines.length > count ? (
        <Button kind="quiet" onClick={() => setCount((before) => before * 4)}>
          {countText(lines.length - count)} more lines
        </Button>
      ) : null}
    </>
  );
};

/** Two texts, one below the other, with what differs marked by sign and color. */
export const DiffView = ({ one, other, label }: DiffViewProps) => {
  const lines = useMemo(() => diffOf(one, other), [one, other]);
  const blocks = useMemo(() => blocksOf(lines ?? []), [lines]);
  if (!lines) return <p className="muted">These two differ too much to be compared line by line.</p>;
  if (lines.every(({ kind }) => kind === 'same')) return <p className="muted">Nothing differs.</p>;
  return (
    <div className="diff" role="region" aria-label={label}>
      {blocks.map((block) => (
        <Block key={`${block.at} ${block.folded}`} block={block} />
      ))}
    </div>
  );
};
