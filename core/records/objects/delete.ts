import {
  compareAndSwap,
  deleteItems,
  deleteObject,
  mapConcurrent,
  queryPage,
  type RequestBudget,
  type Store,
  type Transaction,
  transact,
} from '../../../foundations/storage/index.ts';
import {
  digestKey,
  type Head,
  headItem,
  memberChanges,
  noteKey,
  noteRange,
  toHeader,
  unchanged,
  type ValueName,
  valueObject,
  versionKey,
  versionRange,
} from './items.ts';
import { type Mover, nobody, refuseLabelled, removeLabels } from './labels.ts';
import type { AuthorizeChange, ObjectName, VersionHeader } from './model.ts';
import { findVersions, noteItem, readHeads } from './read.ts';

/** How many objects of the bucket are deleted at once. */
const concurrency = 16;

/**
 * Deletes values in the bucket that have no version. Their version was deleted, or never made
 * because another took its index. Notes tell which they are. The note of an index that is still
 * free stays: somebody may be about to make that version.
 *
 * @param orphans values that may be in the bucket although their notes were swept already
 * @throws ServiceError 503 when storage does not do it in time; the next sweep goes on where this
 * one ended
 */
export const sweep = async (
  store: Store,
  name: ObjectName,
  orphans: readonly ValueName[],
  budget: RequestBudget,
): Promise<void> => {
  const [head] = await readHeads(store, [name], budget);
  if (head === undefined) return;
  // No version of an index below the head's next will be made: a value without one now never has
  // one.
  const noted = await readNotes(store, name, head.next, budget);
  const candidates = [...noted, ...orphans.filter(({ versionIndex }) => versionIndex < head.next)];
  const versions = await findVersions(
    store,
    candidates.map(({ versionIndex }) => ({ ...name, version: { versionIndex } })),
    budget,
  );
  const dead = candidates.filter(({ digest }, i) => versions[i]?.header.digest !== digest);
  await mapConcurrent(dead, concurrency, (value) => deleteObject(store.bucket, valueObject(value), budget));
  const notes = new Map(dead.map((value) => [valueObject(value), noteKey(value)]));
  await deleteItems(store.table, [...notes.values()], budget);
};

/** The values that notes tell of, with version indexes below a bound (1 or more). */
const readNotes = async (
  store: Store,
  name: ObjectName,
  below: number,
  budget: RequestBudget,
): Promise<ValueName[]> => {
  const range = noteRange(name, below);
  const { items } = await queryPage(store.table, range, budget, { consistent: true, limit: maxNotes });
  return items.map(({ versionIndex, digest }) => ({
    ...name,
    versionIndex: Number(versionIndex),
    digest: String(digest),
  }));
};

/** A sweep takes so many notes and leaves what is beyond them to the next. */
const maxNotes = 1000;

/**
 * How many versions go in one transaction of at most 100 writes: the head, up to two of members of
 * classes, and up to three of each version.
 */
const maxAtOnce = 32;

/** How versions are deleted. */
interface Deletion {
  /** What the request calls them: aliases among these go last, as a repeat needs them. @default - none */
  readonly names?: readonly string[];
  /** Refuses what each transaction would change. @default - anything may be deleted */
  readonly authorize?: AuthorizeChange | undefined;
  /** Who takes the aliases from them. @default - nobody who is remembered */
  readonly mover?: Mover;
}

/**
 * Deletes versions of an object for good, with their values. A version that is not there counts as
 * deleted, so this may be repeated. Deleting all versions leaves alone what is made meanwhile.
 *
 * @param digests of the versions to delete; null for all
 * @returns how many versions it deleted
 * @throws ServiceError as {@link refuseLabelled}; 503 when storage does not do it in time, or others change the object all the
 * while; some may be deleted then
 */
export const deleteVersions = async (
  store: Store,
  name: ObjectName,
  digests: readonly string[] | null,
  budget: RequestBudget,
  { names = [], authorize, mover = nobody }: Deletion = {},
): Promise<number> => {
  const [head] = await readHeads(store, [name], budget);
  if (head === undefined) return 0;
  await refuseLabelled(store, name, digests, budget);
  // Before the versions: once they are gone, nothing tells which digest `v3` stood for.
  await removeLabels(store, name, digests, mover, budget, names);
  let deleted = 0;
  const left = digests && [...new Set(digests)];
  for (;;) {
    const batch = left?.splice(0, maxAtOnce);
    const found = await deleteSome(store, name, batch ?? { below: head.next }, budget, authorize);
    deleted += found;
    if (left ? left.length === 0 : found === 0) break;
  }
  await sweep(store, name, [], budget);
  // What was put on them meanwhile, and the aliases that the request names.
  await removeLabels(store, name, digests, mover, budget);
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
  authorize: AuthorizeChange | undefined,
): Promise<number> => {
  return compareAndSwap(budget, async () => {
    // The head is read first. Whatever changes after that makes the transaction fail.
    const [head] = await readHeads(store, [name], budget);
    const targets = await findTargets(store, name, which, budget);
    if (head === undefined || targets.length === 0) return { value: 0 };
    const latest = await latestWithout(store, head, targets, budget);
    const uncovered = latest?.versionIndex === head.latest?.versionIndex ? null : latest;
    await authorize?.({ deleted: targets, covered: null, uncovered });
    const held = await transact(store.table, deletion({ ...head, latest }, head, targets), budget);
    return held ? { value: targets.length } : undefined;
  });
};

const findTargets = async (
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

/** The newest version that is left without the targets; null if there is none. */
const latestWithout = async (
  store: Store,
  head: Head,
  targets: readonly VersionHeader[],
  budget: RequestBudget,
): Promise<VersionHeader | null> => {
  const gone = new Set(targets.map(({ versionIndex }) => versionIndex));
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
const deletion = (next: Head, head: Head, targets: readonly VersionHeader[]): Transaction => {
  const members = memberChanges(head.latest, next.latest);
  return {
    puts: [
      { item: headItem({ ...next, generation: head.generation + 1 }), expected: unchanged(head) },
      ...targets.filter(({ home }) => home === 'bucket').map((header) => ({ item: noteItem(header) })),
      ...members.puts,
    ],
    deletes: [
      ...targets.flatMap((header) => [
        versionKey(header, header.versionIndex),
        digestKey(header, header.digest),
      ]),
      ...members.deletes,
    ],
  };
};
