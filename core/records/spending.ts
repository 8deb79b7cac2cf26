import { recordingHeader } from '../../api/shared/headers.ts';
import { joinBytes, shortDigest } from '../../foundations/encoding/index.ts';
import {
  type Addition,
  addToItem,
  asBytes,
  asNumber,
  compareAndSwap,
  getItems,
  type Item,
  mapConcurrent,
  type RequestBudget,
  requestBudget,
  type Table,
  transact,
} from '../../foundations/storage/index.ts';
import type { TableKey } from '../../foundations/storage/tables.ts';
import { formatTime, type ProjectId, ServiceError } from '../../foundations/wire/index.ts';
import { toPartition } from './partitions.ts';

/*
 * What may be spent, and what is. Money is held before it is spent: a counter grows by the most that
 * something can cost, on condition that it stays within its limit, and is put right once the price is
 * known. Whoever dies in between leaves what was held, so that a limit is never passed by it.
 *
 * Counters are in the table `bookkeeping`. Amounts are whole billionths of a dollar, so that sums are exact.
 *
 *   counters  k  counters, whose 0 project 0 name   s  number of the month
 *             m: spent and held of the month; 1 to 31: of its days; w: whose the last change was
 *   notice    the same   s  "notice" 0 period 0 when it ends 0 the limit   n: whether somebody was told
 */

/** Billionths of a dollar. */
export type Nanos = number;

/** The least whole number of billionths that is not below an amount of dollars. */
export const nanosUp = (usd: number): Nanos => Math.ceil(usd * 1e9);

/** The largest whole number of billionths that is not above an amount of dollars. */
export const nanosDown = (usd: number): Nanos => Math.floor(usd * 1e9 + 1e-3);

const dayMs = 86_400_000;

/** A span after which a limit begins anew, in UTC. */
export type Period = 'day' | 'month';

/** The most that something may spend in a period. */
export interface SpendingLimit {
  readonly of: 'user' | 'key' | 'evaluator' | 'project';
  /** The key's id, the project's, the evaluator's within its project, or what its end user is called there. */
  readonly name: string;
  /** The project of an end user or an evaluator. */
  readonly projectId?: ProjectId;
  readonly period: Period;
  readonly usd: number;
}

/** The limits of a key or a project, of which both may be absent. */
export const toLimits = (
  of: 'key' | 'project',
  name: string,
  {
    usdPerDay,
    usdPerMonth,
  }: { readonly usdPerDay?: number | undefined; readonly usdPerMonth?: number | undefined },
): SpendingLimit[] => [
  ...(usdPerDay === undefined ? [] : [{ of, name, period: 'day', usd: usdPerDay } as const]),
  ...(usdPerMonth === undefined ? [] : [{ of, name, period: 'month', usd: usdPerMonth } as const]),
];

const toMonth = (now: number): number => {
  const date = new Date(now);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
};

/** When the period of a time ends, both in milliseconds since 1970. */
const endOfPeriod = (period: Period, now: number): number => {
  if (period === 'day') return (Math.floor(now / dayMs) + 1) * dayMs;
  const month = toMonth(now) + 1;
  return Date.UTC(Math.floor(month / 12), month % 12);
};

/** The attribute that counts the period of a time. */
const toAttribute = (period: Period, now: number): string =>
  period === 'day' ? String(new Date(now).getUTCDate()) : 'm';

/** The partition of a limit's counters. What an end user is called may be longer than a key. */
const counterPartition = ({ of, name, projectId }: SpendingLimit): Buffer =>
  toPartition('counters', of, 0, projectId ?? '', 0, of === 'user' ? shortDigest(name) : name);

const counterKey = (limit: SpendingLimit, now: number): TableKey<'bookkeeping'> => ({
  k: counterPartition(limit),
  s: joinBytes(String(toMonth(now))),
});

/** How long counters are kept after their month. */
const keptMs = 40 * dayMs;

/**
 * The order in which limits are held. Whoever is refused by the own limit has then held nothing of one
 * that is shared with others.
 */
const order: readonly SpendingLimit['of'][] = ['user', 'key', 'evaluator', 'project'];

/** Limits whose counters are in one item. */
type SameItem = readonly SpendingLimit[];

/** Limits by the items that their counters are in, in the order in which they are held. */
const byItem = (limits: readonly SpendingLimit[]): SameItem[] => {
  const sorted = limits.toSorted((a, b) => order.indexOf(a.of) - order.indexOf(b.of));
  return [...Map.groupBy(sorted, (limit) => counterPartition(limit).toString('latin1')).values()];
};

/** A limit, and what was spent or is held of it. */
export interface Spent {
  readonly limit: SpendingLimit;
  readonly spent: Nanos;
  /** When it begins anew, in milliseconds since 1970. */
  readonly resetsAt: number;
}

const toSpent = (limits: readonly SpendingLimit[], item: Item | undefined, now: number): Spent[] =>
  limits.map((limit) => ({
    limit,
    spent: asNumber(item?.[toAttribute(limit.period, now)]) ?? 0,
    resetsAt: endOfPeriod(limit.period, now),
  }));

/**
 * Reads what was spent and is held, strongly consistent.
 *
 * @param now milliseconds since 1970
 * @returns in the order of the limits
 */
export const readSpent = async (
  table: Table,
  limits: readonly SpendingLimit[],
  now: number,
  budget: RequestBudget,
): Promise<Spent[]> => {
  const keys = byItem(limits).flatMap(([first]) => (first ? [counterKey(first, now)] : []));
  const items = await getItems(table, keys, budget, { consistent: true });
  return limits.flatMap((limit) => {
    const partition = counterPartition(limit);
    const isIts = ({ k = null }: Item) => Buffer.compare(asBytes(k) ?? Buffer.of(), partition) === 0;
    return toSpent([limit], items.find(isIts), now);
  });
};

/** The share of a limit from which on people are told that it is nearly reached. */
export const nearlyShare = 0.8;

/** Tells somebody that four fifths of a limit are spent or held. */
export type NotifyNearlyReached = (spent: Spent, budget: RequestBudget) => Promise<void>;

/** Whoever tells of a limit and its period for the first time makes this 1. */
const notice = ({ limit, resetsAt }: Spent, by: 1 | -1): Addition => ({
  key: {
    k: counterPartition(limit),
    s: joinBytes('notice', 0, limit.period, 0, String(resetsAt), 0, String(nanosDown(limit.usd))),
  },
  to: { n: by > 0 ? 0 : undefined },
  by,
  expiry: { x: (resetsAt + keptMs) / 1000 },
});

/**
 * Tells of limits that are nearly reached, of each once in its day or month. Another limit is told of anew.
 * If telling fails, whoever comes next tells.
 *
 * @param notified what this process has seen told, which is not looked up again
 * @throws what `tell` throws
 */
export const notifyNearlyReached = async (
  table: Table,
  spent: readonly Spent[],
  notify: NotifyNearlyReached,
  notified: Set<string>,
  budget: RequestBudget,
): Promise<void> => {
  for (const spending of spent) {
    const name = JSON.stringify([spending.limit, spending.resetsAt]);
    if (spending.spent < nearlyShare * nanosDown(spending.limit.usd) || notified.has(name)) continue;
    if (await transact(table, { puts: [], adds: [notice(spending, 1)] }, budget)) {
      await notify(spending, budget).catch(async (error: unknown) => {
        await transact(table, { puts: [], adds: [notice(spending, -1)] }, budget);
        throw error;
      });
    }
    notified.add(name);
  }
};

/** Dollars as people write them: to a hundredth of a cent, and tiny amounts as they are counted. */
export const dollarText = (usd: number): string =>
  `$${usd.toFixed(usd < 0.001 ? 9 : 4).replace(/\.?0+$/, '')}`;

/** A limit as a sentence names it: `the key's limit of $5 a day`. */
export const limitText = ({ of, period, usd }: SpendingLimit): string =>
  `the ${of === 'user' ? 'end user' : of}'s limit of ${dollarText(usd)} a ${period}`;

/** What in a request says whose limit it is. */
const whose = {
  user: ['body', 'user'],
  key: ['header', 'authorization'],
  evaluator: ['body', 'evaluator'],
  project: ['header', recordingHeader],
} as const satisfies Record<SpendingLimit['of'], readonly string[]>;

/** 429: a limit leaves too little for what somebody asks for. */
export class SpendingLimitReached extends ServiceError {
  readonly limitUsd: number;
  /** What was spent or is held in this period, in dollars. */
  readonly spentUsd: number;
  /** When the limit begins anew, in ISO 8601. */
  readonly resetsAt: string;
  /** All limits that were asked. */
  readonly all: readonly Spent[];

  constructor({ limit, spent, resetsAt }: Spent, all: readonly Spent[], amount: Nanos, now: number) {
    const at = formatTime(resetsAt * 1000);
    const left = Math.max(0, nanosDown(limit.usd) - spent) / 1e9;
    const msg = `${limitText(limit)} leaves ${dollarText(left)}, and this request may cost up to ${dollarText(amount / 1e9)}; it resets at ${at}`;
    super(429, [{ loc: whose[limit.of], msg, type: 'spending_limit' }], {
      retryAfterSeconds: Math.max(1, Math.ceil((resetsAt - now) / 1000)),
    });
    this.limitUsd = limit.usd;
    this.spentUsd = spent / 1e9;
    this.resetsAt = at;
    this.all = all;
  }
}

/** Money that is held of limits. */
export interface Held {
  readonly limits: readonly SpendingLimit[];
  readonly amount: Nanos;
  /** When it was held, in milliseconds since 1970: what it was spent on counts in the periods of then. */
  readonly at: number;
}

/** Money that is held, and what is spent and held of its limits with it. */
export interface Reservation extends Held {
  readonly spent: readonly Spent[];
}

/** What a counter may have before an amount is held. */
const room = ({ usd }: SpendingLimit, amount: Nanos): Nanos => nanosDown(usd) - amount;

/** What changes the counters of one item. */
const addition = (limits: SameItem, at: number, by: Nanos, isBounded: boolean): Addition => {
  const [first] = limits;
  if (!first) throw new Error('limits of an item are never none');
  return {
    key: counterKey(first, at),
    to: Object.fromEntries(
      limits.map((limit) => [toAttribute(limit.period, at), isBounded ? room(limit, by) : undefined]),
    ),
    by,
    expiry: { x: (endOfPeriod('month', at) + keptMs) / 1000 },
  };
};

/** What holds an amount, as part of a transaction that holds more together. */
export const holdingAdditions = ({ limits, amount, at }: Held): Addition[] =>
  amount === 0 ? [] : byItem(limits).map((some) => addition(some, at, amount, true));

/**
 * What puts a price in the place of what was held, as part of a transaction.
 *
 * @param spent null if nobody knows: then what was held counts as spent
 */
export const settlingAdditions = ({ limits, amount, at }: Held, spent: Nanos | null): Addition[] => {
  const by = (spent ?? amount) - amount;
  return by === 0 ? [] : byItem(limits).map((some) => addition(some, at, by, false));
};

/**
 * Reads what is spent and held, and throws if that leaves too little.
 *
 * @throws SpendingLimitReached by the limit that begins anew last of several
 */
export const requireRoom = async (
  table: Table,
  { limits, amount, at }: Held,
  budget: RequestBudget,
): Promise<void> => {
  const all = await readSpent(table, limits, at, budget);
  const over = all.filter(({ limit, spent }) => spent > room(limit, amount));
  const [last] = over.toSorted((a, b) => b.resetsAt - a.resetsAt);
  if (last) throw new SpendingLimitReached(last, all, amount, at);
};

/** Whether no limit is smaller than the amount: a counter that is not there yet would take it. */
export const isWithinLimits = ({ limits, amount }: Held): boolean =>
  limits.every((limit) => room(limit, amount) >= 0);

/** The longest that giving back may take, in milliseconds. */
const giveBackMs = 3000;

/**
 * Holds an amount of one limit after the other. If one leaves too little or does not answer, what was held
 * of those before goes back.
 *
 * @returns what is spent and held since; undefined if one leaves too little
 */
const holdEach = async (table: Table, hold: Held, budget: RequestBudget): Promise<Spent[] | undefined> => {
  const { limits, amount, at } = hold;
  const spent: Spent[] = [];
  const giveBack = async (): Promise<void> => {
    const held = { limits: spent.map(({ limit }) => limit), amount, at, spent };
    await settleReservation(table, held, 0, { ...requestBudget(giveBackMs), meter: budget.meter });
  };
  for (const some of byItem(limits)) {
    const { isAdded, item } = await addToItem(table, addition(some, at, amount, true), budget).catch(
      async (error: unknown) => {
        // What cannot go back counts as spent.
        await giveBack().catch(() => {});
        throw error;
      },
    );
    if (!isAdded) {
      await giveBack();
      return undefined;
    }
    spent.push(...toSpent(some, item, at));
  }
  return spent;
};

/**
 * Holds an amount of all limits together, or of none.
 *
 * @param now milliseconds since 1970
 * @throws SpendingLimitReached if a limit leaves less, the one that begins anew last of several;
 * ServiceError 503 when storage does not answer in time, and it may be held then
 */
export const reserve = async (
  table: Table,
  limits: readonly SpendingLimit[],
  amount: Nanos,
  now: number,
  budget: RequestBudget,
): Promise<Reservation> => {
  const hold = { limits, amount, at: now };
  if (amount === 0) return { ...hold, spent: await readSpent(table, limits, now, budget) };
  return compareAndSwap<Reservation>(budget, async () => {
    const spent = isWithinLimits(hold) ? await holdEach(table, hold, budget) : undefined;
    if (spent) return { value: { ...hold, spent } };
    await requireRoom(table, hold, budget);
    // Somebody has given back what was missing.
    return undefined;
  });
};

/**
 * Puts what something has cost in the place of what was held for it.
 *
 * @param spent null if nobody knows: then what was held counts as spent
 * @returns what is spent and held since
 * @throws ServiceError 503 when storage does not take it in time; what was held may count as spent then
 */
export const settleReservation = async (
  table: Table,
  { spent: before, ...held }: Reservation,
  spent: Nanos | null,
  budget: RequestBudget,
): Promise<readonly Spent[]> => {
  const items = byItem(held.limits);
  const additions = settlingAdditions(held, spent);
  if (additions.length === 0) return before;
  const since = await mapConcurrent(additions, additions.length, async (spending, i) => {
    const { item } = await addToItem(table, spending, budget);
    return toSpent(items[i] ?? [], item, held.at);
  });
  return since.flat();
};
