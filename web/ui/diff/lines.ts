import { diffLines, diffWordsWithSpace } from 'diff';

/** A piece of a line, and whether it is what the other side has otherwise. */
export interface DiffPiece {
  readonly text: string;
  readonly changed: boolean;
}

/** A line of two texts that are compared. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly pieces: readonly DiffPiece[];
}

/** How long a comparison may take, in ms: it runs while somebody waits. */
const timeoutMs = 400;

/** Longer lines are marked as a whole. */
const maxLineLength = 2000;

const linesIn = (text: string): string[] => text.replace(/\n$/, '').split('\n');

const plain = (kind: DiffLine['kind'], texts: readonly string[]): DiffLine[] =>
  texts.map((text) => ({ kind, pieces: [{ text, changed: false }] }));

/** What of two lines differs, word by word. */
const compared = (one: string, other: string): [DiffLine, DiffLine] => {
  const isShort = one.length <= maxLineLength && other.length <= maxLineLength;
  const words = isShort ? diffWordsWithSpace(one, other, { timeout: timeoutMs }) : undefined;
  const piecesOf = (without: 'added' | 'removed', whole: string): DiffPiece[] =>
    words
      ? words
          .filter((word) => !word[without])
          .map(({ value, added, removed }) => ({ text: value, changed: added || removed }))
      : [{ text: whole, changed: true }];
  return [
    { kind: 'removed', pieces: piecesOf('added', one) },
    { kind: 'added', pieces: piecesOf('removed', other) },
  ];
};

/** Lines that took the place of others: as many as there are of both are compared one by one. */
const replaced = (removed: readonly string[], added: readonly string[]): DiffLine[] => {
  const count = Math.min(removed.length, added.length);
  const pairs = removed.slice(0, count).map((line, at) => compared(line, added[at] ?? ''));
  return [
    ...pairs.map(([line]) => line),
    ...plain('removed', removed.slice(count)),
    ...pairs.map(([, line]) => line),
    ...plain('added', added.slice(count)),
  ];
};

/**
 * The lines of two texts, with those that differ marked.
 *
 * @returns undefined if the texts differ so much that comparing them would take too long
 */
export const diffOf = (one: string, other: string): DiffLine[] | undefined => {
  const changes = diffLines(`${one}\n`, `${other}\n`, { timeout: timeoutMs });
  if (!changes) return undefined;
  const lines: DiffLine[] = [];
  for (const [at, change] of changes.entries()) {
    const next = changes[at + 1];
    const before = changes[at - 1];
    if (change.removed && next?.added) lines.push(...replaced(linesIn(change.value), linesIn(next.value)));
    else if (change.removed) lines.push(...plain('removed', linesIn(change.value)));
    else if (change.added && !before?.removed) lines.push(...plain('added', linesIn(change.value)));
    else if (!change.added) lines.push(...plain('same', linesIn(change.value)));
  }
  return lines;
};

/** Lines in a row: shown, or folded away because nothing of them differs. */
export interface DiffBlock {
  readonly folded: boolean;
  readonly lines: readonly DiffLine[];
  /** The place of its first line. */
  readonly at: number;
}

/** How many equal lines stay around what differs. */
const around = 3;

/** Folds long runs of equal lines away. */
export const blocksOf = (lines: readonly DiffLine[]): DiffBlock[] => {
  const near = new Set<number>();
  for (const [at, { kind }] of lines.entries())
    if (kind !== 'same') for (let by = -around; by <= around; by++) near.add(at + by);
  const blocks: { folded: boolean; lines: DiffLine[]; at: number }[] = [];
  for (const [at, line] of lines.entries()) {
    const folded = !near.has(at);
    const last = blocks.at(-1);
    if (last?.folded === folded) last.lines.push(line);
    else blocks.push({ folded, lines: [line], at });
  }
  // A line or two take no more room than the words that say they are hidden.
  return blocks.map((block) => (block.lines.length <= 2 ? { ...block, folded: false } : block));
};
