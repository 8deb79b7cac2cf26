import {
  asBytes,
  type Condition,
  expiry,
  getItems,
  type Item,
  type RequestBudget,
  type Store,
  shardCount,
} from '../../../foundations/storage/index.ts';
import { type ProjectId, qualifiedId } from '../../../foundations/wire/index.ts';
import { type HeaderContent, packHeader, unpackHeader } from './header.ts';
import {
  callIdOf,
  callKey,
  errorKeys,
  type IndexedFields,
  isTurn,
  type Part,
  partOfRow,
  sortKeyOf,
  startKey,
  threadKeys,
  timeKeys,
  traceKeys,
} from './keys.ts';
import type { EndHeader, StartHeader } from './model.ts';

/** The fields of a call that its index keys are made from. */
export const indexedFieldsOf = (projectId: ProjectId, id: string, start: StartHeader): IndexedFields => ({
  projectId,
  id,
  startedAt: start.startedAt,
  traceId: start.traceId,
  parentId: start.parentId,
  threadId: start.threadId,
  turnId: start.turnId,
});

/** Whether a call with this end has failed. */
export const isFailed = (end: EndHeader | null): boolean => end?.status === 'error';

/** Whether an item is in the list of errors, or will be once its start is known. */
export const isInErrors = ({ ek }: Item): boolean => ek !== undefined;

const indexKeys = (store: Store, indexed: IndexedFields, part: Part, failed: boolean): Item => {
  const shards = shardCount(store);
  const { threadId } = indexed;
  // Ends of nested calls are not in by_thread: thread statistics are computed from turns alone.
  const inThread = threadId !== null && (part === 'S' || isTurn(indexed));
  return {
    ...timeKeys(indexed, part, shards),
    ...(part === 'S' && traceKeys(indexed)),
    ...(inThread && threadKeys({ ...indexed, threadId }, part, shards)),
    ...(failed && errorKeys(indexed, shards)),
  };
};

/**
 * Makes the item of a call's start, with the end if both were reported together, or of its end by
 * itself.
 *
 * @param indexed the fields for the index keys; null for an end whose start is unknown, which is
 * found by id only
 * @param failed whether the call has failed. @default - if its end says so
 */
export const toItem = (
  store: Store,
  key: { readonly projectId: ProjectId; readonly id: string; readonly part: Part },
  header: HeaderContent,
  indexed: IndexedFields | null,
  failed = isFailed(header.end),
): Item => ({
  k: callKey(key.projectId, key.id),
  p: key.part,
  h: packHeader(header, { ...key, policy: store.policy }),
  ...(indexed && indexKeys(store, indexed, key.part, failed)),
  ...expiry(store),
});

/**
 * The largest packed payload that a request puts into the items of headers, and that lists show in
 * their rows, in bytes. A header leaves about as much of its write unit.
 */
export const maxInlineBytes = 512;

/** The packed payload in a call's own item, as it is put there or was read. */
export const inlineOf = ({ b, c }: Item): Uint8Array | undefined => asBytes(c) ?? asBytes(b);

/**
 * Puts a packed payload into an item: where the rows of lists have it too if lists show the call
 * and it is small.
 *
 * @param isListed whether the call is a root or has failed
 */
export const withInline = (item: Item, inline: Uint8Array | undefined, isListed: boolean): Item => {
  if (!inline && !inlineOf(item)) return item;
  const { b: _b, c: _c, ...rest } = item;
  if (!inline) return rest;
  return isListed && inline.length <= maxInlineBytes ? { ...rest, c: inline } : { ...rest, b: inline };
};

/** A call by its project and id. */
export interface CallName {
  readonly projectId: ProjectId;
  readonly id: string;
}

/** Tells a call from all others, as {@link qualifiedId} does. */
export const nameOf = ({ projectId, id }: CallName): string => qualifiedId(projectId, id);

/**
 * What lies under the key of a call's start. Without a start it keeps the place of one that is not
 * known yet. It then has traces that are reserved for it, or the key of the list of errors.
 */
export interface StartEntry extends HeaderContent, CallName {
  readonly item: Item;
}

/** A start with its item, read from the table or about to be put there. */
export interface StartItem extends StartEntry {
  readonly start: StartHeader;
  /** The end in the same item. */
  readonly end: EndHeader | null;
}

/** A stored start or end, read from the table or an index. */
export interface StoredPart extends HeaderContent {
  readonly id: string;
  readonly part: Part;
  /** The packed payload, if it is inline and the item or row shows it. */
  readonly inline: Uint8Array | undefined;
}

/**
 * Reads an item or an index row of a start or an end.
 *
 * @throws Error if it has no header
 */
export const fromItem = (store: Store, projectId: ProjectId, item: Item): StoredPart => {
  const [key, header] = [asBytes(item.k), asBytes(item.h)];
  if (!key || !header) throw new Error('an item of the calls table has no header');
  const id = callIdOf(projectId, key);
  const timeKey = sortKeyOf({ ts: asBytes(item.ts), hs: asBytes(item.hs) });
  const parts = unpackHeader(header, { projectId, id, policy: store.policy }, timeKey);
  return {
    ...parts,
    id,
    part: item.p === undefined ? partOfRow(timeKey) : item.p === 'E' ? 'E' : 'S',
    inline: inlineOf(item),
  };
};

/** An item's partition key as text, for lookups. */
export const keyText = (item: Item): string => Buffer.from(asBytes(item.k) ?? []).toString('latin1');

/**
 * Reads what lies under the keys of starts, strongly consistent, in any order: starts, and what is
 * reserved for them. Calls with neither are left out.
 *
 * @param calls without duplicates
 * @throws ServiceError 503 when storage does not answer in time
 */
export const readStartEntries = async (
  store: Store,
  calls: readonly CallName[],
  budget: RequestBudget,
): Promise<StartEntry[]> => {
  const byKey = new Map(calls.map((call) => [keyText(startKey(call.projectId, call.id)), call]));
  const keys = calls.map(({ projectId, id }) => startKey(projectId, id));
  const items = await getItems(store.table, keys, budget, { consistent: true });
  return items.flatMap((item) => {
    const call = byKey.get(keyText(item));
    if (!call) return [];
    const { projectId, id } = call;
    const { start, end, earlyTraces } = fromItem(store, projectId, item);
    return [{ item, projectId, id, start, end, earlyTraces }];
  });
};

/** Whether there is a start, and not only a reservation for one. */
export const hasStart = (entry: StartEntry): entry is StartItem => entry.start !== null;

/** Reads starts as {@link readStartEntries} does. Calls without a start are left out. */
export const readStarts = async (
  store: Store,
  calls: readonly CallName[],
  budget: RequestBudget,
): Promise<StartItem[]> => (await readStartEntries(store, calls, budget)).filter(hasStart);

/**
 * The condition that a stored item has the header, time, inline payload and key of the list of
 * errors that were read. The time of a start is in its sort key alone.
 */
export const unchanged = ({ h, ts, b, c, ek }: Item): Condition => ({ h, ts, b, c, ek });
