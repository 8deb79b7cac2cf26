import { pack, unpack } from '../../../foundations/encoding/index.ts';
import {
  asBytes,
  asText,
  getItems,
  getObject,
  type Item,
  mapConcurrent,
  putItems,
  putObject,
  type RequestBudget,
  type Store,
} from '../../../foundations/storage/index.ts';
import {
  isDigest,
  isLabel,
  isObjectId,
  type JsonValue,
  notFound,
  parseVersionName,
  type VersionName,
} from '../../../foundations/wire/index.ts';
import {
  aliasKey,
  digestKey,
  type Head,
  headKey,
  noteKey,
  toHead,
  toHeader,
  type ValueName,
  valueObject,
  versionKey,
} from './items.ts';
import type { ObjectName, StoredVersion, VersionHeader } from './model.ts';

const keyText = ({ k, s }: Item): string =>
  `${Buffer.from(asBytes(k) ?? []).toString('latin1')}\n${Buffer.from(asBytes(s) ?? []).toString('latin1')}`;

/**
 * Gets the items of keys, strongly consistent. An item that is asked for twice is read once.
 *
 * @returns the items in the order of the keys; undefined for a key of nothing, and for no key
 */
export const getInOrder = async (
  store: Store,
  keys: readonly (Item | undefined)[],
  budget: RequestBudget,
): Promise<(Item | undefined)[]> => {
  const unique = new Map(keys.flatMap((key) => (key ? [[keyText(key), key]] : [])));
  const items = await getItems(store.table, [...unique.values()], budget, { consistent: true });
  const found = new Map(items.map((item) => [keyText(item), item]));
  return keys.map((key) => key && found.get(keyText(key)));
};

/**
 * Reads the heads of objects, strongly consistent and in their order; undefined for an object that
 * never was.
 */
export const readHeads = async (
  store: Store,
  names: readonly ObjectName[],
  budget: RequestBudget,
): Promise<(Head | undefined)[]> => {
  const items = await getInOrder(store, names.map(headKey), budget);
  return items.map((item, i) => {
    const name = names[i];
    return item && name && toHead(name.projectId, item);
  });
};

/** What a request asks for: a version of an object. */
export interface Address extends ObjectName {
  readonly version: VersionName;
}

/** A version as its items have it. */
export interface FoundVersion {
  readonly header: VersionHeader;
  /** The packed value, where it lies in the item and the version was found by its digest. */
  readonly packed?: Uint8Array | undefined;
}

/** The key that an address leads to; undefined for what cannot be an address. */
const toKey = ({ version, ...name }: Address): Item | undefined => {
  if (!isObjectId(name.objectId)) return undefined;
  if (version === 'latest') return headKey(name);
  if ('versionIndex' in version) return versionKey(name, version.versionIndex);
  return isDigest(version.digest) ? digestKey(name, version.digest) : undefined;
};

/** The alias that an address gives; undefined if it gives a digest, an index, `latest` or no name at all. */
const getAlias = ({ objectId, version }: Address): string | undefined => {
  if (version === 'latest' || !('digest' in version) || !isObjectId(objectId)) return undefined;
  const { digest } = version;
  return isDigest(digest) || !isLabel(digest) ? undefined : digest;
};

/** Puts digests in the place of aliases. What is no alias stays. */
const withoutAliases = async (
  store: Store,
  addresses: readonly Address[],
  budget: RequestBudget,
): Promise<readonly Address[]> => {
  const aliases = addresses.map(getAlias);
  if (aliases.every((alias) => alias === undefined)) return addresses;
  const keys = addresses.map((address, i) => {
    const alias = aliases[i];
    return alias === undefined ? undefined : aliasKey(address, alias);
  });
  const items = await getInOrder(store, keys, budget);
  return addresses.map((address, i) => {
    const digest = asText(items[i]?.d);
    return digest === undefined ? address : { ...address, version: { digest } };
  });
};

/**
 * Looks versions up, strongly consistent, in the order of their addresses.
 *
 * @returns undefined for each that is not there
 */
export const findVersions = async (
  store: Store,
  addresses: readonly Address[],
  budget: RequestBudget,
): Promise<(FoundVersion | undefined)[]> => {
  const named = await withoutAliases(store, addresses, budget);
  const items = await getInOrder(store, named.map(toKey), budget);
  return addresses.map(({ projectId }, i) => {
    const item = items[i];
    // The head of an object whose versions were all deleted has no header.
    return item?.h === undefined ? undefined : { header: toHeader(projectId, item), packed: asBytes(item.b) };
  });
};

/**
 * The digests of versions that are called `latest`, `v<N>`, by their digest or by an alias. What is called by a digest is not looked up, nor what an alias leads to: the version
 * may be gone. What is not there has no digest.
 */
export const findDigests = async (
  store: Store,
  name: ObjectName,
  versions: readonly string[],
  budget: RequestBudget,
): Promise<string[]> => {
  const versionNames = versions.map((version) => ({ ...name, version: parseVersionName(version) }));
  const named = await withoutAliases(store, versionNames, budget);
  const toFind = named.filter(({ version }) => version === 'latest' || 'versionIndex' in version);
  const found = toFind.length > 0 ? await findVersions(store, toFind, budget) : [];
  const digests = named.flatMap(({ version }) =>
    version !== 'latest' && 'digest' in version && isDigest(version.digest) ? [version.digest] : [],
  );
  return [...digests, ...found.flatMap((version) => version?.header.digest ?? [])];
};

/**
 * The largest packed value that is stored in an item, in bytes. A KB in a transaction costs two
 * write units, so S3 is cheaper from 4 KB on, but slower to read. A hundred items are at most 3.2
 * MB.
 */
const maxInItem = 32 * 1024;
/** How many objects of the bucket are read at once. */
const concurrency = 8;

export interface PackedValue {
  readonly packed: Uint8Array;
  /** Bytes of it as compact JSON. */
  readonly bytes: number;
  readonly home: 'item' | 'bucket';
}

export const packValue = async (value: JsonValue): Promise<PackedValue> => {
  const text = Buffer.from(JSON.stringify(value), 'utf8');
  const packed = await pack(text);
  return { packed, bytes: text.length, home: packed.length > maxInItem ? 'bucket' : 'item' };
};

/**
 * Puts a value into the bucket before its version is made. It makes a note first, which the
 * version's transaction deletes. If the version is never made, the note tells what has to go.
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
    if (packed) return unpack(packed).toString('utf8');
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

/** Whether a version is still there. Its value may have been deleted, and made again as another. */
const isThere = async (store: Store, header: VersionHeader, budget: RequestBudget): Promise<boolean> => {
  const [found] = await findVersions(store, [{ ...header, version: { digest: header.digest } }], budget);
  return found?.header.versionIndex === header.versionIndex;
};

/**
 * Reads one version of an object with its value, strongly consistent.
 *
 * @param withoutValue whether no value is read, and null stands in its place
 * @throws ServiceError 404 where there is none
 */
export const readObject = async (
  store: Store,
  address: Address,
  budget: RequestBudget,
  withoutValue = false,
): Promise<StoredVersion> => {
  const [[found], [head]] = await Promise.all([
    findVersions(store, [address], budget),
    readHeads(store, [address], budget),
  ]);
  const readValue = async (version: FoundVersion): Promise<string | undefined> =>
    withoutValue ? 'null' : (await readValues(store, [version], budget))[0];
  const val = found && (await readValue(found));
  if (!found || val === undefined) throw absent(address, head?.latest != null);
  const { header } = found;
  return { header, val, isLatest: head?.latest?.versionIndex === header.versionIndex };
};

const toVersionName = ({ version }: Address): string => {
  if (version === 'latest') return version;
  return 'digest' in version ? version.digest : `v${version.versionIndex}`;
};

const absent = (address: Address, hasOthers: boolean): Error => {
  const object = `${JSON.stringify(address.objectId)} in ${address.projectId}`;
  return hasOthers
    ? notFound(
        ['body', 'digest'],
        `there is no version ${JSON.stringify(toVersionName(address))} of ${object}`,
      )
    : notFound(['body', 'object_id'], `there is no object ${object}`);
};
