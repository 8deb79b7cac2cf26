import { recordingHeader } from '../../api/shared/headers.ts';
import { joinBytes } from '../../foundations/encoding/index.ts';
import {
  type Addition,
  asBytes,
  asNumber,
  compareAndSwap,
  getItems,
  type Item,
  type RequestBudget,
  type Table,
  transact,
} from '../../foundations/storage/index.ts';
import type { TableKey } from '../../foundations/storage/tables.ts';
import { formatTime, ServiceError } from '../../foundations/wire/index.ts';
import { partitionOf } from './partitions.ts';

/*
 * What may be spent, and what is. Money is held before it is spent: a counter grows by the most that
 * something can cost, on condition that it stays within its limit, and is put right once the price is
 * known. Whoever dies in between leaves what was held, so that a limit is never passed by it.
 *
 * Counters are in the table `bookkeeping`. Amounts are whole billionths of a dollar, so that sums are exact.
 *
 *   counter   k  counters, "key" or "project" 0 name   s  "day" or "month" 0 number   n: spent and held
 *   notice    the same                                 the same, and 0 the limit   n: whether somebody was told
 */

/** Billionths of a dollar. */
export type Nanos = number;

/** The least whole number of billionths that is not below an amount of dollars. */
export const nanosUp = (usd: number): Nanos => Math.ceil(usd * 1e9);

/** The largest whole number of billionths that is not above an amount of dollars. */
export const nanosDown = (usd: number): Nanos => Math.floor(usd * 1e9 + 1e-3);

const dayMs = 86_400_000;

/** The UTC day of a time in milliseconds, counted from 1970-01-01. */
export const utcDay = (now: number): number => Math.floor(now / dayMs);

/** A span after which a limit begins anew, in UTC. */
export type Period = 'day' | 'month';

/** The most that something may spend in a period. */
export interface SpendingLimit {
  readonly of: 'key' | 'project';
  /** The key's id, or the project's. */
  readonly name: string;
  readonly period: Period;
  readonly usd: number;
}

/** The limits of a key or a project, of which both may be absent. */
export const limitsOf = (
  of: SpendingLimit['of'],
  name: string,
  {
    usdPerDay,
    usdPerMonth,
  }: { readonly usdPerDay?: number | undefined; readonly usdPerMonth?: number | undefined },
): SpendingLimit[] => [
  ...(usdPerDay === undefined ? [] : [{ of, name, period: 'day', usd: usdPerDay } as const]),
  ...(usdPerMonth === undefined ? [] : [{ of, name, period: 'month', usd: usdPerMonth } as const]),
];

const monthOf = (now: number): number => {
  const date = new Date(now);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
};

/** The number of the period that a time in milliseconds is in. */
const numberOf = (period: Period, now: number): number => (period === 'day' ? utcDay(now) : monthOf(now));

/** When the period of a time ends, both in milliseconds since 1970. */
const endOf = (period: Period, now: number): number => {
  if (period === 'day') return (utcDay(now) + 1) * dayMs;
  const month = monthOf(now) + 1;
  return Date.UTC(Math.floor(month / 12), month % 12);
};

const keyOf = ({ of, name, period }: SpendingLimit, now: number): TableKey<'bookkeeping'> => ({
  k: partitionOf('counters', of, 0, name),
  s: joinBytes(period, 0, String(numberOf(period, now))),
});

/** How long a counter is kept after its period. */
const keptMs = 40 * dayMs;

const addition = (limit: SpendingLimit, now: number, by: Nanos, atMost?: Nanos): Addition => ({
  key: keyOf(limit, now),
  attribute: 'n',
  by,
  atMost,
  expiry: { x: (endOf(limit.period, now) + keptMs) / 1000 },
});

/** A limit, and what was spent or is held of it. */
export interface Spent {
  readonly limit: SpendingLimit;
  readonly spent: Nanos;
  /** When it begins anew, in milliseconds since 1970. */
  readonly resetsAt: number;
}

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
  const keys = limits.map((limit) => keyOf(limit, now));
  const items = await getItems(table, keys, budget, { consistent: true });
  const spentOf = ({ k, s }: TableKey<'bookkeeping'>): Nanos => {
    const isIts = (item: Item) =>
      asBytes(item.k)?.join() === k.join() && asBytes(item.s)?.join() === s.join();
    return asNumber(items.find(isIts)?.n) ?? 0;
  };
  return limits.map((limit) => ({
    limit,
    spent: spentOf(keyOf(limit, now)),
    resetsAt: endOf(limit.period, now),
  }));
};

/** The share of a limit from which on people are told that it is nearly reached. */
export const nearlyShare = 0.8;

/** Tells somebody that four fifths of a limit are spent or held. */
export type TellNearlyReached = (spent: Spent, budget: RequestBudget) => Promise<void>;

/** Whoever tells of a limit and its period for the first time makes this 1. */
const notice = (limit: SpendingLimit, now: number, by: 1 | -1): Addition => {
  const { k, s } = keyOf(limit, now);
  const key = { k, s: joinBytes(s, 0, String(nanosDown(limit.usd))) };
  return { ...addition(limit, now, by, by > 0 ? 0 : undefined), key };
};

/**
 * Looks whether limits are nearly reached, and tells of each once in its day or month. Another limit is
 * told of anew. If telling fails, the next look tells.
 *
 * @param told what this process has seen told, which is not looked up again
 * @param now milliseconds since 1970
 * @throws what `tell` throws
 */
export const tellNearlyReached = async (
  table: Table,
  limits: readonly SpendingLimit[],
  tell: TellNearlyReached,
  told: Set<string>,
  now: number,
  budget: RequestBudget,
): Promise<void> => {
  for (const each of await readSpent(table, limits, now, budget)) {
    const { limit, spent, resetsAt } = each;
    const name = JSON.stringify([limit, resetsAt]);
    if (spent < nearlyShare * nanosDown(limit.usd) || told.has(name)) continue;
    if (await transact(table, { puts: [], adds: [notice(limit, now, 1)] }, budget)) {
      await tell(each, budget).catch(async (error: unknown) => {
        await transact(table, { puts: [], adds: [notice(limit, now, -1)] }, budget);
        throw error;
      });
    }
    told.add(name);
  }
};

/** Dollars as people write them: to a hundredth of a cent, and tiny amounts as they are counted. */
export const dollarText = (usd: number): string =>
  `$${usd.toFixed(usd < 0.001 ? 9 : 4).replace(/\.?0+$/, '')}`;

/** A limit as a sentence names it: `the key's limit of $5 a day`. */
export const limitText = ({ of, period, usd }: SpendingLimit): string =>
  `the ${of}'s limit of ${dollarText(usd)} a ${period}`;

/** 429: a limit leaves too little for what somebody asks for. */
export class SpendingLimitReached extends ServiceError {
  readonly limitUsd: number;
  /** What was spent or is held in this period, in dollars. */
  readonly spentUsd: number;
  /** When the limit begins anew, in ISO 8601. */
  readonly resetsAt: string;

  constructor({ limit, spent, resetsAt }: Spent, amount: Nanos, now: number) {
    const at = formatTime(resetsAt * 1000);
    const left = Math.max(0, nanosDown(limit.usd) - spent) / 1e9;
    const msg = `${limitText(limit)} leaves ${dollarText(left)}, and this request may cost up to ${dollarText(amount / 1e9)}; it resets at ${at}`;
    super(
      429,
      [
        {
          loc: ['header', limit.of === 'key' ? 'authorization' : recordingHeader],
          msg,
          type: 'spending_limit',
        },
      ],
      {
        retryAfterSeconds: Math.max(1, Math.ceil((resetsAt - now) / 1000)),
      },
    );
    this.limitUsd = limit.usd;
    this.spentUsd = spent / 1e9;
    this.resetsAt = at;
  }
}

/** Money that is held. */
export interface Reservation {
  readonly limits: readonly SpendingLimit[];
  readonly amount: Nanos;
  /** When it was held, in milliseconds since 1970: what it was spent on counts in the periods of then. */
  readonly at: number;
}

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
  const room = ({ usd }: SpendingLimit): Nanos => nanosDown(usd) - amount;
  // A counter that is not there yet would take any amount.
  const fits = limits.every((limit) => room(limit) >= 0);
  const adds = amount === 0 ? [] : limits.map((limit) => addition(limit, now, amount, room(limit)));
  return compareAndSwap<Reservation>(budget, async () => {
    const held = fits && (adds.length === 0 || (await transact(table, { puts: [], adds }, budget)));
    if (held) return { value: { limits, amount, at: now } };
    const all = await readSpent(table, limits, now, budget);
    const over = all.filter(({ limit, spent }) => spent > room(limit));
    const [last] = over.toSorted((a, b) => b.resetsAt - a.resetsAt);
    // Otherwise somebody has given back what was missing.
    if (last) throw new SpendingLimitReached(last, amount, now);
    return undefined;
  });
};

/**
 * Puts what something has cost in the place of what was held for it.
 *
 * @param spent null if nobody knows: then what was held counts as spent
 * @throws ServiceError 503 when storage does not take it in time; what was held may count as spent then
 */
export const settleReservation = async (
  table: Table,
  { limits, amount, at }: Reservation,
  spent: Nanos | null,
  budget: RequestBudget,
): Promise<void> => {
  const by = (spent ?? amount) - amount;
  if (by === 0 || limits.length === 0) return;
  await transact(table, { puts: [], adds: limits.map((limit) => addition(limit, at, by)) }, budget);
};
