import { diffLines, diffWordsWithSpace } from 'diff';

/** How deep a value is written out, and how many characters in all: the rest is cut. */
const maxDepth = 60;
const maxLength = 400_000;

type Members = readonly (readonly [string, unknown])[];

/** The members of an object by name, or of a list; undefined for any other value. */
const getMembers = (value: unknown): Members | undefined => {
  if (Array.isArray(value)) return value.map((member: unknown, at) => [String(at), member]);
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
};

/** A text that would look like another value, or like none. In quotes it does not. */
const ambiguous = /^(|".*"|null|undefined|true|false|\[\]|\{\}|-?\d+(\.\d+)?(e[+-]?\d+)?)$/i;

const textLine = (text: string): string => (ambiguous.test(text) ? JSON.stringify(text) : text);

/** A value that takes one line; undefined for one that has members to write, or lines. */
const toLine = (value: unknown, members: Members | undefined, depth: number): string | undefined => {
  if (typeof value === 'string') return value.includes('\n') ? undefined : textLine(value);
  if (!members) return String(value);
  if (members.length === 0) return Array.isArray(value) ? '[]' : '{}';
  return depth >= maxDepth ? '…' : undefined;
};

/**
 * A value as lines that can be compared: a key a line, texts with their own lines, keys in order of
 * the alphabet. `4711` is a number and `"4711"` a text; other texts have no quotes.
 */
export const valueText = (value: unknown): string => {
  const lines: string[] = [];
  let length = 0;
  const add = (depth: number, text: string) => {
    length += text.length;
    lines.push('  '.repeat(depth) + text);
  };
  const write = (key: string, value: unknown, depth: number): void => {
    if (length > maxLength) return;
    const members = getMembers(value);
    const line = toLine(value, members, depth);
    if (line !== undefined) {
      add(depth, key === '' ? line : `${key} ${line}`);
      return;
    }
    if (key !== '') add(depth, key);
    const below = key === '' ? depth : depth + 1;
    if (typeof value === 'string') for (const text of value.split('\n')) add(below, text);
    for (const [name, member] of members ?? []) write(`${name}:`, member, below);
  };
  write('', value, 0);
  if (length > maxLength) lines.push('… the rest is too long to compare');
  return lines.join('\n');
};

/** A piece of a line, and whether it is what the other side has otherwise. */
interface DiffPiece {
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
  const toPieces = (without: 'added' | 'removed', whole: string): DiffPiece[] =>
    words
      ? words
          .filter((word) => !word[without])
          .map(({ value, added, removed }) => ({ text: value, changed: added || removed }))
      : [{ text: whole, changed: true }];
  return [
    { kind: 'removed', pieces: toPieces('added', one) },
    { kind: 'added', pieces: toPieces('removed', other) },
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
export const diffTexts = (one: string, other: string): DiffLine[] | undefined => {
  // A text that is not there has no line, not an empty one.
  const ended = (text: string) => (text === '' ? '' : `${text}\n`);
  const changes = diffLines(ended(one), ended(other), { timeout: timeoutMs });
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
export const foldBlocks = (lines: readonly DiffLine[]): DiffBlock[] => {
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

/** Two lines beside each other; undefined where one side has none. */
interface Sides {
  readonly left: DiffLine | undefined;
  readonly right: DiffLine | undefined;
}

/** Puts lines that took the place of others beside them. Equal lines stand on both sides. */
export const toSides = (lines: readonly DiffLine[]): Sides[] => {
  const rows: Sides[] = [];
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++)
      rows.push({ left: removed[at], right: added[at] });
    removed = [];
    added = [];
  };
  for (const line of lines) {
    if (line.kind === 'added') {
      added.push(line);
      continue;
    }
    // Lines that are removed after others were added begin something new.
    if (line.kind === 'same' || added.length > 0) flush();
    if (line.kind === 'same') rows.push({ left: line, right: line });
    else removed.push(line);
  }
  flush();
  return rows;
};
