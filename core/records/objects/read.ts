import type { RequestBudget, Store } from '../../foundations/storage/index.ts';
import { notFound } from '../../foundations/wire/index.ts';
import { type Address, type FoundVersion, findVersions, readHeads } from './lookup.ts';
import { noValue, type StoredVersion } from './model.ts';
import { readValues } from './values.ts';

/**
 * Reads one version of an object with its value, strongly consistent.
 *
 * @param withoutValue whether no value is read, and {@link noValue} stands in its place
 * @throws ServiceError 404 where there is none; 503 when storage does not give it in time
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
    withoutValue ? noValue(store.names) : (await readValues(store, [version], budget))[0];
  const val = found && (await readValue(found));
  if (!found || val === undefined) throw absent(address, head?.latest != null);
  const { header } = found;
  return { header, val, isLatest: head?.latest?.versionIndex === header.versionIndex };
};

const nameOf = ({ version }: Address): string => {
  if (version === 'latest') return version;
  return 'digest' in version ? version.digest : `v${version.versionIndex}`;
};

const absent = (address: Address, hasOthers: boolean): Error => {
  const object = `${JSON.stringify(address.objectId)} in ${address.projectId}`;
  return hasOthers
    ? notFound(['body', 'digest'], `there is no version ${JSON.stringify(nameOf(address))} of ${object}`)
    : notFound(['body', 'object_id'], `there is no object ${object}`);
};
