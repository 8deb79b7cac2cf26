import { compareText } from '../../foundations/expression/index.ts';
import { type Slice, sortedSlice } from '../../foundations/listing/index.ts';
import { invalid } from '../../foundations/wire/index.ts';
import type { ObjectVersion } from './model.ts';
import type { SortKey } from './request.ts';

/** The order in which storage holds versions, by object id and version index, or its reverse. */
export type StoredOrder = 'ascending' | 'descending';

/**
 * The stored order that an order equals; null if it takes sorting. Object id and version index
 * together are unique, so keys after both decide nothing.
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

const comparisons: Readonly<Record<SortKey['field'], Comparison>> = {
  object_id: (a, b) => compareText(a.header.objectId, b.header.objectId),
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
 * Sorts versions and takes a slice of them. At most about twice as many are held as the slice ends
 * at.
 *
 * @param max how many may be held at once
 * @throws ServiceError 422 when more would have to be held
 */
export const sortVersions = (
  sortBy: readonly SortKey[],
  slice: Slice,
  batches: AsyncIterable<readonly ObjectVersion[]>,
  max = maxHeld,
): Promise<ObjectVersion[]> => {
  const tooMany = invalid({
    loc: ['body', 'sort_by'],
    msg: `more than ${max} versions to sort; narrow the filter, give a smaller limit, or sort by object_id`,
    type: 'value_error',
  });
  return sortedSlice({ compare: compareBy(sortBy), sizeOf: () => 1, maxSize: max, tooMany }, slice, batches);
};
