import {
  compareAndSwap,
  queryPage,
  type RequestBudget,
  type Store,
  type Transaction,
  transact,
} from '../../foundations/storage/index.ts';
import { digestKey, versionKey, versionRange } from './keys.ts';
import { removeLabels } from './labels.ts';
import { findVersions, readHeads } from './lookup.ts';
import type { ObjectName, VersionHeader } from './model.ts';
import { type Head, headItem, toHeader, unchanged } from './store.ts';
import { sweep } from './sweep.ts';
import { noteItem } from './values.ts';

/**
 * How many versions go in one transaction of at most 100 writes: the head, and up to three of each
 * version.
 */
const maxAtOnce = 33;

/**
 * Deletes versions of an object for good, with their values. A version that is not there counts as
 * deleted, so this may be repeated. Deleting all versions leaves alone what is made meanwhile.
 *
 * @param digests of the versions to delete; null for all
 * @param names what the request calls them: aliases among these go last, as a repeat needs them
 * @returns how many versions it deleted
 * @throws ServiceError 503 when storage does not do it in time, or others change the object all the
 * while; some may be deleted then
 */
export const deleteVersions = async (
  store: Store,
  name: ObjectName,
  digests: readonly string[] | null,
  budget: RequestBudget,
  names: readonly string[] = [],
): Promise<number> => {
  const [head] = await readHeads(store, [name], budget);
  if (head === undefined) return 0;
  // Before the versions: once they are gone, nothing tells which digest `v3` stood for.
  if (store.names.dialect === 'weave') await removeLabels(store, name, digests, budget, names);
  let deleted = 0;
  const left = digests && [...new Set(digests)];
  for (;;) {
    const batch = left?.splice(0, maxAtOnce);
    const found = await deleteSome(store, name, batch ?? { below: head.next }, budget);
    deleted += found;
    if (left ? left.length === 0 : found === 0) break;
  }
  await sweep(store, name, [], budget);
  // What was put on them meanwhile, and the aliases that the request names.
  if (store.names.dialect === 'weave') await removeLabels(store, name, digests, budget);
  return deleted;
};

/**
 * Deletes the versions of the digests, or the oldest below an index, in one transaction and at most
 * as many as fit.
 */
const deleteSome = async (
  store: Store,
  name: ObjectName,
  which: readonly string[] | { readonly below: number },
  budget: RequestBudget,
): Promise<number> => {
  return compareAndSwap(budget, async () => {
    // The head is read first. Whatever changes after that makes the transaction fail.
    const [head] = await readHeads(store, [name], budget);
    const doomed = await findDoomed(store, name, which, budget);
    if (head === undefined || doomed.length === 0) return { value: 0 };
    const latest = await latestWithout(store, head, doomed, budget);
    const held = await transact(store.table, deleting({ ...head, latest }, head, doomed), budget);
    return held ? { value: doomed.length } : undefined;
  });
};

const findDoomed = async (
  store: Store,
  name: ObjectName,
  which: readonly string[] | { readonly below: number },
  budget: RequestBudget,
): Promise<VersionHeader[]> => {
  if ('below' in which) {
    const range = versionRange(name, which.below);
    const page = await queryPage(store.table, range, budget, { consistent: true, limit: maxAtOnce });
    return page.items.map((item) => toHeader(name.projectId, item));
  }
  const addresses = which.map((digest) => ({ ...name, version: { digest } }));
  const found = await findVersions(store, addresses, budget);
  return found.flatMap((version) => version?.header ?? []);
};

/** The newest version once the doomed ones are gone; null where none is left. */
const latestWithout = async (
  store: Store,
  head: Head,
  doomed: readonly VersionHeader[],
  budget: RequestBudget,
): Promise<VersionHeader | null> => {
  const gone = new Set(doomed.map(({ versionIndex }) => versionIndex));
  if (head.latest && !gone.has(head.latest.versionIndex)) return head.latest;
  // One more than are deleted: at least one of these stays, if there is one.
  const { items } = await queryPage(store.table, versionRange(head), budget, {
    consistent: true,
    descending: true,
    limit: maxAtOnce + 1,
  });
  const newest = items.map((item) => toHeader(head.projectId, item));
  return newest.find(({ versionIndex }) => !gone.has(versionIndex)) ?? null;
};

/**
 * The transaction that deletes versions. It leaves notes of values in the bucket, which can be
 * deleted only after it.
 */
const deleting = (next: Head, head: Head, doomed: readonly VersionHeader[]): Transaction => ({
  puts: [
    { item: headItem({ ...next, generation: head.generation + 1 }), expected: unchanged(head) },
    ...doomed.filter(({ home }) => home === 'bucket').map((header) => ({ item: noteItem(header) })),
  ],
  deletes: doomed.flatMap((header) => [
    versionKey(header, header.versionIndex),
    digestKey(header, header.digest),
  ]),
});
