import { joinBytes, shortDigest } from '../../../foundations/encoding/index.ts';
import {
  asNumber,
  asText,
  type Condition,
  compareAndSwap,
  expiryIn,
  getItems,
  type Item,
  type RequestBudget,
  replaceItem,
  type Table,
  transact,
} from '../../../foundations/storage/index.ts';
import type { TableKey } from '../../../foundations/storage/tables.ts';
import type { ProjectId } from '../../../foundations/wire/index.ts';
import { toPartition } from '../../records/partitions.ts';
import {
  type Held,
  holdingAdditions,
  isWithinLimits,
  type Nanos,
  requireRoom,
  settlingAdditions,
} from '../../records/spending.ts';

/*
 * What is known of the question that a judge is asked for one verdict, in the table `bookkeeping`. It changes in
 * the same transaction as the counters of the limits that pay for it.
 *
 *   question  k  questions, project 0 object    s  digest of call, identity
 *     n  how many times money was held, so another number after every change
 *     h  what is held of which limits, as JSON text; absent if nothing is
 *     o  whether the judge may have been asked since
 *     u  until when somebody is at work, in milliseconds since 1970
 *     w  who that is, by a name that was made up
 *     v  the verdict as JSON text, once there is one
 *
 * Whoever comes after a death finds here whether a judge was asked. If so, what was held counts as spent,
 * since nobody knows.
 */

/** What a verdict is on and whose it is. */
export interface Entry {
  readonly projectId: ProjectId;
  readonly objectId: string;
  readonly identity: string;
  readonly callId: string;
}

const questionKey = ({ projectId, objectId, identity, callId }: Entry): TableKey<'bookkeeping'> => ({
  k: toPartition('questions', projectId, 0, objectId),
  s: joinBytes(shortDigest(callId), identity),
});

/** How long a question is kept: longer than any message waits. */
const keptDays = 40;

/** What is known of a question. */
export interface Question {
  /** 0 for one of which nothing is known yet. */
  readonly changes: number;
  readonly held: Held | undefined;
  readonly asked: boolean;
  readonly until: number;
  readonly worker: string;
  readonly verdict: string | undefined;
}

const newQuestion: Question = {
  changes: 0,
  held: undefined,
  asked: false,
  until: 0,
  worker: '',
  verdict: undefined,
};

const toQuestion = (item: Item): Question => {
  const held = asText(item.h);
  return {
    changes: asNumber(item.n) ?? 0,
    held: held === undefined ? undefined : (JSON.parse(held) as Held),
    asked: item.o === true,
    until: asNumber(item.u) ?? 0,
    worker: asText(item.w) ?? '',
    verdict: asText(item.v),
  };
};

const toItem = (entry: Entry, { changes, held, asked, until, worker, verdict }: Question): Item => ({
  ...questionKey(entry),
  n: changes,
  o: asked,
  u: until,
  w: worker,
  ...(held && { h: JSON.stringify(held) }),
  ...(verdict !== undefined && { v: verdict }),
  ...expiryIn(keptDays),
});

const asRead = ({ changes, asked, worker }: Question): Condition =>
  changes === 0 ? { n: undefined } : { n: changes, o: asked, w: worker };

/** Reads what is known of a question, strongly consistent. */
export const readQuestion = async (table: Table, entry: Entry, budget: RequestBudget): Promise<Question> => {
  const [item] = await getItems(table, [questionKey(entry)], budget, { consistent: true });
  return item ? toQuestion(item) : newQuestion;
};

/** What becomes of a question that is to be paid for. */
export type Holding =
  | { readonly kind: 'held'; readonly question: Question }
  /** Somebody else is at work on it. */
  | { readonly kind: 'busy' }
  /** Somebody else has finished it. */
  | { readonly kind: 'done'; readonly verdict: string };

/** What is to be held, and who is at work with it until when. */
export interface Hold extends Held {
  /** In milliseconds since 1970. */
  readonly until: number;
  readonly worker: string;
}

/**
 * Holds the most that an answer can cost of all limits together. A question for which money is held takes no
 * more of it, however often this is tried.
 *
 * @throws SpendingLimitReached if a limit leaves less; ServiceError 503 when storage does not take it in
 * time, and it may be held then
 */
export const hold = (
  table: Table,
  entry: Entry,
  { until, worker, ...held }: Hold,
  budget: RequestBudget,
): Promise<Holding> =>
  compareAndSwap<Holding>(budget, async () => {
    const found = await readQuestion(table, entry, budget);
    if (found.verdict !== undefined) return { value: { kind: 'done', verdict: found.verdict } };
    if (found.worker !== worker && found.until > held.at) return { value: { kind: 'busy' } };
    // What was held and not used to ask goes back. What may have been used stays spent.
    const isUnused = found.held !== undefined && !found.asked;
    const before = isUnused ? await settle(table, entry, found, { spent: 0 }, budget) : found;
    if (!before) return undefined;
    const question = {
      changes: before.changes + 1,
      held,
      asked: false,
      until,
      worker,
      verdict: undefined,
    };
    const puts = [{ item: toItem(entry, question), expected: asRead(before) }];
    if (isWithinLimits(held) && (await transact(table, { puts, adds: holdingAdditions(held) }, budget)))
      return { value: { kind: 'held', question } };
    await requireRoom(table, held, budget);
    return undefined;
  });

/**
 * Notes that the judge is about to be asked.
 *
 * @returns the question since; undefined if somebody else has taken over
 */
export const noteAsking = async (
  table: Table,
  entry: Entry,
  question: Question,
  budget: RequestBudget,
): Promise<Question | undefined> => {
  const next = { ...question, asked: true };
  if (await replaceItem(table, toItem(entry, next), asRead(question), budget)) return next;
  // The answer to a first try may have been lost.
  const now = await readQuestion(table, entry, budget);
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
 * @returns the question since; undefined if somebody else has taken over, and what was held stays spent
 */
export const settle = async (
  table: Table,
  entry: Entry,
  question: Question,
  { spent, verdict }: Settlement,
  budget: RequestBudget,
): Promise<Question | undefined> => {
  const { changes, held, worker } = question;
  // Nobody is at work any more.
  const next = { changes: changes + 1, held: undefined, asked: false, until: 0, worker, verdict };
  const adds = held ? settlingAdditions(held, spent) : [];
  const puts = [{ item: toItem(entry, next), expected: asRead(question) }];
  if (await transact(table, { puts, adds }, budget)) return next;
  const now = await readQuestion(table, entry, budget);
  return now.changes === next.changes && now.worker === next.worker ? next : undefined;
};
