import type { RequestBudget, Store } from '../../foundations/storage/index.ts';
import type { Micros } from '../../foundations/wire/index.ts';
import type { CallHeader } from '../../records/calls/index.ts';
import {
  type CallChange,
  type CallItem,
  type CallItemName,
  callOf,
  hasEnd,
  hasStart,
  nameText,
  readCallItems,
} from '../streams/index.ts';
import { dayOf, versionOf } from './rows.ts';

/** What the changes of a batch have made of a call. */
export interface CallState {
  readonly projectId: string;
  readonly id: string;
  readonly version: string;
  /** Null if it was deleted. */
  readonly header: CallHeader | null;
  /** Days that it was filed under before, and is not any more. */
  readonly formerDays: readonly string[];
}

/**
 * How old a change must be for a read at half the price, in microseconds. DynamoDB's copies are the
 * same within a second.
 */
const settledAfter = 60_000_000;

/** The changes of one call in a batch, in their order. */
type CallChanges = readonly [CallChange, ...CallChange[]];

const byCall = (changes: readonly CallChange[]): CallChanges[] =>
  [
    ...Map.groupBy(changes, ({ projectId, id }) => `${projectId}\n${id}`).values(),
  ] as unknown as CallChanges[];

/** An item as a batch left it; undefined if the batch does not say. */
const leftBy = (changes: CallChanges, part: CallItem['part']): CallItem | null | undefined => {
  const last = changes.findLast((change) => change.part === part);
  return last && (last.after ?? null);
};

/** The other half that must be read to know a call's state. An end beside the start is in force. */
const missing = (changes: CallChanges): CallItemName[] => {
  const [{ projectId, id }] = changes;
  const [start, end] = [leftBy(changes, 'S'), leftBy(changes, 'E')];
  if (start === undefined) return [{ projectId, id, part: 'S' }];
  if (start === null || !hasStart(start) || hasEnd(start) || end !== undefined) return [];
  return [{ projectId, id, part: 'E' }];
};

const formerDays = (changes: CallChanges): string[] =>
  changes.flatMap(({ before }) => (hasStart(before) ? [dayOf(before.start.startedAt)] : []));

const stateOf = (changes: CallChanges, read: ReadonlyMap<string, CallItem>): CallState | undefined => {
  const [{ projectId, id }] = changes;
  const itemOf = (part: CallItem['part']) => {
    const left = leftBy(changes, part);
    return left === undefined ? read.get(nameText({ projectId, id, part })) : left;
  };
  const [start, end] = [itemOf('S'), itemOf('E')];
  const version = versionOf(changes.at(-1)?.change.sequence ?? '');
  const former = formerDays(changes);
  if (!hasStart(start)) {
    const days = [...new Set(former)];
    return days.length > 0 ? { projectId, id, version, header: null, formerDays: days } : undefined;
  }
  const header = callOf(projectId, start, hasEnd(start) ? start : hasEnd(end) ? end : undefined);
  const day = dayOf(start.start.startedAt);
  return {
    ...{ projectId, id, version, header },
    formerDays: [...new Set(former)].filter((other) => other !== day),
  };
};

/**
 * Finds what the changes of a batch have made of calls: one state for each call. A half that the
 * batch does not have is read as it is now. If it changes later, a later record says so.
 *
 * @param now the present
 * @throws ServiceError 503 when storage does not answer in time
 */
export const callStates = async (
  store: Store,
  changes: readonly CallChange[],
  now: Micros,
  budget: RequestBudget,
): Promise<CallState[]> => {
  const calls = byCall(changes);
  const isSettled = (call: CallChanges) => call.every(({ change }) => change.at < now - settledAfter);
  const read = new Map<string, CallItem>();
  for (const consistent of [false, true]) {
    const some = calls.filter((call) => isSettled(call) !== consistent).flatMap(missing);
    for (const [name, item] of await readCallItems(store, some, budget, { consistent })) read.set(name, item);
  }
  return calls.flatMap((call) => stateOf(call, read) ?? []);
};
