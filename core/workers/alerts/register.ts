import type { Delivery, Target } from '../../../api/alerts.ts';
import {
  decodeMessagePack,
  encodeMessagePack,
  joinBytes,
  pack,
  unpack,
  unsignedTimeBytes,
} from '../../../foundations/encoding/index.ts';
import {
  asBytes,
  asNumber,
  type Condition,
  compareAndSwap,
  deleteItem,
  getItems,
  type Item,
  queryPage,
  type RequestBudget,
  readRange,
  replaceItem,
  type Table,
  type Transaction,
  transact,
} from '../../../foundations/storage/index.ts';
import type { TableKey, TableRange } from '../../../foundations/storage/tables.ts';
import { type Micros, type ProjectId, parseProjectId } from '../../../foundations/wire/index.ts';
import { changingUntil, registerKey, registerPartition } from '../../records/alerts.ts';
import { toPartition } from '../../records/partitions.ts';
import type { Standing } from './decide.ts';
import type { Message } from './message.ts';

/*
 * What is known of alerts beside their objects, in the table `bookkeeping` (`partitions.ts` has the tags of keys). Times are milliseconds since
 * 1970, but those of looks.
 *
 *   project    k  alertRegister     s  project
 *     u  until when its alerts may be changing: core/records/alerts.ts
 *     d  when it is to be looked at next
 *     l  the time of the last look, in microseconds
 *     c  until when a function is at work on it
 *   standings  k  alerts, project   s  1
 *     h  what is known of each alert, and the looks whose messages have not all arrived
 *   messages   k  alerts, project   s  2 time of the look
 *     h  what that look found to tell, and what became of it
 *
 * A function claims a project before it looks, on condition that the project's item is as it was read.
 * It stores what it found on condition that the claim is still its own.
 */

const standingsTag = 1;
const messagesTag = 2;

/** A project with alerts, as the register has it. */
export interface Registered {
  readonly projectId: ProjectId;
  readonly changingUntil: number;
  readonly due: number;
  readonly lookedAt: Micros;
  readonly claimedUntil: number;
}

const toRegistered = (item: Item): Registered => {
  const projectId = parseProjectId(Buffer.from(asBytes(item.s) ?? []).toString('utf8'));
  if (projectId === undefined) throw new Error('an item of the register of alerts is damaged');
  return {
    projectId,
    changingUntil: asNumber(item[changingUntil]) ?? 0,
    due: asNumber(item.d) ?? 0,
    lookedAt: asNumber(item.l) ?? 0,
    claimedUntil: asNumber(item.c) ?? 0,
  };
};

const toItem = ({ projectId, changingUntil, due, lookedAt, claimedUntil }: Registered): Item => ({
  ...registerKey(projectId),
  u: changingUntil,
  d: due,
  l: lookedAt,
  c: claimedUntil,
});

/** The condition that an item of the register is as it was read. It was made with `u` alone. */
const unchanged = ({ changingUntil: u, due: d, lookedAt: l, claimedUntil: c }: Registered): Condition => ({
  u,
  ...(l === 0 && c === 0 ? { d: undefined } : { d, l, c }),
});

/** Reads the projects with alerts, strongly consistent: one small read for all of them. */
export const readRegister = async (table: Table, budget: RequestBudget): Promise<Registered[]> => {
  const range: TableRange<'bookkeeping'> = { partition: ['k', registerPartition] };
  const options = { toRow: toRegistered, consistent: true };
  return (await Array.fromAsync(readRange(table, range, options, budget))).flat();
};

/** Whether a project is to be looked at: it is due or changed, and nobody is at work on it. */
export const isDue = ({ due, changingUntil, lookedAt, claimedUntil }: Registered, now: number): boolean =>
  claimedUntil <= now && (due <= now || changingUntil * 1000 > lookedAt);

/**
 * Claims a project until a time.
 *
 * @returns undefined if somebody else was faster, or its alerts have just changed
 */
export const claim = async (
  table: Table,
  seen: Registered,
  until: number,
  budget: RequestBudget,
): Promise<Registered | undefined> => {
  const claimed = { ...seen, claimedUntil: until };
  return (await replaceItem(table, toItem(claimed), unchanged(seen), budget)) ? claimed : undefined;
};

// What is known of a project's alerts.

/** What is known of the alerts of a project. */
export interface Standings {
  /** When it was stored, in milliseconds since 1970; 0 for what was not. */
  readonly storedAt: number;
  /** By the ids of alerts. */
  readonly alerts: ReadonlyMap<string, Standing>;
  /** The times of the looks whose messages have not all arrived, ascending. */
  readonly undelivered: readonly Micros[];
}

const noStandings: Standings = { storedAt: 0, alerts: new Map(), undelivered: [] };

const standingsKey = (projectId: ProjectId): TableKey<'bookkeeping'> => ({
  k: toPartition('alerts', projectId),
  s: Buffer.of(standingsTag),
});

const packed = (value: unknown): Promise<Uint8Array> => pack(encodeMessagePack(value));
const unpacked = ({ h }: Item): unknown => decodeMessagePack(unpack(asBytes(h) ?? new Uint8Array()));

const standingsItem = async (
  projectId: ProjectId,
  { storedAt, alerts, undelivered }: Standings,
): Promise<Item> => ({
  ...standingsKey(projectId),
  h: await packed([storedAt, [...alerts], undelivered]),
});

/** Reads what is known of a project's alerts, strongly consistent. */
export const readStandings = async (
  table: Table,
  projectId: ProjectId,
  budget: RequestBudget,
): Promise<Standings> => {
  const { k, s } = standingsKey(projectId);
  const range: TableRange<'bookkeeping'> = { partition: ['k', k], sort: ['s', s, s] };
  const { items } = await queryPage(table, range, budget, { consistent: true });
  const [item] = items;
  if (!item) return noStandings;
  const [storedAt, alerts, undelivered] = unpacked(item) as [number, [string, Standing][], Micros[]];
  return { storedAt, alerts: new Map(alerts), undelivered };
};

// What is to be told.

/** What became of a message at a target. */
export interface Sending {
  readonly target: Target;
  readonly status: Delivery['status'];
  readonly tries: number;
  readonly problem: string | null;
  /** When it is to be tried next, in milliseconds since 1970. */
  readonly nextAt: number;
}

/** A message, and what became of it. */
export interface Notification {
  readonly message: Message;
  readonly sendings: readonly Sending[];
}

/** What a look found to tell. */
export interface Dispatch {
  readonly at: Micros;
  readonly notifications: readonly Notification[];
}

/** How long history is kept, in seconds. */
const keptSeconds = 90 * 86_400;

const dispatchKey = (projectId: ProjectId, at: Micros): TableKey<'bookkeeping'> => ({
  k: toPartition('alerts', projectId),
  s: joinBytes(messagesTag, unsignedTimeBytes(at)),
});

const dispatchItem = async (projectId: ProjectId, { at, notifications }: Dispatch): Promise<Item> => ({
  ...dispatchKey(projectId, at),
  h: await packed([at, notifications]),
  x: Math.floor(at / 1e6) + keptSeconds,
});

const toDispatch = (item: Item): Dispatch => {
  const [at, notifications] = unpacked(item) as [Micros, Notification[]];
  return { at, notifications };
};

/** Reads what looks at some times found to tell, oldest first. */
export const readDispatches = async (
  table: Table,
  projectId: ProjectId,
  times: readonly Micros[],
  budget: RequestBudget,
): Promise<Dispatch[]> => {
  const keys = times.map((at) => dispatchKey(projectId, at));
  const items = keys.length > 0 ? await getItems(table, keys, budget, { consistent: true }) : [];
  return items.map(toDispatch).sort((a, b) => a.at - b.at);
};

/** Looks whose messages are read at once. */
const dispatchesAtOnce = 100;

/**
 * Reads what was told, newest first, until there is enough.
 *
 * @param enough whether no more is wanted after a page
 * @throws ServiceError 503 when storage does not give it in time
 */
export const readHistory = async (
  table: Table,
  projectId: ProjectId,
  take: (dispatch: Dispatch) => boolean,
  budget: RequestBudget,
): Promise<void> => {
  const range: TableRange<'bookkeeping'> = {
    partition: ['k', toPartition('alerts', projectId)],
    sort: ['s', Buffer.of(messagesTag), Buffer.of(messagesTag + 1)],
  };
  const options = { descending: true, consistent: true, limit: dispatchesAtOnce };
  let page = await queryPage(table, range, budget, options);
  for (;;) {
    for (const item of page.items) if (!take(toDispatch(item))) return;
    if (!page.next) return;
    page = await queryPage(table, range, budget, { ...options, start: page.next });
  }
};

// Storing.

/** What a look stores. */
export interface Findings {
  readonly standings: Standings;
  readonly dispatches: readonly Dispatch[];
}

const toPuts = async (
  projectId: ProjectId,
  { standings, dispatches }: Findings,
): Promise<Transaction['puts']> => {
  const items = dispatches.map((dispatch) => dispatchItem(projectId, dispatch));
  return (await Promise.all([standingsItem(projectId, standings), ...items])).map((item) => ({ item }));
};

/**
 * Stores items, all or none.
 *
 * @returns false if the claim is no more, and nothing was stored
 * @throws ServiceError 503 when storage does not answer in time; it may be stored then
 */
export const storeItems = (
  table: Table,
  { projectId, claimedUntil }: Registered,
  puts: Transaction['puts'],
  budget: RequestBudget,
): Promise<boolean> => {
  const checks = [{ key: registerKey(projectId), expected: { c: claimedUntil } }];
  return transact(table, { puts, checks }, budget);
};

/** Stores what a look has found, as {@link storeItems} does. */
export const store = async (
  table: Table,
  claimed: Registered,
  findings: Findings,
  budget: RequestBudget,
): Promise<boolean> => storeItems(table, claimed, await toPuts(claimed.projectId, findings), budget);

/**
 * Gives a claimed project back, and stores what was found since, all or nothing.
 *
 * @param findings null if nothing was
 * @returns false if the claim is no more, and nothing was stored
 * @throws ServiceError 503 when storage does not answer in time; it may be stored then
 */
export const release = (
  table: Table,
  claimed: Registered,
  next: Pick<Registered, 'due' | 'lookedAt'>,
  findings: Findings | null,
  budget: RequestBudget,
): Promise<boolean> => {
  let seen = claimed;
  return compareAndSwap(budget, async (round) => {
    if (round > 0) {
      // Somebody has changed an alert, or has claimed it, too.
      const [item] = await getItems(table, [registerKey(claimed.projectId)], budget, { consistent: true });
      if (!item || toRegistered(item).claimedUntil !== claimed.claimedUntil) return { value: false };
      seen = toRegistered(item);
    }
    const item = toItem({ ...seen, ...next, claimedUntil: 0 });
    const held = findings
      ? await transact(
          table,
          { puts: [{ item, expected: unchanged(seen) }, ...(await toPuts(claimed.projectId, findings))] },
          budget,
        )
      : await replaceItem(table, item, unchanged(seen), budget);
    return held ? { value: true } : undefined;
  });
};

/** Takes a project out of the register that has no alert any more, unless its alerts are changing. */
export const unregister = async (table: Table, claimed: Registered, budget: RequestBudget): Promise<void> => {
  await deleteItem(table, registerKey(claimed.projectId), unchanged(claimed), budget);
};
