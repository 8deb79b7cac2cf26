import { pack, unpack } from '../../foundations/encoding/index.ts';
import {
  asBytes,
  getObject,
  mapConcurrent,
  putItems,
  putObject,
  type RequestBudget,
  type Store,
} from '../../foundations/storage/index.ts';
import type { JsonValue } from '../../foundations/wire/index.ts';
import { digestKey, noteKey, type ValueName, valueObject } from './keys.ts';
import { type FoundVersion, findVersions, getInOrder } from './lookup.ts';
import type { VersionHeader } from './model.ts';

/**
 * The largest packed value that is stored in an item, in bytes. A KB in a transaction costs two
 * write units, so S3 is cheaper from 4 KB on, but slower to read. A hundred items are at most 3.2
 * MB.
 */
const maxInItem = 32 * 1024;
/** How many objects of the bucket are read at once. */
const concurrency = 8;

/** A value, ready to be stored. */
export interface PackedValue {
  readonly packed: Uint8Array;
  /** Bytes of it as compact JSON. */
  readonly bytes: number;
  readonly home: 'item' | 'bucket';
}

/** Packs a value, and says where it is to be stored. */
export const packValue = async (value: JsonValue): Promise<PackedValue> => {
  const text = Buffer.from(JSON.stringify(value), 'utf8');
  const packed = await pack(text);
  return { packed, bytes: text.length, home: packed.length > maxInItem ? 'bucket' : 'item' };
};

/**
 * Puts a value into the bucket before its version is made. It makes a note first, which the
 * version's transaction deletes. If the version is never made, the note tells what has to go.
 *
 * @throws ServiceError 503 when storage does not take it in time
 */
export const putValue = async (
  store: Store,
  name: ValueName,
  packed: Uint8Array,
  budget: RequestBudget,
): Promise<void> => {
  await putItems(store.table, [noteItem(name)], budget);
  await putObject(store.bucket, valueObject(name), packed, budget);
};

/** The item of a note on a value in the bucket. */
export const noteItem = (name: ValueName) => ({
  ...noteKey(name),
  versionIndex: name.versionIndex,
  digest: name.digest,
});

/**
 * Reads the values of versions, as JSON text, in their order; undefined for one that was deleted
 * since its header was read.
 *
 * @param versions no more than whose values may be held at once
 * @throws ServiceError 503 when storage does not give them in time
 * @throws Error if a value is missing or damaged
 */
export const readValues = async (
  store: Store,
  versions: readonly FoundVersion[],
  budget: RequestBudget,
): Promise<(string | undefined)[]> => {
  const fetched = await fetchItems(store, versions, budget);
  return mapConcurrent(versions, concurrency, async (version) => {
    const { header } = version;
    const packed =
      header.home === 'item'
        ? (version.packed ?? fetched.get(version))
        : await getObject(store.bucket, valueObject(header), budget);
    if (packed) return (await unpack(packed)).toString('utf8');
    if (await isThere(store, header, budget)) throw new Error(`a value is missing: ${valueObject(header)}`);
    return undefined;
  });
};

/** Reads the packed values that are in items and were not read with them. */
const fetchItems = async (
  store: Store,
  versions: readonly FoundVersion[],
  budget: RequestBudget,
): Promise<Map<FoundVersion, Uint8Array | undefined>> => {
  const wanted = versions.filter(({ header, packed }) => header.home === 'item' && !packed);
  const keys = wanted.map(({ header }) => digestKey(header, header.digest));
  const items = await getInOrder(store, keys, budget);
  return new Map(wanted.map((version, i) => [version, asBytes(items[i]?.b)]));
};

/**
 * Whether a version is still what its digest leads to. Its value may have been deleted, and made
 * again as another version.
 */
const isThere = async (store: Store, header: VersionHeader, budget: RequestBudget): Promise<boolean> => {
  const [found] = await findVersions(store, [{ ...header, version: { digest: header.digest } }], budget);
  return found?.header.versionIndex === header.versionIndex;
};
