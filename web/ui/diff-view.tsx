import { type ReactNode, useMemo, useState } from 'react';
import { countText } from '../data/format.ts';
import { Button } from './controls.tsx';
import { type DiffBlock, type DiffLine, diffTexts, foldBlocks, toSides } from './diff.ts';

interface DiffProps {
  readonly one: string;
  readonly other: string;
  /** What is compared, for screen readers. */
  readonly label: string;
  /** Whether the texts are prose, of which equal lines stay in sight. @default false */
  readonly prose?: boolean;
}

const Pieces = ({ line: { pieces } }: { line: DiffLine }) =>
  pieces.map(({ text, changed }, at) => (changed ? <mark key={at}>{text}</mark> : text));

const signs: Readonly<Record<DiffLine['kind'], string>> = { same: ' ', removed: '−', added: '+' };

const Line = ({ line }: { line: DiffLine }) => (
  <div className={`diff-line ${line.kind}`}>
    <span aria-hidden="true" className="diff-sign">
      {signs[line.kind]}
    </span>
    <span className="diff-text" dir="auto">
      <span className="hidden">{line.kind === 'same' ? '' : `${line.kind}: `}</span>
      <Pieces line={line} />
    </span>
  </div>
);

const Side = ({ line, name }: { line: DiffLine | undefined; name: string }) => (
  <div className={`side ${line?.kind ?? 'absent'}`} dir="auto">
    {line !== undefined && line.kind !== 'same' ? <span className="hidden">only {name}: </span> : null}
    {line ? <Pieces line={line} /> : null}
  </div>
);

/** Lines one below the other. */
const inLines = (lines: readonly DiffLine[]): ReactNode[] =>
  lines.map((line, at) => <Line key={at} line={line} />);

/** Lines beside each other. */
const inSides = (lines: readonly DiffLine[]): ReactNode[] =>
  toSides(lines).map(({ left, right }, at) => (
    <div key={at} className="sides">
      <Side line={left} name="left" />
      <Side line={right} name="right" />
    </div>
  ));

/** How many rows of a block are in the document at first. */
const firstRows = 400;

const Block = ({ block, toRows }: { block: DiffBlock; toRows: typeof inLines }) => {
  const [open, setOpen] = useState(!block.folded);
  const [count, setCount] = useState(firstRows);
  const rows = useMemo(() => toRows(block.lines), [block, toRows]);
  if (!open)
    return (
      <button type="button" className="diff-fold" onClick={() => setOpen(true)}>
        {countText(rows.length)} equal lines
      </button>
    );
  return (
    <>
      {rows.slice(0, count)}
      {rows.length > count ? (
        <Button kind="quiet" onClick={() => setCount((before) => before * 4)}>
          {countText(rows.length - count)} more lines
        </Button>
      ) : null}
    </>
  );
};

interface InnerProps extends DiffProps {
  readonly toRows: typeof inLines;
  /** Whether both are of equal rank. @default false */
  readonly equals?: boolean;
}

const Diff = ({ one, other, label, prose = false, toRows, equals = false }: InnerProps) => {
  const lines = useMemo(() => diffTexts(one, other), [one, other]);
  const blocks = useMemo(() => {
    if (prose) return [{ folded: false, lines: lines ?? [], at: 0 }];
    return foldBlocks(lines ?? []);
  }, [lines, prose]);
  if (!lines) return <p className="muted">These two are too different to compare line by line.</p>;
  if (lines.every(({ kind }) => kind === 'same')) return <p className="muted">No differences.</p>;
  return (
    <section className={`diff ${prose ? 'prose' : ''} ${equals ? 'equals' : ''}`} aria-label={label}>
      {blocks.map((block) => (
        <Block key={`${block.at} ${block.folded}`} block={block} toRows={toRows} />
      ))}
    </section>
  );
};

/** Two texts, one below the other, with what differs marked by sign and color. */
export const DiffView = (props: DiffProps) => <Diff {...props} toRows={inLines} />;

/**
 * Two texts beside each other, with what differs underlined. Neither is the one before, so that no side is red or
 * green: nobody says which is right.
 */
export const SideBySide = (props: DiffProps) => <Diff {...props} toRows={inSides} equals />;
