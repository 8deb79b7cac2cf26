import { isDeepStrictEqual } from 'node:util';
import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import { type CallHeader, type EndHeader, isTurn, putPlaceholders } from '../../records/calls/index.ts';
import {
  type CallChange,
  type CallItem,
  type CallItemName,
  hasEnd,
  hasStart,
  nameText,
  readCallItems,
  toCall,
} from '../streams.ts';

/** Items of calls by {@link nameText}. */
type Items = ReadonlyMap<string, CallItem>;

/** The ends of calls by their names. */
const toEndName = ({ projectId, id }: CallItemName): CallItemName => ({ projectId, id, part: 'E' });

/**
 * Keeps the places of starts that did not come before their ends, so that they ask for an end when
 * they come. Ends that were deleted meanwhile need none.
 *
 * @returns the starts that came in this moment
 */
const keepPlaces = async (
  store: Store,
  starts: readonly CallItemName[],
  budget: RequestBudget,
): Promise<Items> => {
  if (starts.length === 0) return new Map();
  const ends = await readCallItems(store, starts.map(toEndName), budget, { consistent: true });
  const waited = starts.filter((start) => ends.has(nameText(toEndName(start))));
  return readCallItems(store, await putPlaceholders(store, waited, budget), budget, { consistent: true });
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
  return new Map([...cheap, ...sure, ...(await keepPlaces(store, missing, budget))]);
};

/**
 * Finds the other items of calls: as the batch has them last, else as the table has them.
 *
 * @param others the items that changes ask for; each name counts once
 */
const findOthers = async (
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

/** A call that has ended, and the change that shows it. */
export interface EndedCall {
  readonly change: CallChange;
  readonly header: CallHeader;
}

/** The fields of an end, wherever its payload lies. */
const getContent = ({ payload: _, ...content }: EndHeader): object => content;

const isSameEnd = (one: EndHeader, other: EndHeader): boolean =>
  isDeepStrictEqual(getContent(one), getContent(other));

/** What a change shows of its call's end. */
type FoundEnd =
  /** The item has all of an ended call. */
  | { readonly kind: 'whole'; readonly header: CallHeader }
  /** The item's call may have ended, which the other item of the call shows. */
  | { readonly kind: 'half'; readonly other: CallItemName }
  | { readonly kind: 'nothing' };

const nothing: FoundEnd = { kind: 'nothing' };

/**
 * What a change of a start shows. The record of an end by itself looks for its start, and keeps the
 * start's place if there is none. So only a start that took a kept place asks for an end.
 */
const findInStart = ({ projectId, id, before, after }: CallChange): FoundEnd => {
  if (!hasStart(after)) return nothing;
  if (hasEnd(after)) {
    const isOld =
      hasStart(before) &&
      hasEnd(before) &&
      isSameEnd(before.end, after.end) &&
      // A span's call may turn out to be a turn only when the spans around it come.
      !(isTurn({ id, ...after.start }) && !isTurn({ id, ...before.start }));
    return isOld ? nothing : { kind: 'whole', header: toCall(projectId, after, after) };
  }
  if (!before || hasStart(before)) return nothing;
  return { kind: 'half', other: { projectId, id, part: 'E' } };
};

/** What a change of an end that came by itself shows. */
const findInEnd = ({ projectId, id, before, after }: CallChange): FoundEnd => {
  if (!hasEnd(after)) return nothing;
  const isOld = hasEnd(before) && before.isIndexed === after.isIndexed && isSameEnd(before.end, after.end);
  return isOld ? nothing : { kind: 'half', other: { projectId, id, part: 'S' } };
};

/** What a change shows of its call's end, by itself. */
export const findEnd = (change: CallChange): FoundEnd =>
  change.part === 'S' ? findInStart(change) : findInEnd(change);

/** The call of a change and of the other item. */
const joined = (change: CallChange, other: CallItem | undefined): EndedCall | undefined => {
  const { projectId, part, after } = change;
  const [start, end] = part === 'S' ? [after, other] : [other, after];
  if (!hasStart(start) || !hasEnd(end)) return undefined;
  // An end that knows of its start has a record of its own, by which the call is found.
  if (part === 'S' && end.isIndexed) return undefined;
  return { change, header: toCall(projectId, start, end) };
};

/**
 * Finds the calls that ended with these changes. A call is found for each of its ends, once in a
 * batch. After a call was reported again with the same end, it is not found again.
 *
 * @param changes in their order
 */
export const endedCalls = async (
  store: Store,
  changes: readonly CallChange[],
  budget: RequestBudget,
): Promise<EndedCall[]> => {
  const ends = changes.map((change) => ({ change, found: findEnd(change) }));
  const missingHalves = ends.flatMap(({ found }) => (found.kind === 'half' ? [found.other] : []));
  const others = await findOthers(store, changes, missingHalves, budget);
  return ends.flatMap(({ change, found }): EndedCall[] => {
    if (found.kind === 'whole') return [{ change, header: found.header }];
    const ended = found.kind === 'half' && joined(change, others.get(nameText(found.other)));
    return ended ? [ended] : [];
  });
};
