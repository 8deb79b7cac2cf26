import { compareNumbers, ExactNumber } from '../wire/index.ts';
import type { FieldPath } from './model.ts';
import { compareText, type Value } from './values.ts';

/** One key of an order. */
export interface SortKey {
  readonly path: FieldPath;
  readonly descending: boolean;
}

/**
 * A value as it takes part in an order: its type's rank and, for scalars, itself; null for one that
 * is not there.
 */
export type Sortable = readonly [rank: number, value: boolean | number | ExactNumber | string] | null;

/**
 * By type: boolean, number, string, list, object. Lists are all the same in order, as objects are.
 */
export const sortable = (value: Value): Sortable => {
  switch (typeof value) {
    case 'boolean':
      return [1, value];
    case 'number':
      return [2, value];
    case 'string':
      return [3, value];
    default:
      if (value === null || value === undefined) return null;
      if (value instanceof ExactNumber) return [2, value];
      return [Array.isArray(value) ? 4 : 5, 0];
  }
};

const compareSortable = (a: NonNullable<Sortable>, b: NonNullable<Sortable>): number => {
  if (a[0] !== b[0]) return a[0] - b[0];
  const [x, y] = [a[1], b[1]];
  if (typeof x === 'string') return compareText(x, String(y));
  return x instanceof ExactNumber || y instanceof ExactNumber
    ? compareNumbers(x as number | ExactNumber, y as number | ExactNumber)
    : Number(x) - Number(y);
};

/**
 * Makes the comparison of two records by the values of an order's keys. What is not there comes
 * last in both directions.
 */
export const compareBy = (
  keys: readonly Pick<SortKey, 'descending'>[],
): ((a: readonly Sortable[], b: readonly Sortable[]) => number) => {
  return (a, b) => {
    for (const [i, { descending }] of keys.entries()) {
      const [x, y] = [a[i] ?? null, b[i] ?? null];
      if (x === null || y === null) {
        if (x !== y) return x === null ? 1 : -1;
        continue;
      }
      const order = compareSortable(x, y);
      if (order !== 0) return descending ? -order : order;
    }
    return 0;
  };
};
