import { compareText } from '../../foundations/expression/index.ts';
import { mapBatches, scan } from '../../foundations/listing/index.ts';
import {
  chunked,
  type Item,
  type KeyRange,
  type RequestBudget,
  type Store,
} from '../../foundations/storage/index.ts';
import { headRange, projectRange, versionRange } from './keys.ts';
import { readHeads } from './lookup.ts';
import type { ObjectName, ObjectVersion, VersionHeader } from './model.ts';
import type { StoredOrder } from './order.ts';
import type { ObjectsQuery } from './request.ts';
import { type Head, toHead, toHeader } from './store.ts';

/** How many objects are begun at once when they are asked for by their ids. */
const objectsAtOnce = 16;
const smallestPage = 100;
/** Some 4,000 versions make 1 MB. */
const maxPage = 4000;

/**
 * Finds the versions that a query may want, in a stored order, strongly consistent. The latest
 * versions are in the heads of their objects, all others are read one by one. Values are not read.
 *
 * @param enough how many of the first are enough, if that is known; null for all
 * @throws ServiceError 503 when storage does not give them in time
 */
export const findAll = (
  store: Store,
  { projectId, filter }: Pick<ObjectsQuery, 'projectId' | 'filter'>,
  order: StoredOrder,
  enough: number | null,
  budget: RequestBudget,
): AsyncGenerator<readonly ObjectVersion[]> => {
  const descending = order === 'descending';
  const ids = filter.objectIds && inOrder(filter.objectIds, descending);
  const names = ids?.map((objectId) => ({ projectId, objectId }));
  const paging = { descending, firstPage: Math.max(smallestPage, enough ?? 0), maxPage };
  const read = <T extends object>(ranges: readonly KeyRange[], toRow: (item: Item) => T) =>
    inTurn(store, ranges, { ...paging, toRow }, budget);
  if (filter.latestOnly) {
    const heads = names
      ? headsOf(store, names, budget)
      : read([headRange(projectId)], (item) => toHead(projectId, item));
    return mapBatches(heads, (batch) =>
      batch.flatMap(({ latest }) => (latest ? { header: latest, isLatest: true } : [])),
    );
  }
  const ranges = names?.map((name) => versionRange(name)) ?? [projectRange(projectId)];
  const versions = read(ranges, (item) => toHeader(projectId, item));
  return markLatest(versions, descending);
};

/** Object ids, each once, as storage orders them. */
const inOrder = (ids: readonly string[], descending: boolean): string[] => {
  const sorted = [...new Set(ids)].sort(compareText);
  return descending ? sorted.reverse() : sorted;
};

async function* headsOf(
  store: Store,
  names: readonly ObjectName[],
  budget: RequestBudget,
): AsyncGenerator<Head[]> {
  const heads = await readHeads(store, names, budget);
  yield heads.filter((head) => head !== undefined);
}

/** Reads ranges one after the other, but the first pages of several at once. */
async function* inTurn<T extends object>(
  store: Store,
  ranges: readonly KeyRange[],
  options: Omit<Parameters<typeof scan<T>>[2], 'compare'>,
  budget: RequestBudget,
): AsyncGenerator<readonly T[]> {
  // Ranges are in order already, so their rows are merged in the order of the ranges.
  for (const some of chunked(ranges, objectsAtOnce))
    yield* scan(store.table, some, { ...options, consistent: true, compare: () => 0 }, budget);
}

/**
 * Tells which versions are their objects' latest. The versions of an object are neighbours in a
 * stored order, and the latest is the last of them.
 *
 * @param descending whether they come in descending order: the latest is then the first
 */
export async function* markLatest(
  batches: AsyncIterable<readonly VersionHeader[]>,
  descending: boolean,
): AsyncGenerator<ObjectVersion[]> {
  let before: VersionHeader | undefined;
  for await (const batch of batches) {
    const known: ObjectVersion[] = [];
    for (const header of batch) {
      const isAnother = before?.objectId !== header.objectId;
      if (descending) known.push({ header, isLatest: isAnother });
      // Only the next version tells what this one is.
      else if (before) known.push({ header: before, isLatest: isAnother });
      before = header;
    }
    if (known.length > 0) yield known;
  }
  if (before && !descending) yield [{ header: before, isLatest: true }];
}
