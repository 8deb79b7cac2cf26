import type { RequestBudget, Store } from '../../foundations/storage/index.ts';
import { keepPlaces } from '../../records/calls/index.ts';
import {
  type CallChange,
  type CallItem,
  type CallItemName,
  hasStart,
  nameText,
  readCallItems,
} from '../streams/index.ts';

/** Items of calls by {@link nameText}. */
type Items = ReadonlyMap<string, CallItem>;

/** The ends of calls by their names. */
const endOf = ({ projectId, id }: CallItemName): CallItemName => ({ projectId, id, part: 'E' });

/**
 * Keeps the places of starts that did not come before their ends, so that they ask for an end when
 * they come. Ends that were deleted meanwhile need none.
 *
 * @returns the starts that came in this moment
 */
const keepPlacesOf = async (
  store: Store,
  starts: readonly CallItemName[],
  budget: RequestBudget,
): Promise<Items> => {
  if (starts.length === 0) return new Map();
  const ends = await readCallItems(store, starts.map(endOf), budget, { consistent: true });
  const waited = starts.filter((start) => ends.has(nameText(endOf(start))));
  return readCallItems(store, await keepPlaces(store, waited, budget), budget, { consistent: true });
};

/**
 * Reads starts of calls that have an end by itself. Most are older than the end, and hardly ever
 * missed by a read at half the price. Where no start comes out, another read makes sure.
 */
const readStarts = async (
  store: Store,
  starts: readonly CallItemName[],
  budget: RequestBudget,
): Promise<Items> => {
  const cheap = await readCallItems(store, starts, budget, { consistent: false });
  const left = starts.filter((name) => !hasStart(cheap.get(nameText(name))));
  const sure = await readCallItems(store, left, budget, { consistent: true });
  const missing = left.filter((name) => !sure.has(nameText(name)));
  return new Map([...cheap, ...sure, ...(await keepPlacesOf(store, missing, budget))]);
};

/**
 * Finds the other items of calls: as the batch has them last, else as the table has them.
 *
 * @param others the items that changes ask for; each name counts once
 * @throws ServiceError 503 when storage does not answer in time
 */
export const findOthers = async (
  store: Store,
  changes: readonly CallChange[],
  others: readonly CallItemName[],
  budget: RequestBudget,
): Promise<Items> => {
  const known = new Map<string, CallItem>();
  for (const change of changes) if (change.after) known.set(nameText(change), change.after);
  const missing = [...new Map(others.map((name) => [nameText(name), name])).values()].filter(
    (name) => !known.has(nameText(name)),
  );
  const starts = await readStarts(
    store,
    missing.filter(({ part }) => part === 'S'),
    budget,
  );
  const ends = missing.filter(({ part }) => part === 'E');
  const read = await readCallItems(store, ends, budget, { consistent: true });
  return new Map([...starts, ...read, ...known]);
};
