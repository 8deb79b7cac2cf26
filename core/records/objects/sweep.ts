import {
  deleteItems,
  deleteObject,
  mapConcurrent,
  queryPage,
  type RequestBudget,
  type Store,
} from '../../foundations/storage/index.ts';
import { noteKey, noteRange, type ValueName, valueObject } from './keys.ts';
import { findVersions, readHeads } from './lookup.ts';
import type { ObjectName } from './model.ts';

/** How many objects of the bucket are deleted at once. */
const concurrency = 16;

/**
 * Deletes values in the bucket that have no version. Their version was deleted, or never made
 * because another took its index. Notes tell which they are. The note of an index that is still
 * free stays: somebody may be about to make that version.
 *
 * @param strays values that may be in the bucket although their notes were swept already
 * @throws ServiceError 503 when storage does not do it in time; the next sweep goes on where this
 * one ended
 */
export const sweep = async (
  store: Store,
  name: ObjectName,
  strays: readonly ValueName[],
  budget: RequestBudget,
): Promise<void> => {
  const [head] = await readHeads(store, [name], budget);
  if (head === undefined) return;
  // No version of an index below the head's next will be made: a value without one now never has
  // one.
  const noted = await readNotes(store, name, head.next, budget);
  const candidates = [...noted, ...strays.filter(({ versionIndex }) => versionIndex < head.next)];
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
