import {
  asText,
  deleteItems,
  type Item,
  mapConcurrent,
  putItems,
  type RequestBudget,
  readRange,
  type Store,
} from '../../../foundations/storage/index.ts';
import { notFound, type ProjectId } from '../../../foundations/wire/index.ts';
import { checkLabels } from '../redaction.ts';
import { aliasKey, labelRange, tagKey } from './items.ts';
import type { ObjectName, VersionHeader } from './model.ts';
import { type Address, findVersions } from './read.ts';

/*
 * Labels of versions. An alias is a name of one version of an object, which can
 * be moved to another. A tag is a word on a version. Each is an item of its own, so setting one
 * again changes nothing, and different ones never meet.
 */

/** The labels of a version, in order. */
export interface Labels {
  readonly tags: readonly string[];
  readonly aliases: readonly string[];
}

const none: Labels = { tags: [], aliases: [] };
/** From so many objects on, all labels of the project are read. */
const manyObjects = 32;
const concurrency = 8;

/** @throws ServiceError 404 where there is no such version */
const findVersion = async (store: Store, address: Address, budget: RequestBudget): Promise<VersionHeader> => {
  const [found] = await findVersions(store, [address], budget);
  if (found) return found.header;
  throw notFound(
    ['body', 'digest'],
    `there is no such version of ${address.objectId} in ${address.projectId}`,
  );
};

/** An alias of an object, or a tag of one of its versions. */
export type LabelKind = 'aliases' | 'tags';

/** The attribute that holds a label's text. */
const textAttribute = { aliases: 'a', tags: 't' } as const;

const labelKeys = (kind: LabelKind, name: ObjectName, digest: string, texts: readonly string[]) =>
  [...new Set(texts)].map((text) => ({
    text,
    key: kind === 'aliases' ? aliasKey(name, text) : tagKey(name, digest, text),
  }));

/**
 * Puts labels on a version. Aliases leave the versions that had them.
 *
 * @throws ServiceError 404 where there is no such version; as {@link checkLabels}
 */
export const addLabels = async (
  store: Store,
  kind: LabelKind,
  address: Address,
  texts: readonly string[],
  budget: RequestBudget,
): Promise<void> => {
  await checkLabels(store, kind, texts);
  const { digest } = await findVersion(store, address, budget);
  const items = labelKeys(kind, address, digest, texts).map(({ text, key }) => ({
    ...key,
    o: address.objectId,
    [textAttribute[kind]]: text,
    d: digest,
  }));
  await putItems(store.table, items, budget);
};

/** Takes aliases from an object, whichever versions they name. Those that it has not are ignored. */
export const removeAliases = (
  store: Store,
  name: ObjectName,
  aliases: readonly string[],
  budget: RequestBudget,
): Promise<void> =>
  deleteItems(
    store.table,
    labelKeys('aliases', name, '', aliases).map(({ key }) => key),
    budget,
  );

/**
 * Takes tags from a version. Those that it has not are ignored.
 *
 * @throws ServiceError 404 where there is no such version
 */
export const removeTags = async (
  store: Store,
  address: Address,
  tags: readonly string[],
  budget: RequestBudget,
): Promise<void> => {
  const { digest } = await findVersion(store, address, budget);
  const keys = labelKeys('tags', address, digest, tags).map(({ key }) => key);
  await deleteItems(store.table, keys, budget);
};

const readItems = async (
  { table }: Store,
  projectId: ProjectId,
  objectId: string | null,
  budget: RequestBudget,
): Promise<Item[]> => {
  const options = { toRow: (item: Item) => item, consistent: true };
  const pages = await Array.fromAsync(readRange(table, labelRange(projectId, objectId), options, budget));
  return pages.flat();
};

const distinct = (items: readonly Item[], kind: LabelKind): string[] =>
  [...new Set(items.flatMap((item) => asText(item[textAttribute[kind]]) ?? []))].sort();

/** Every alias or tag of a project, each once and sorted. */
export const labelsIn = async (
  store: Store,
  projectId: ProjectId,
  kind: LabelKind,
  budget: RequestBudget,
): Promise<string[]> => distinct(await readItems(store, projectId, null, budget), kind);

const toPlace = (objectId: string, digest: string): string => `${objectId}\n${digest}`;

/**
 * Reads the labels of versions, and gives what tells those of each.
 *
 * @param objectIds null for all objects of the project
 */
export const readLabels = async (
  store: Store,
  projectId: ProjectId,
  objectIds: readonly string[] | null,
  budget: RequestBudget,
): Promise<(version: Pick<VersionHeader, 'objectId' | 'digest'>) => Labels> => {
  const unique = objectIds && [...new Set(objectIds)];
  const ranges = unique && unique.length < manyObjects ? unique : [null];
  const items = await mapConcurrent(ranges, concurrency, (objectId) =>
    readItems(store, projectId, objectId, budget),
  );
  const byVersion = Map.groupBy(items.flat(), ({ o, d }) => toPlace(String(o), String(d)));
  return ({ objectId, digest }) => {
    const own = byVersion.get(toPlace(objectId, digest));
    return own ? { tags: distinct(own, 'tags'), aliases: distinct(own, 'aliases') } : none;
  };
};

/**
 * Takes all labels from versions that are deleted.
 *
 * @param digests null for all versions of the object
 * @param kept aliases that stay
 */
export const removeLabels = async (
  store: Store,
  { projectId, objectId }: ObjectName,
  digests: readonly string[] | null,
  budget: RequestBudget,
  kept: readonly string[] = [],
): Promise<void> => {
  const gone = digests && new Set(digests);
  const items = await readItems(store, projectId, objectId, budget);
  const keys = items
    .filter(({ a, d }) => (!gone || gone.has(String(d))) && !kept.includes(asText(a) ?? ''))
    .map(({ k, s }) => ({ k, s }) as Item);
  if (keys.length > 0) await deleteItems(store.table, keys, budget);
};
