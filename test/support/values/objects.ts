import { randomBytes } from 'node:crypto';
import { everyVersion, type ObjectsFilter, type ObjectsQuery } from '../../../api/objects.ts';
import {
  createObject,
  deleteVersions,
  queryObjects,
  readObject,
} from '../../../core/records/objects/index.ts';
import { requestBudget, type Store } from '../../../foundations/storage/index.ts';
import {
  type JsonObject,
  type JsonValue,
  parseVersionName,
  ServiceError,
} from '../../../foundations/wire/index.ts';
import { createStores, getStore } from '../service/stores.ts';
import { project } from './calls.ts';

/** An object store of its own for one test file. */
export const createObjectStore = async (): Promise<Store> => {
  const stores = await createStores('objects');
  return getStore(stores, stores.objectsTable);
};

/** Makes a version, and gives its digest. */
export const create = (
  store: Store,
  objectId: string,
  val: JsonValue,
  projectId = project,
): Promise<string> => createObject(store, { projectId, objectId, val }, 'ada', requestBudget(60_000));

/** Deletes versions, and says how many. */
export const remove = (store: Store, objectId: string, digests: string[] | null = null) =>
  deleteVersions(store, { projectId: project, objectId }, digests, requestBudget(60_000));

/** What is seen of a version in most tests. */
export interface SeenVersion {
  readonly digest: string;
  readonly versionIndex: number;
  readonly isLatest: boolean;
  readonly val: JsonValue;
}

/** Reads a version by digest, `latest` or `v<N>`; undefined where that is a 404. */
export const readVersion = async (
  store: Store,
  objectId: string,
  version: string,
): Promise<SeenVersion | undefined> => {
  try {
    const address = { projectId: project, objectId, version: parseVersionName(version) };
    const { header, isLatest, val } = await readObject(store, address, requestBudget(60_000));
    return { digest: header.digest, versionIndex: header.versionIndex, isLatest, val: JSON.parse(val) };
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return undefined;
    throw error;
  }
};

/** A query of which a part is given. */
export const objectsQuery = (
  query: Partial<Omit<ObjectsQuery, 'filter'>> & { readonly filter?: Partial<ObjectsFilter> } = {},
): ObjectsQuery => ({
  projectId: project,
  limit: null,
  offset: 0,
  sortBy: [],
  metadataOnly: false,
  ...query,
  filter: { ...everyVersion, ...query.filter },
});

/** Answers a query in full, parsed. */
export const queryAll = async (
  store: Store,
  query: Parameters<typeof objectsQuery>[0] = {},
  spent = requestBudget(60_000),
): Promise<JsonObject[]> => {
  const batches = await Array.fromAsync(queryObjects(store, objectsQuery(query), spent));
  return batches.flat().map((text) => JSON.parse(text) as JsonObject);
};

/**
 * A value that takes more than an item packed: bytes that don't repeat themselves, different at
 * every call.
 */
export const bigValue = (kilobytes = 64): JsonValue => ({
  noise: randomBytes(kilobytes * 1024).toString('base64'),
});
