import type { DiffLine } from './lines.ts';

/** Two lines beside each other; undefined where one side has none. */
export interface Sides {
  readonly left: DiffLine | undefined;
  readonly right: DiffLine | undefined;
}

/** Puts lines that took the place of others beside them. Equal lines stand on both sides. */
export const sidesOf = (lines: readonly DiffLine[]): Sides[] => {
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
