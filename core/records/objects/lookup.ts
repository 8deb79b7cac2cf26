import {
  asBytes,
  asText,
  getItems,
  type Item,
  type RequestBudget,
  type Store,
} from '../../foundations/storage/index.ts';
import { isDigest } from './digest.ts';
import { aliasKey, digestKey, headKey, versionKey } from './keys.ts';
import {
  isObjectId,
  type ObjectName,
  parseVersionName,
  type VersionHeader,
  type VersionName,
} from './model.ts';
import { type Head, toHead, toHeader } from './store.ts';

/** A key of the objects table as text, to look its item up by. */
const keyText = ({ k, s }: Item): string =>
  `${Buffer.from(asBytes(k) ?? []).toString('latin1')}\n${Buffer.from(asBytes(s) ?? []).toString('latin1')}`;

/**
 * Gets the items of keys, strongly consistent. An item that is asked for twice is read once.
 *
 * @returns the items in the order of the keys; undefined for a key of nothing, and for no key
 * @throws ServiceError 503 when storage does not give them in time
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
 *
 * @throws ServiceError 503 when storage does not give them in time
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
  readonly packed: Uint8Array | undefined;
}

/**
 * The key that an address leads to: of a head, a version or a digest; undefined for what cannot be
 * an address.
 */
const keyOf = ({ version, ...name }: Address): Item | undefined => {
  if (!isObjectId(name.objectId)) return undefined;
  if (version === 'latest') return headKey(name);
  if ('versionIndex' in version) return versionKey(name, version.versionIndex);
  return isDigest(version.digest) ? digestKey(name, version.digest) : undefined;
};

/** The alias that an address gives; undefined if it gives a digest, an index or `latest`. */
const aliasOf = ({ objectId, version }: Address): string | undefined =>
  version !== 'latest' && 'digest' in version && !isDigest(version.digest) && isObjectId(objectId)
    ? version.digest
    : undefined;

/**
 * Puts digests in the place of aliases, which only Weave's dialect has. What is no alias stays.
 *
 * @throws ServiceError 503 when storage does not give them in time
 */
const withoutAliases = async (
  store: Store,
  addresses: readonly Address[],
  budget: RequestBudget,
): Promise<readonly Address[]> => {
  const aliases = store.names.dialect === 'weave' ? addresses.map(aliasOf) : [];
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
 * @throws ServiceError 503 when storage does not give them in time
 */
export const findVersions = async (
  store: Store,
  addresses: readonly Address[],
  budget: RequestBudget,
): Promise<(FoundVersion | undefined)[]> => {
  const named = await withoutAliases(store, addresses, budget);
  const items = await getInOrder(store, named.map(keyOf), budget);
  return addresses.map(({ projectId }, i) => {
    const item = items[i];
    // The head of an object whose versions were all deleted has no header.
    return item?.h === undefined ? undefined : { header: toHeader(projectId, item), packed: asBytes(item.b) };
  });
};

/**
 * The digests of versions that are called `latest`, `v<N>`, by their digest or, in Weave's dialect,
 * by an alias. What is called by a digest is not looked up, nor what an alias leads to: the version
 * may be gone. What is not there has no digest.
 *
 * @throws ServiceError 503 when storage does not give them in time
 */
export const digestsOf = async (
  store: Store,
  name: ObjectName,
  versions: readonly string[],
  budget: RequestBudget,
): Promise<string[]> => {
  const asked = versions.map((version) => ({ ...name, version: parseVersionName(version) }));
  const named = await withoutAliases(store, asked, budget);
  const toFind = named.filter(({ version }) => version === 'latest' || 'versionIndex' in version);
  const found = toFind.length > 0 ? await findVersions(store, toFind, budget) : [];
  const digests = named.flatMap(({ version }) =>
    version !== 'latest' && 'digest' in version && isDigest(version.digest) ? [version.digest] : [],
  );
  return [...digests, ...found.flatMap((version) => version?.header.digest ?? [])];
};
