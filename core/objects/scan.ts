import {
  chunked,
  type Item,
  type KeyRange,
  mapConcurrent,
  queryPage,
  type RequestBudget,
  type Store,
} from '../storage/index.ts';
import { headRange, projectRange, versionRange } from './keys.ts';
import { readHeads } from './lookup.ts';
import type { ObjectName, ObjectVersion, VersionHeader } from './model.ts';
import type { StoredOrder } from './order.ts';
import type { ObjectsQuery } from './request.ts';
import { type Head, toHead, toHeader } from './store.ts';

/** How many objects are begun at once, where they are asked for by their ids. */
const concurrency = 16;
const smallestPage = 100;
const growth = 4;
/** From this many items on a page is as long as DynamoDB makes it: 1 MB. */
const maxPage = 4000;

/**
 * Finds the versions that a query may want, in a stored order, strongly consistent: the latest ones
 * in the heads of their objects, all others one by one. Values are not read.
 *
 * @param enough how many of the first are enough, as far as that is known; null for all
 * @throws ServiceError 503 when storage does not give them in time
 */
export const findAll = (
  store: Store,
  { projectId, filter }: Pick<ObjectsQuery, 'projectId' | 'filter'>,
  order: StoredOrder,
  enough: number | null,
  budget: RequestBudget,
): AsyncGenerator<ObjectVersion[]> => {
  const scan = { descending: order === 'descending', enough };
  const ids = filter.objectIds && inOrder(filter.objectIds, scan.descending);
  const names = ids?.map((objectId) => ({ projectId, objectId }));
  const read = (ranges: readonly KeyRange[]) => pages(store, ranges, scan, budget);
  if (filter.latestOnly) {
    const heads = names
      ? headsOf(store, names, budget)
      : mapped(read([headRange(projectId)]), (item) => toHead(projectId, item));
    return latestOf(heads);
  }
  const items = read(names?.map((name) => versionRange(name)) ?? [projectRange(projectId)]);
  return markLatest(
    mapped(items, (item) => toHeader(projectId, item)),
    scan.descending,
  );
};

/** Object ids, each once, as storage orders them: by their UTF-8. */
const inOrder = (ids: readonly string[], descending: boolean): string[] => {
  const sorted = [...new Set(ids)]
    .map((id) => Buffer.from(id, 'utf8'))
    .sort(Buffer.compare)
    .map(String);
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

/** How ranges are to be read. */
interface Scan {
  readonly descending: boolean;
  readonly enough: number | null;
}

/** Reads ranges one after the other, page by page; the first pages of several at once. */
async function* pages(
  store: Store,
  ranges: readonly KeyRange[],
  { descending, enough }: Scan,
  budget: RequestBudget,
): AsyncGenerator<Item[]> {
  const options = { descending, consistent: true };
  const firstLimit = Math.max(smallestPage, enough ?? 0);
  const read = (range: KeyRange, limit: number, start?: Item) =>
    queryPage(store.table, range, budget, {
      ...options,
      start,
      limit: limit < maxPage ? limit : undefined,
    });
  for (const some of chunked(ranges, concurrency)) {
    const firsts = await mapConcurrent(some, concurrency, async (range) => ({
      range,
      page: await read(range, firstLimit),
    }));
    for (const { range, page } of firsts) {
      yield page.items;
      let limit = firstLimit;
      for (let { next } = page; next !== undefined; ) {
        limit *= growth;
        const following = await read(range, limit, next);
        yield following.items;
        next = following.next;
      }
    }
  }
}

async function* latestOf(batches: AsyncIterable<Head[]>): AsyncGenerator<ObjectVersion[]> {
  for await (const heads of batches)
    yield heads.flatMap(({ latest }) => (latest ? { header: latest, isLatest: true } : []));
}

async function* mapped<T, R>(batches: AsyncIterable<T[]>, change: (item: T) => R): AsyncGenerator<R[]> {
  for await (const batch of batches) yield batch.map(change);
}

/**
 * Tells which versions are their objects' latest, by their neighbours: of an object's versions,
 * which lie side by side in a stored order, the last.
 *
 * @param descending whether they come in the descending order, where it is the first
 */
export async function* markLatest(
  batches: AsyncIterable<VersionHeader[]>,
  descending: boolean,
): AsyncGenerator<ObjectVersion[]> {
  let before: VersionHeader | undefined;
  for await (const batch of batches) {
    const known: ObjectVersion[] = [];
    for (const header of batch) {
      const isAnother = before?.objectId !== header.objectId;
      if (descending) known.push({ header, isLatest: isAnother });
      // What the last one is shows only in the next.
      else if (before) known.push({ header: before, isLatest: isAnother });
      before = header;
    }
    if (known.length > 0) yield known;
  }
  if (before && !descending) yield [{ header: before, isLatest: true }];
}
