import { isDeepStrictEqual } from 'node:util';
import type { RequestBudget, Store } from '../../foundations/storage/index.ts';
import type { CallHeader, EndHeader } from '../../records/calls/index.ts';
import {
  type CallChange,
  type CallItem,
  type CallItemName,
  callOf,
  hasEnd,
  hasStart,
  nameText,
} from '../streams/index.ts';
import { findOthers } from './other-items.ts';

/** A call that has ended, and the change that says so. */
export interface EndedCall {
  readonly change: CallChange;
  readonly header: CallHeader;
}

/** What an end says of itself, wherever its payload lies. */
const contentOf = ({ payload: _, ...content }: EndHeader): object => content;

const isSameEnd = (one: EndHeader, other: EndHeader): boolean =>
  isDeepStrictEqual(contentOf(one), contentOf(other));

/** What a change tells of its call's end. */
type Telling =
  /** The item has all of an ended call. */
  | { readonly kind: 'whole'; readonly header: CallHeader }
  /** The item's call may have ended; the other item of the call says so. */
  | { readonly kind: 'half'; readonly other: CallItemName }
  | { readonly kind: 'nothing' };

const nothing: Telling = { kind: 'nothing' };

/**
 * What a change of a start tells. The record of an end by itself looks for its start, and keeps the
 * start's place if there is none. So only a start that took a kept place asks for an end.
 */
const startTells = ({ projectId, id, before, after }: CallChange): Telling => {
  if (!hasStart(after)) return nothing;
  if (hasEnd(after)) {
    const isOld = hasStart(before) && hasEnd(before) && isSameEnd(before.end, after.end);
    return isOld ? nothing : { kind: 'whole', header: callOf(projectId, after, after) };
  }
  if (!before || hasStart(before)) return nothing;
  return { kind: 'half', other: { projectId, id, part: 'E' } };
};

/** What a change of an end that came by itself tells. */
const endTells = ({ projectId, id, before, after }: CallChange): Telling => {
  if (!hasEnd(after)) return nothing;
  const isOld = hasEnd(before) && before.placed === after.placed && isSameEnd(before.end, after.end);
  return isOld ? nothing : { kind: 'half', other: { projectId, id, part: 'S' } };
};

/** What a change tells of its call's end, by itself. */
export const tells = (change: CallChange): Telling =>
  change.part === 'S' ? startTells(change) : endTells(change);

/** The call of a change and of the other item. */
const joined = (change: CallChange, other: CallItem | undefined): EndedCall | undefined => {
  const { projectId, part, after } = change;
  const [start, end] = part === 'S' ? [after, other] : [other, after];
  if (!hasStart(start) || !hasEnd(end)) return undefined;
  // An end that knows of its start has a record of its own, which tells of the call.
  if (part === 'S' && end.placed) return undefined;
  return { change, header: callOf(projectId, start, end) };
};

/**
 * Finds the calls that ended with these changes. A call is found for each of its ends, once in a
 * batch. After a call was reported again with the same end, it is not found again.
 *
 * @param changes in their order
 * @throws ServiceError 503 when storage does not answer in time
 */
export const endedCalls = async (
  store: Store,
  changes: readonly CallChange[],
  budget: RequestBudget,
): Promise<EndedCall[]> => {
  const telling = changes.map((change) => ({ change, tells: tells(change) }));
  const others = telling.flatMap(({ tells }) => (tells.kind === 'half' ? [tells.other] : []));
  const found = await findOthers(store, changes, others, budget);
  return telling.flatMap(({ change, tells }): EndedCall[] => {
    if (tells.kind === 'whole') return [{ change, header: tells.header }];
    const ended = tells.kind === 'half' && joined(change, found.get(nameText(tells.other)));
    return ended ? [ended] : [];
  });
};
