import { orderedByDigest } from '../../../foundations/encoding/index.ts';
import {
  compareText,
  type Sortable,
  type SortKey,
  sortable,
  toMicros,
} from '../../../foundations/expression/index.ts';
import { keyBytes, type Slice, sortedByKeys, sortTies } from '../../../foundations/listing/index.ts';
import { invalid } from '../../../foundations/wire/index.ts';
import type { CallHeader } from '../../records/calls/index.ts';
import type { FreeOrder } from './plan.ts';
import type { QueriedCall } from './queried-call.ts';

/** The order of calls that no other order decides. */
const defaultOrder: FreeOrder = { descending: false, idsDescending: false };

/** Compares calls by `started_at`, then by `id`. */
export const compareCalls =
  ({ descending, idsDescending }: FreeOrder) =>
  (a: CallHeader, b: CallHeader): number =>
    (descending ? -1 : 1) * (a.start.startedAt - b.start.startedAt) ||
    (idsDescending ? -1 : 1) * compareText(a.id, b.id);

/**
 * Puts calls that started in the same microsecond in order of their ids. The index is in that order
 * both ways, except that it knows very long ids by a digest. Only if ids are wanted against the
 * direction of time, all calls of a microsecond are held.
 */
export const orderTies = (
  order: FreeOrder,
  batches: AsyncIterable<readonly CallHeader[]>,
): AsyncGenerator<readonly CallHeader[]> => {
  const isOfIndex = order.descending === order.idsDescending;
  const isTied = (a: CallHeader, b: CallHeader): boolean =>
    a.start.startedAt === b.start.startedAt && (!isOfIndex || orderedByDigest(a.id, b.id));
  return sortTies(isTied, compareCalls(order), batches);
};

const times: ReadonlySet<string> = new Set(['started_at', 'ended_at']);

/** The values that a call is sorted by. */
export const toSortKey = (sort: readonly SortKey[], row: QueriedCall): Sortable[] =>
  sort.map(({ path }) => {
    const value = row.value(path);
    return sortable(times.has(path.text) ? toMicros(value) : value);
  });

/** Bytes in memory of a held header, about. */
const headerBytes = 1024;

/** Bytes of the payloads that were read with a header. */
const inlineBytes = ({ inline }: CallHeader): number =>
  [...(inline?.values() ?? [])].reduce((sum, { length }) => sum + length, 0);

const tooMany = invalid({
  loc: ['body', 'sort_by'],
  msg: 'too many calls to sort at once; ask for fewer with limit, filter or query, or sort by started_at',
  type: 'too_long',
});

/**
 * Sorts calls and takes a slice of them. Of each call it holds the header and what the call is
 * sorted by, of about twice as many calls as the slice ends at.
 *
 * @throws ServiceError 422 when those are more than fit into memory
 */
export const sortCalls = (
  sort: readonly SortKey[],
  slice: Slice,
  batches: AsyncIterable<readonly QueriedCall[]>,
): Promise<CallHeader[]> =>
  sortedByKeys(
    {
      sort,
      toKey: (row) => toSortKey(sort, row),
      keep: ({ header }: QueriedCall) => header,
      ties: compareCalls(defaultOrder),
      getSize: ({ key, kept }) => headerBytes + inlineBytes(kept) + keyBytes(key),
      tooMany,
    },
    slice,
    batches,
  );
