import type { ObjectSortKey, ObjectsFilter, ObjectsQuery } from '../../../api/objects.ts';
import { type FieldNames, ownNames } from '../../../foundations/door.ts';
import { compareText, sortable } from '../../../foundations/expression/index.ts';
import {
  bySize,
  inPlannedOrder,
  mapBatches,
  type Slice,
  scan,
  sortedByKeys,
} from '../../../foundations/listing/index.ts';
import {
  chunked,
  type Item,
  itemFromWire,
  type KeyRange,
  type RequestBudget,
  type Store,
  type WireItem,
} from '../../../foundations/storage/index.ts';
import { formatTime, invalidAt } from '../../../foundations/wire/index.ts';
import { type Head, headRange, projectRange, toHead, toHeader, versionRange } from './items.ts';
import { type Labels, readLabels } from './labels.ts';
import type { ObjectName, ObjectVersion, VersionHeader } from './model.ts';
import { readHeads, readValues } from './read.ts';

/** The order in which storage holds versions, by object id and version index, or its reverse. */
export type StoredOrder = 'ascending' | 'descending';

/**
 * The stored order that an order equals; null if it takes sorting. Object id and version index
 * together are unique, so keys after both decide nothing.
 */
export const storedOrder = (sortBy: readonly ObjectSortKey[]): StoredOrder | null => {
  const [first, second] = sortBy;
  if (first === undefined) return 'ascending';
  if (first.field !== 'object_id' || (second && second.field !== 'version_index')) return null;
  const then = second?.direction ?? 'asc';
  if (then !== first.direction) return null;
  return first.direction === 'asc' ? 'ascending' : 'descending';
};

const sortValues: Readonly<Record<ObjectSortKey['field'], (header: VersionHeader) => string | number>> = {
  object_id: ({ objectId }) => objectId,
  version_index: ({ versionIndex }) => versionIndex,
  created_at: ({ createdAt }) => createdAt,
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
  sortBy: readonly ObjectSortKey[],
  slice: Slice,
  batches: AsyncIterable<readonly ObjectVersion[]>,
  max = maxHeld,
): Promise<ObjectVersion[]> => {
  const tooMany = invalidAt(
    ['body', 'sort_by'],
    `more than ${max} versions to sort; narrow the filter, give a smaller limit, or sort by object_id`,
  );
  const sorting = {
    sort: sortBy.map(({ direction }) => ({ descending: direction === 'desc' })),
    toKey: ({ header }: ObjectVersion) => sortBy.map(({ field }) => sortable(sortValues[field](header))),
    keep: (version: ObjectVersion) => version,
    // The stored order.
    ties: ({ header: a }: ObjectVersion, { header: b }: ObjectVersion) =>
      compareText(a.objectId, b.objectId) || a.versionIndex - b.versionIndex,
    getSize: () => 1,
    maxSize: max,
    tooMany,
  };
  return sortedByKeys(sorting, slice, batches);
};

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
      ? readHeadBatches(store, names, budget)
      : read([headRange(projectId)], (item) => toHead(projectId, item));
    return mapBatches(heads, (batch) =>
      batch.flatMap(({ latest }) => (latest ? { header: latest, isLatest: true } : [])),
    );
  }
  const ranges = names?.map((name) => versionRange(name)) ?? [projectRange(projectId)];
  const versions = read(ranges, (item) => toHeader(projectId, item));
  return flagLatest(versions, descending);
};

/** Object ids, each once, as storage orders them. */
const inOrder = (ids: readonly string[], descending: boolean): string[] => {
  const sorted = [...new Set(ids)].sort(compareText);
  return descending ? sorted.reverse() : sorted;
};

async function* readHeadBatches(
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
  {
    toRow,
    ...paging
  }: Omit<Parameters<typeof scan<T>>[2], 'compare' | 'toRow'> & { readonly toRow: (item: Item) => T },
  budget: RequestBudget,
): AsyncGenerator<readonly T[]> {
  const options = { ...paging, toRow: (item: WireItem) => toRow(itemFromWire(item)), consistent: true };
  // Ranges are in order already, so their rows are merged in the order of the ranges.
  for (const some of chunked(ranges, objectsAtOnce))
    yield* scan(store.table, some, { ...options, compare: () => 0 }, budget);
}

/**
 * Tells which versions are their objects' latest. The versions of an object are neighbours in a
 * stored order, and the latest is the last of them.
 *
 * @param descending whether they come in descending order: the latest is then the first
 */
export async function* flagLatest(
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

/**
 * A version of an object as JSON text, as it is answered.
 *
 * @param val its value as JSON text, which is passed on as it was stored
 * @param more its tags and aliases, and the bytes of its value, where they were asked for; the
 * latest has the alias `latest` too
 */
export const objectJson = (
  { header, isLatest }: ObjectVersion,
  val: string,
  { tags, aliases, bytes }: Partial<Labels & Pick<VersionHeader, 'bytes'>> = {},
  names: FieldNames = ownNames,
): string => {
  const fields = JSON.stringify({
    project_id: header.projectId,
    object_id: header.objectId,
    digest: header.digest,
    version_index: header.versionIndex,
    is_latest: isLatest ? 1 : 0,
    kind: header.kind,
    base_object_class: header.baseObjectClass,
    created_at: formatTime(header.createdAt),
    [names.svc_user_id ?? 'svc_user_id']: header.userId,
    ...(bytes !== undefined && { size_bytes: bytes }),
    ...(tags && { tags }),
    ...(aliases && { aliases: isLatest ? ['latest', ...aliases] : aliases }),
  });
  return `${fields.slice(0, -1)},"val":${val}}`;
};

/** Values are read in batches of so many unpacked bytes, or one value. */
const hydrationBytes = 4 * 1024 * 1024;

/**
 * Answers a query over a project's objects as JSON text, one version each, in batches that come as
 * soon as they are known. It reads no more of storage than is taken of the answer.
 *
 * @throws ServiceError, while it is iterated: 503 when storage does not give something in time; 422
 * when there are too many versions to sort
 */
export async function* queryObjects(
  store: Store,
  query: ObjectsQuery,
  budget: RequestBudget,
  names: FieldNames = ownNames,
): AsyncGenerator<string[]> {
  if (query.limit === 0 || query.filter.objectIds?.length === 0) return;
  for await (const batch of answered(store, query, budget)) {
    const labelsByVersion = query.withLabels ? await labelsFor(store, query, batch, budget) : undefined;
    const toJson = (version: ObjectVersion, val: string) =>
      objectJson(
        version,
        val,
        {
          ...labelsByVersion?.(version.header),
          ...(query.withSizes && { bytes: version.header.bytes }),
        },
        names,
      );
    if (query.metadataOnly) yield batch.map((version) => toJson(version, 'null'));
    else yield* withValues(store, batch, toJson, budget);
  }
}

/** What tells the labels of versions. */
const labelsFor = (
  store: Store,
  { projectId }: ObjectsQuery,
  batch: readonly ObjectVersion[],
  budget: RequestBudget,
) =>
  readLabels(
    store,
    projectId,
    batch.map(({ header }) => header.objectId),
    budget,
  );

/** The versions of the answer, in its order. */
async function* answered(
  store: Store,
  query: ObjectsQuery,
  budget: RequestBudget,
): AsyncGenerator<readonly ObjectVersion[]> {
  const order = storedOrder(query.sortBy);
  const mostRows = query.limit === null ? null : query.offset + query.limit;
  const found = findAll(store, query, order ?? 'ascending', order && mostRows, budget);
  const matches = versionFilter(query.filter);
  const hasLabels = await labelFilter(store, query, budget);
  const matching = mapBatches(found, (batch) =>
    batch.filter((version) => matches(version) && hasLabels(version)),
  );
  const plan = { ...query, order: order ? 'free' : 'sort' } as const;
  yield* inPlannedOrder(plan, matching, () => sortVersions(query.sortBy, query, matching));
}

/** Makes the test of a version by its labels, which it reads if they matter. */
const labelFilter = async (
  store: Store,
  { projectId, filter: { objectIds, tags, aliases } }: ObjectsQuery,
  budget: RequestBudget,
): Promise<(version: ObjectVersion) => boolean> => {
  if (!tags && !aliases) return () => true;
  const labelsByVersion = await readLabels(store, projectId, objectIds, budget);
  return ({ header, isLatest }) => {
    const own = labelsByVersion(header);
    const names = isLatest ? [...own.aliases, 'latest'] : own.aliases;
    return (
      (tags === null || own.tags.some((tag) => tags.includes(tag))) &&
      (aliases === null || names.some((alias) => aliases.includes(alias)))
    );
  };
};

/**
 * Makes the test of a version: the fields of the filter that neither tell where to look nor name
 * labels.
 */
const versionFilter = ({
  isOp,
  baseObjectClasses,
  excludedClasses,
}: ObjectsFilter): ((version: ObjectVersion) => boolean) => {
  const classes = baseObjectClasses && new Set<string | null>(baseObjectClasses);
  return ({ header }) =>
    (isOp === null || isOp === (header.kind === 'op')) &&
    (classes === null || classes.has(header.baseObjectClass)) &&
    !excludedClasses?.some((name) => name === header.baseObjectClass);
};

/** Reads the values of versions. Those that were deleted since are left out. */
async function* withValues(
  store: Store,
  versions: readonly ObjectVersion[],
  toJson: (version: ObjectVersion, val: string) => string,
  budget: RequestBudget,
): AsyncGenerator<string[]> {
  for (const some of bySize(versions, hydrationBytes, ({ header }) => header.bytes)) {
    const values = await readValues(store, some, budget);
    yield some.flatMap((version, i) => {
      const val = values[i];
      return val === undefined ? [] : toJson(version, val);
    });
  }
}
