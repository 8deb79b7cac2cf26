import { bySize, inPlannedOrder, mapBatches } from '../../foundations/listing/index.ts';
import type { RequestBudget, Store } from '../../foundations/storage/index.ts';
import { objectJson } from './answer.ts';
import { readLabels } from './labels.ts';
import { noValue, type ObjectVersion } from './model.ts';
import { sortVersions, storedOrder } from './order.ts';
import type { ObjectsFilter, ObjectsQuery } from './request.ts';
import { findAll } from './scan.ts';
import { readValues } from './values.ts';

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
): AsyncGenerator<string[]> {
  if (query.limit === 0 || query.filter.objectIds?.length === 0) return;
  for await (const batch of answered(store, query, budget)) {
    const labelsOf = query.withLabels ? await labelsFor(store, query, batch, budget) : undefined;
    const toJson = (version: ObjectVersion, val: string) =>
      objectJson(store.names, version, val, {
        ...labelsOf?.(version.header),
        ...(query.withSizes && { bytes: version.header.bytes }),
      });
    if (query.metadataOnly) yield batch.map((version) => toJson(version, noValue(store.names)));
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
  const wanted = query.limit === null ? null : query.offset + query.limit;
  const found = findAll(store, query, order ?? 'ascending', order && wanted, budget);
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
  const labelsOf = await readLabels(store, projectId, objectIds, budget);
  return ({ header, isLatest }) => {
    const own = labelsOf(header);
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
    const found = some.map(({ header }) => ({ header, packed: undefined }));
    const values = await readValues(store, found, budget);
    yield some.flatMap((version, i) => {
      const val = values[i];
      return val === undefined ? [] : toJson(version, val);
    });
  }
}
