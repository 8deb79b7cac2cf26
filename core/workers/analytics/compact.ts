import type { Micros } from '../../foundations/wire/index.ts';
import type { ReadCells } from './read-parquet.ts';

const textOf = (cells: ReadCells, name: string): string => String(cells[name] ?? '');

/** Whether a row is a later state than another of the same id, by the order of the view. */
const isLater = (one: ReadCells, other: ReadCells): boolean => {
  const [a, b] = [textOf(one, 'version'), textOf(other, 'version')];
  return a === b ? Number(one.written_at) >= Number(other.written_at) : a > b;
};

/**
 * What is left of the rows of a dataset, a project and a day: the last state of each id. Of what
 * was deleted the row that says so stays for a while, in case an older row is still under way.
 *
 * @param forgetBefore rows of deletions that were written before go as well
 */
export const compacted = (rows: readonly ReadCells[], forgetBefore: Micros): ReadCells[] => {
  const last = new Map<string, ReadCells>();
  for (const row of rows) {
    const id = textOf(row, 'id');
    const known = last.get(id);
    if (!known || isLater(row, known)) last.set(id, row);
  }
  return [...last.values()].filter((row) => row.deleted !== true || Number(row.written_at) >= forgetBefore);
};
