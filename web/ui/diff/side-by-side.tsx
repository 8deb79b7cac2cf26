import { useMemo, useState } from 'react';
import { countText } from '../../data/format.ts';
import { Button } from '../button.tsx';
import { blocksOf, type DiffBlock, type DiffLine, diffOf } from './lines.ts';
import { sidesOf } from './sides.ts';

interface SideBySideProps {
  readonly left: string;
  readonly right: string;
  /** What is compared, for screen readers. */
  readonly label: string;
}

/** How many rows of a block are in the document at first. */
const firstRows = 300;

const Side = ({ line, name }: { line: DiffLine | undefined; name: string }) => {
  const changed = line !== undefined && line.kind !== 'same';
  return (
    <div className={`side ${line?.kind ?? 'absent'}`} dir="auto">
      {changed ? <span className="hidden">only {name}: </span> : null}
      {line?.pieces.map(({ text, changed: marked }, at) => (marked ? <mark key={at}>{text}</mark> : text))}
    </div>
  );
};

const Block = ({ block }: { block: DiffBlock }) => {
  const [open, setOpen] = useState(!block.folded);
  const [count, setCount] = useState(firstRows);
  const rows = useMemo(() => sidesOf(block.lines), [block]);
  if (!open)
    return (
      <button type="button" className="diff-fold" onClick={() => setOpen(true)}>
        {countText(rows.length)} equal lines
      </button>
    );
  return (
    <>
      {rows.slice(0, count).map(({ left, right }, at) => (
        <div key={at} className="sides">
          <Side line={left} name="left" />
          <Side line={right} name="right" />
        </div>
      ))}
      {rows.length > count ? (
        <Button kind="quiet" onClick={() => setCount((before) => before * 4)}>
          {countText(rows.length - count)} more lines
        </Button>
      ) : null}
    </>
  );
};

/** Two texts beside each other, with what differs marked by color and underline. */
export const SideBySide = ({ left, right, label }: SideBySideProps) => {
  const lines = useMemo(() => diffOf(left, right), [left, right]);
  const blocks = useMemo(() => blocksOf(lines ?? []), [lines]);
  if (!lines) return <p className="muted">These two differ too much to be compared line by line.</p>;
  if (lines.every(({ kind }) => kind === 'same')) return <p className="muted">Nothing differs.</p>;
  return (
    <section className="diff" aria-label={label}>
      {blocks.map((block) => (
        <Block key={`${block.at} ${block.folded}`} block={block} />
      ))}
    </section>
  );
};
