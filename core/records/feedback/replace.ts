import type { CreatedFeedback, FeedbackDraft } from '../../../api/feedback.ts';
import {
  asText,
  compareAndSwap,
  type RequestBudget,
  type Round,
  type Store,
  transact,
} from '../../../foundations/storage/index.ts';
import { conflict, notFound, type ServiceError } from '../../../foundations/wire/index.ts';
import { redactFeedback } from '../redaction.ts';
import { type NewRecord, newRecord, refuseLarge, toAnswer } from './create.ts';
import {
  deleteObjects,
  type Frame,
  getLeftovers,
  hasContent,
  isRecord,
  prepareItem,
  purgedItem,
  readStored,
  recordKey,
  type Stored,
  type StoredRecord,
  tombstoneItem,
  unchanged,
} from './items.ts';
import type { FeedbackHeader } from './model.ts';
import { markFeedback } from './purge.ts';

/** Which record is replaced, and by what. */
export interface Replacement {
  readonly feedbackId: string;
  readonly draft: FeedbackDraft;
}

/** What is stored under the two ids of a replacement, which may be one. */
interface Found {
  readonly old: Stored | undefined;
  readonly present: Stored | undefined;
}

/** What is to be done, given what is stored. */
type Step =
  /** Nothing: the new record is there and the old one is gone. */
  | { readonly kind: 'done'; readonly existing: StoredRecord }
  | { readonly kind: 'refuse'; readonly error: ServiceError }
  /** The new record was there before, so only the old one has to go. */
  | { readonly kind: 'drop'; readonly old: StoredRecord; readonly existing: StoredRecord }
  | { readonly kind: 'swap'; readonly old: StoredRecord };

/**
 * Replaces a record by another, in one transaction. What stays of the old one is a tombstone, which
 * leads readers of an index that lags to the new one. A record that is replaced under its own id
 * keeps its time of creation, and so its position.
 *
 * @param userId whose key stores it
 * @throws ServiceError 404 if there is no old record, unless the new one is there already (the
 * request was repeated). 409 if the new id belongs to another record; 413 for a payload over 1 MiB.
 * 503 when storage does not take it in time: the same request may be sent again
 */
export const replaceFeedback = async (
  store: Store,
  { feedbackId, draft }: Replacement,
  userId: string,
  budget: RequestBudget,
): Promise<CreatedFeedback> => {
  const record = newRecord(await redactFeedback(store, draft), userId);
  refuseLarge([{ record, loc: [] }]);
  store.noteProject?.(record.header.projectId);
  await store.projects?.learnRetention([record.header.projectId], budget);
  /** Objects in the bucket that were stored for this request. */
  const objects: string[] = [];
  const attempt = async (): Promise<Round<CreatedFeedback>> => {
    const found = await look(store, feedbackId, record, budget);
    await deleteObjects(store, leftoversIn(found), budget);
    const step = nextStep(feedbackId, record, found);
    if ('old' in step) await markFeedback(store, record.header.projectId, [step.old], budget);
    if (step.kind === 'swap') {
      const header = await swap(store, record, step.old, found, objects, budget);
      return header && { value: toAnswer(record, header) };
    }
    // The next look finds what stays of the old record, and deletes its object.
    if (step.kind === 'drop') return (await drop(store, step, budget)) ? attempt() : undefined;
    const used = step.kind === 'done' ? asText(step.existing.item.o) : undefined;
    await deleteObjects(store, without(objects, used), budget);
    if (step.kind === 'refuse') throw step.error;
    return { value: toAnswer(record, step.existing.entry.header) };
  };
  return compareAndSwap(budget, attempt);
};

/**
 * Replaces the old record by the new one, if both are still as they were found.
 *
 * @param objects those that were stored for this request; a further one may be added
 * @returns the new record's header; undefined if nothing was written
 */
const swap = async (
  store: Store,
  record: NewRecord,
  old: StoredRecord,
  { present }: Found,
  objects: string[],
  budget: RequestBudget,
): Promise<FeedbackHeader | undefined> => {
  const frame = toFrame(record, old);
  const { item, object } = await prepareItem(store, frame, record.payloadText, budget);
  if (object !== undefined) objects.push(object);
  const put = { item, expected: unchanged(present?.item) };
  const bury = { item: tombstoneItem(old.item, frame.header), expected: unchanged(old.item) };
  const puts = old === present ? [put] : [put, bury];
  if (!(await transact(store.table, { puts }, budget))) return undefined;
  const former = asText(old.item.o);
  await deleteObjects(
    store,
    [...without(objects, object), ...(former === undefined ? [] : [former])],
    budget,
  );
  return frame.header;
};

const without = (objects: readonly string[], used: string | undefined): string[] =>
  objects.filter((object) => object !== used);

const look = async (
  store: Store,
  feedbackId: string,
  { header: { projectId, id } }: NewRecord,
  budget: RequestBudget,
): Promise<Found> => {
  const stored = await readStored(store, projectId, [...new Set([feedbackId, id])], budget);
  return { old: stored.get(feedbackId), present: stored.get(id) };
};

const leftoversIn = ({ old, present }: Found): string[] => [
  ...new Set([...getLeftovers(old?.item), ...getLeftovers(present?.item)]),
];

const nextStep = (feedbackId: string, record: NewRecord, { old, present }: Found): Step => {
  const existing = isRecord(present) && hasContent(present, record) ? present : undefined;
  if (!isRecord(old)) {
    if (existing) return { kind: 'done', existing };
    const error = notFound(['body', 'feedback_id'], `there is no feedback ${feedbackId} in this project`);
    return { kind: 'refuse', error };
  }
  if (old === present) return existing ? { kind: 'done', existing } : { kind: 'swap', old };
  if (existing) return { kind: 'drop', old, existing };
  if (!isRecord(present)) return { kind: 'swap', old };
  const msg = `feedback ${record.header.id} already exists with different content`;
  return { kind: 'refuse', error: conflict({ loc: ['body', 'id'], msg, type: 'id_exists' }) };
};

/**
 * The new record as it is to be stored. It comes after the old one in order of creation, whatever
 * the clocks of two containers say.
 */
const toFrame = ({ header, digest }: NewRecord, { item, entry: old }: StoredRecord): Frame => {
  const { id, createdAt } = old.header;
  if (id === header.id) {
    return { header: { ...header, createdAt }, digest, origin: old.origin, leftover: asText(item.o) };
  }
  const later = Math.max(header.createdAt, createdAt + 1);
  return { header: { ...header, createdAt: later }, digest, origin: old.origin ?? { id, createdAt } };
};

/**
 * Deletes the old record if the new one is still there. What stays of it leads to its object in the
 * bucket.
 *
 * @returns false where one of them has changed; nothing was written then
 */
const drop = (
  { table }: Store,
  { old, existing }: Extract<Step, { kind: 'drop' }>,
  budget: RequestBudget,
): Promise<boolean> => {
  const { projectId, id } = existing.entry.header;
  const puts = [{ item: purgedItem(old.item), expected: unchanged(old.item) }];
  const checks = [{ key: recordKey(projectId, id), expected: unchanged(existing.item) }];
  return transact(table, { puts, checks }, budget);
};
