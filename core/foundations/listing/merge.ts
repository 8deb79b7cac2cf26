import { mapConcurrent } from '../storage/index.ts';
import { Heap } from './heap.ts';
import { type Paging, RangeReader, type ReadPage } from './range-reader.ts';

/** How ranges are merged. */
export interface Merging<T> extends Paging {
  /** The ascending order in which each range holds its rows. */
  readonly compare: (a: T, b: T) => number;
  /** Whether ranges are read from their last row on. */
  readonly descending: boolean;
}

/** How many ranges are read at once. */
const concurrency = 16;

interface Source<T extends object, C> {
  readonly reader: RangeReader<T, C>;
  /** The range's place in the list. */
  readonly index: number;
}

/**
 * Reads ranges side by side and merges their rows. Rows that compare as equal come in the order of
 * their ranges. A batch is as long as what has been read allows, so the first rows leave as soon as
 * they are known.
 *
 * @param reads one for each range
 * @throws whatever `reads` throw
 */
export async function* mergeRanges<T extends object, C>(
  reads: readonly ReadPage<T, C>[],
  { compare, descending, wanted, ...paging }: Merging<T>,
): AsyncGenerator<readonly T[]> {
  const sign = descending ? -1 : 1;
  const heap = new Heap<Source<T, C>>((a, b) => {
    const x = a.reader.head;
    const y = b.reader.head;
    return (x && y ? sign * compare(x, y) : 0) || a.index - b.index;
  });
  let waiting = reads.map((read, index) => ({ reader: new RangeReader(read, paging, index), index }));
  let taken = 0;
  // A range that gave a share of the rows so far will give that share of those that are wanted.
  const shareOf = ({ taken: own }: RangeReader<T, C>): number =>
    wanted && taken > 0 ? Math.ceil((wanted() * own) / taken) : Number.POSITIVE_INFINITY;
  for (;;) {
    await mapConcurrent(waiting, concurrency, ({ reader }) => reader.fill(shareOf(reader)));
    for (const source of waiting) if (source.reader.head !== undefined) heap.push(source);
    if (heap.size === 0) return;
    const { rows, usedUp } = takeRows(heap);
    taken += rows.length;
    yield rows;
    waiting = usedUp;
  }
}

/** Takes rows in order until the next row of one source is not known. */
const takeRows = <T extends object, C>(
  heap: Heap<Source<T, C>>,
): { readonly rows: readonly T[]; readonly usedUp: Source<T, C>[] } => {
  const rows: T[] = [];
  for (let source = heap.first; source; source = heap.first) {
    const { reader } = source;
    if (heap.size === 1) {
      heap.pop();
      return {
        rows: rows.length === 0 ? reader.takePage() : rows.concat(reader.takePage()),
        usedUp: [source],
      };
    }
    if (reader.head !== undefined) rows.push(reader.head);
    reader.advance();
    if (reader.head === undefined) {
      heap.pop();
      return { rows, usedUp: [source] };
    }
    heap.update();
  }
  return { rows, usedUp: [] };
};
