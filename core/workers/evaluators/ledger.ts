import { joinBytes, shortDigest } from '../../../foundations/encoding/index.ts';
import {
  type Addition,
  asNumber,
  asText,
  type Condition,
  compareAndSwap,
  getItems,
  type Item,
  type RequestBudget,
  replaceItem,
  type Table,
  transact,
} from '../../../foundations/storage/index.ts';
import type { TableKey } from '../../../foundations/storage/tables.ts';
import type { ProjectId } from '../../../foundations/wire/index.ts';
import { partitionOf } from '../../records/partitions.ts';
import { type Nanos, utcDay } from '../../records/spending.ts';

/*
 * What judges spend, in the table `bookkeeping`. Amounts are whole billionths of a dollar, so that sums are
 * exact. An account has what an evaluator's judges have spent of a UTC day, and what is held for those
 * that are being asked. A sheet has what is known of one verdict: what is held for it, whether its
 * judge may have been asked, and what it said.
 *
 *   account   k  accounts, project           s  day, object id           n: spent and held
 *   sheet     k  sheets, project 0 object    s  digest of call, identity
 *     n  how many times money was held, so another number after every change
 *     h  held on the day y; 0 if nothing is
 *     o  whether the judge may have been asked since
 *     u  until when somebody is at work, in milliseconds since 1970
 *     w  who that is, by a name that was made up
 *     v  the verdict as JSON text, once there is one
 *
 * The account grows before a judge is asked, by the most that the answer can cost, and in the same
 * transaction as the sheet. Whoever comes after a death finds in the sheet whether a judge was asked.
 * If so, what was held counts as spent, since nobody knows.
 */

/** What a verdict is on and whose it is. */
export interface Entry {
  readonly projectId: ProjectId;
  readonly objectId: string;
  readonly identity: string;
  readonly callId: string;
}

const dayMs = 86_400_000;

const dayBytes = (day: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(day);
  return bytes;
};

const accountKey = (
  { projectId, objectId }: Omit<Entry, 'callId' | 'identity'>,
  day: number,
): TableKey<'bookkeeping'> => ({
  k: partitionOf('accounts', projectId),
  s: joinBytes(dayBytes(day), objectId),
});

const sheetKey = ({ projectId, objectId, identity, callId }: Entry): TableKey<'bookkeeping'> => ({
  k: partitionOf('sheets', projectId, 0, objectId),
  s: joinBytes(shortDigest(callId), identity),
});

/** What is kept of a day, and of a verdict: longer than any message waits. */
const keptDays = 40;

const expiryOf = (day: number) => ({ x: ((day + keptDays) * dayMs) / 1000 });

/** What is known of a verdict. */
export interface Sheet {
  /** 0 for one of which nothing is known yet. */
  readonly changes: number;
  readonly held: Nanos;
  readonly day: number;
  readonly asked: boolean;
  readonly until: number;
  readonly worker: string;
  readonly verdict: string | undefined;
}

const noSheet: Sheet = {
  changes: 0,
  held: 0,
  day: 0,
  asked: false,
  until: 0,
  worker: '',
  verdict: undefined,
};

const toSheet = (item: Item): Sheet => ({
  changes: asNumber(item.n) ?? 0,
  held: asNumber(item.h) ?? 0,
  day: asNumber(item.y) ?? 0,
  asked: item.o === true,
  until: asNumber(item.u) ?? 0,
  worker: asText(item.w) ?? '',
  verdict: asText(item.v),
});

const toItem = (entry: Entry, { changes, held, day, asked, until, worker, verdict }: Sheet): Item => ({
  ...sheetKey(entry),
  ...{ n: changes, h: held, y: day, o: asked, u: until, w: worker },
  ...(verdict !== undefined && { v: verdict }),
  ...expiryOf(day),
});

const asRead = ({ changes, asked, worker }: Sheet): Condition =>
  changes === 0 ? { n: undefined } : { n: changes, o: asked, w: worker };

/** Reads what is known of a verdict, strongly consistent. */
export const readSheet = async (table: Table, entry: Entry, budget: RequestBudget): Promise<Sheet> => {
  const [item] = await getItems(table, [sheetKey(entry)], budget, { consistent: true });
  return item ? toSheet(item) : noSheet;
};

/** What an account has, spent and held. */
export const readAccount = async (
  table: Table,
  account: Omit<Entry, 'callId' | 'identity'>,
  day: number,
  budget: RequestBudget,
): Promise<Nanos> => {
  const [item] = await getItems(table, [accountKey(account, day)], budget, { consistent: true });
  return asNumber(item?.n) ?? 0;
};

/** What becomes of money that is to be held. */
export type Holding =
  | { readonly kind: 'held'; readonly sheet: Sheet }
  /** There is not so much left of the day's limit. */
  | { readonly kind: 'over' }
  /** Somebody else is at work on the verdict. */
  | { readonly kind: 'busy' }
  /** Somebody else has finished it. */
  | { readonly kind: 'done'; readonly verdict: string };

/** What is to be held, at most how much of a day, and who is at work with it until when. */
export interface Hold {
  readonly amount: Nanos;
  readonly limit: Nanos;
  /** In milliseconds since 1970. */
  readonly until: number;
  readonly worker: string;
  readonly now: number;
}

const add = (entry: Entry, day: number, by: Nanos, atMost?: Nanos): Addition => ({
  key: accountKey(entry, day),
  attribute: 'n',
  by,
  atMost,
  expiry: expiryOf(day),
});

/**
 * The additions that hold an amount. What is held already, and was not used to ask, goes back. What
 * may have been used stays spent.
 */
const additions = (
  entry: Entry,
  { held, day: heldOn, asked }: Sheet,
  { amount, limit }: Hold,
  today: number,
): Addition[] => {
  const back = asked ? 0 : held;
  const by = back > 0 && heldOn === today ? amount - back : amount;
  const taking = by === 0 ? [] : [add(entry, today, by, by > 0 ? limit - by : undefined)];
  return back > 0 && heldOn !== today ? [...taking, add(entry, heldOn, -back)] : taking;
};

/**
 * Holds the most that an answer can cost, if the day's limit leaves so much. A verdict for which money
 * is held takes no more of it, however often this is tried.
 *
 * @throws ServiceError 503 when storage does not take it in time; it may be held then
 */
export const hold = (table: Table, entry: Entry, wanted: Hold, budget: RequestBudget): Promise<Holding> => {
  const today = utcDay(wanted.now);
  if (wanted.amount > wanted.limit) return Promise.resolve({ kind: 'over' });
  return compareAndSwap<Holding>(budget, async () => {
    const sheet = await readSheet(table, entry, budget);
    if (sheet.verdict !== undefined) return { value: { kind: 'done', verdict: sheet.verdict } };
    if (sheet.worker !== wanted.worker && sheet.until > wanted.now) return { value: { kind: 'busy' } };
    const next = {
      ...{ changes: sheet.changes + 1, held: wanted.amount, day: today, asked: false },
      ...{ until: wanted.until, worker: wanted.worker, verdict: undefined },
    };
    const adds = additions(entry, sheet, wanted, today);
    const puts = [{ item: toItem(entry, next), expected: asRead(sheet) }];
    if (await transact(table, { puts, adds }, budget)) return { value: { kind: 'held', sheet: next } };
    const [by = 0] = adds.map((addition) => addition.by);
    const spent = await readAccount(table, entry, today, budget);
    return by > 0 && spent + by > wanted.limit ? { value: { kind: 'over' } } : undefined;
  });
};

/**
 * Notes that the judge is about to be asked.
 *
 * @returns the sheet since; undefined if somebody else has taken over
 */
export const noteAsking = async (
  table: Table,
  entry: Entry,
  sheet: Sheet,
  budget: RequestBudget,
): Promise<Sheet | undefined> => {
  const next = { ...sheet, asked: true };
  if (await replaceItem(table, toItem(entry, next), asRead(sheet), budget)) return next;
  // The answer to a first try may have been lost.
  const now = await readSheet(table, entry, budget);
  return now.changes === next.changes && now.asked && now.worker === next.worker ? next : undefined;
};

/** What an answer has cost; null if nobody knows, and then what was held counts as spent. */
export interface Settlement {
  readonly spent: Nanos | null;
  /** JSON text; undefined if the answer was of no use. */
  readonly verdict?: string | undefined;
}

/**
 * Puts what an answer has cost in the place of what was held for it, and keeps the verdict.
 *
 * @returns the sheet since; undefined if somebody else has taken over, and what was held stays spent
 */
export const settle = async (
  table: Table,
  entry: Entry,
  sheet: Sheet,
  { spent, verdict }: Settlement,
  budget: RequestBudget,
): Promise<Sheet | undefined> => {
  // Nobody is at work any more.
  const next = { ...sheet, changes: sheet.changes + 1, held: 0, asked: false, until: 0, verdict };
  const by = spent === null ? 0 : spent - sheet.held;
  const adds = by === 0 ? [] : [add(entry, sheet.day, by)];
  const puts = [{ item: toItem(entry, next), expected: asRead(sheet) }];
  if (await transact(table, { puts, adds }, budget)) return next;
  const now = await readSheet(table, entry, budget);
  return now.changes === next.changes && now.worker === next.worker ? next : undefined;
};
