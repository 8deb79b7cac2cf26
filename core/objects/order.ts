import { invalid } from '../wire/index.ts';
import type { ObjectVersion } from './model.ts';
import type { SortKey } from './request.ts';

/** The order in which storage holds versions, by object id and version index, or its reverse. */
export type StoredOrder = 'ascending' | 'descending';

/**
 * The stored order that an order is the same as, if it is; null for one that takes sorting.
 * Versions of one index are told apart by their objects, so what comes after both fields decides
 * nothing.
 */
export const storedOrder = (sortBy: readonly SortKey[]): StoredOrder | null => {
  const [first, second] = sortBy;
  if (first === undefined) return 'ascending';
  if (first.field !== 'object_id' || (second && second.field !== 'version_index')) return null;
  const then = second?.direction ?? 'asc';
  if (then !== first.direction) return null;
  return first.direction === 'asc' ? 'ascending' : 'descending';
};

type Comparison = (a: ObjectVersion, b: ObjectVersion) => number;

/** By UTF-8, so by code point, as storage orders them. */
const compareIds = (a: string, b: string): number =>
  a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));

const comparisons: Readonly<Record<SortKey['field'], Comparison>> = {
  object_id: (a, b) => compareIds(a.header.objectId, b.header.objectId),
  version_index: (a, b) => a.header.versionIndex - b.header.versionIndex,
  created_at: (a, b) => a.header.createdAt - b.header.createdAt,
};

/** Makes the comparison of an order; ties are in the ascending stored order. */
export const compareBy = (sortBy: readonly SortKey[]): Comparison => {
  const keys: SortKey[] = [
    ...sortBy,
    { field: 'object_id', direction: 'asc' },
    { field: 'version_index', direction: 'asc' },
  ];
  return (a, b) => {
    for (const { field, direction } of keys) {
      const order = comparisons[field](a, b);
      if (order !== 0) return direction === 'asc' ? order : -order;
    }
    return 0;
  };
};

/** The most versions that are held to be sorted: some 100 MB of headers. */
const maxHeld = 200_000;

/**
 * Sorts versions that come in batches. No more than twice as many as are wanted are held.
 *
 * @param wanted how many of the first are enough; null for all
 * @param most how many may be held at once
 * @throws ServiceError 422 when there are more to hold
 */
export const sorted = async (
  batches: AsyncIterable<ObjectVersion[]>,
  sortBy: readonly SortKey[],
  wanted: number | null,
  most = maxHeld,
): Promise<ObjectVersion[]> => {
  const compare = compareBy(sortBy);
  const enough = wanted ?? Number.POSITIVE_INFINITY;
  let held: ObjectVersion[] = [];
  for await (const batch of batches) {
    for (const version of batch) held.push(version);
    if (held.length > 2 * enough) held = held.sort(compare).slice(0, enough);
    if (held.length > most) throw tooMany(most);
  }
  return held.sort(compare).slice(0, enough);
};

const tooMany = (most: number) =>
  invalid({
    loc: ['body', 'sort_by'],
    msg: `there are more than ${most} versions to sort; narrow the filter, give a smaller limit, or sort by object_id`,
    type: 'value_error',
  });
