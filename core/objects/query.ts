import { cut } from '../query/index.ts';
import type { RequestBudget, Store } from '../storage/index.ts';
import { objectJson } from './answer.ts';
import { bySize } from './by-size.ts';
import type { ObjectVersion } from './model.ts';
import { sorted, storedOrder } from './order.ts';
import type { ObjectsFilter, ObjectsQuery } from './request.ts';
import { findAll } from './scan.ts';
import { readValues } from './values.ts';

/** Values are read in batches of so many bytes unpacked, or one value. */
const hydrationBytes = 4 * 1024 * 1024;

/**
 * Answers a query over a project's objects as JSON text, one version each, in batches that come as
 * soon as they are known. No more of storage is read than the answer is taken.
 *
 * @throws ServiceError, while it is iterated: 503 when storage does not give something in time; 422
 * where more is to be sorted than can be held
 */
export async function* queryObjects(
  store: Store,
  query: ObjectsQuery,
  budget: RequestBudget,
): AsyncGenerator<string[]> {
  const { limit, offset } = query;
  if (limit === 0 || query.filter.objectIds?.length === 0) return;
  for await (const batch of cut(offset, limit, ordered(store, query, budget))) {
    if (query.metadataOnly) yield batch.map((version) => objectJson(store.names, version, 'null'));
    else yield* withValues(store, batch, budget);
  }
}

/** The versions that match, in the query's order. */
async function* ordered(
  store: Store,
  query: ObjectsQuery,
  budget: RequestBudget,
): AsyncGenerator<ObjectVersion[]> {
  const order = storedOrder(query.sortBy);
  const wanted = query.limit === null ? null : query.offset + query.limit;
  const found = findAll(store, query, order ?? 'ascending', order && wanted, budget);
  const matches = filtered(versionFilter(query.filter), found);
  if (order) yield* matches;
  else yield await sorted(matches, query.sortBy, wanted);
}

/** Makes the test of a version: what of the filter does not decide where it is looked for. */
export const versionFilter = ({
  isOp,
  baseObjectClasses,
}: ObjectsFilter): ((version: ObjectVersion) => boolean) => {
  const classes = baseObjectClasses && new Set<string | null>(baseObjectClasses);
  return ({ header }) =>
    (isOp === null || isOp === (header.kind === 'op')) &&
    (classes === null || classes.has(header.baseObjectClass));
};

async function* filtered(
  matches: (version: ObjectVersion) => boolean,
  batches: AsyncIterable<ObjectVersion[]>,
): AsyncGenerator<ObjectVersion[]> {
  for await (const batch of batches) yield batch.filter(matches);
}

/** Reads the values of versions; those that were deleted since are left out. */
async function* withValues(
  store: Store,
  versions: readonly ObjectVersion[],
  budget: RequestBudget,
): AsyncGenerator<string[]> {
  for (const part of bySize(versions, hydrationBytes, ({ header }) => header.bytes)) {
    const found = part.map(({ header }) => ({ header, packed: undefined }));
    const values = await readValues(store, found, budget);
    yield part.flatMap((version, i) => {
      const val = values[i];
      return val === undefined ? [] : objectJson(store.names, version, val);
    });
  }
}
