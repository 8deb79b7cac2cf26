import { createHash } from 'node:crypto';
import { pack, unpack } from '../../../foundations/encoding/index.ts';
import {
  asBytes,
  expiryIn,
  type Item,
  mapConcurrent,
  putItems,
  type RequestBudget,
  readRange,
  type Store,
} from '../../../foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../../foundations/wire/index.ts';
import { redactLogRecords } from '../redaction.ts';
import { type CallName, nameOf, recordKey } from './items.ts';

/*
 * A log record may come before the span whose call it joins. So it lies beside the call, in a
 * partition of its own, and whoever writes second joins them. Each writes before it looks.
 */

/** A log record that joins a call. */
export interface JoiningRecord extends CallName {
  /** Sorts before all later ones of its call, as text. */
  readonly time: string;
  readonly record: JsonObject;
}

/** How long a record waits for its call, and how long a call that is reported again finds it, in days. */
const waitingDays = 7;

/** The largest packed record, in bytes. An item can have 400 KB. */
const maxRecordBytes = 380 * 1024;

const digestLength = 16;
const packConcurrency = 8;

/**
 * Stores log records, each once however often it comes.
 *
 * @returns those that are too long to be stored
 * @throws ServiceError as {@link redactLogRecords}; 503 when storage does not accept them in time
 */
export const putRecords = async (
  store: Store,
  sent: readonly JoiningRecord[],
  budget: RequestBudget,
): Promise<JoiningRecord[]> => {
  const records = await redactLogRecords(store, sent);
  const tooLong: JoiningRecord[] = [];
  const items = new Map<string, Item>();
  const days = Math.min(waitingDays, store.retentionDays ?? waitingDays);
  await mapConcurrent(records, packConcurrency, async (joining) => {
    const { projectId, id, time, record } = joining;
    const text = JSON.stringify(record);
    const b = await pack(Buffer.from(text));
    const digest = createHash('sha256').update(text).digest('hex').slice(0, digestLength);
    const p = `L ${time} ${digest}`;
    if (b.length > maxRecordBytes) tooLong.push(joining);
    else items.set(`${nameOf(joining)} ${p}`, { k: recordKey(projectId, id), p, b, ...expiryIn(days) });
  });
  await putItems(store.table, [...items.values()], budget);
  return tooLong;
};

/** The items of the log records that join a call, in order of their times, strongly consistent. */
const itemsOf = async (store: Store, { projectId, id }: CallName, budget: RequestBudget): Promise<Item[]> => {
  const range = { partition: ['k', recordKey(projectId, id)] } as const;
  const options = { toRow: (item: Item) => item, consistent: true };
  return (await Array.fromAsync(readRange(store.table, range, options, budget))).flat();
};

/**
 * Reads the log records that join a call, in order of their times, strongly consistent.
 *
 * @throws ServiceError 503 when storage does not answer in time
 */
export const readRecords = async (
  store: Store,
  call: CallName,
  budget: RequestBudget,
): Promise<JsonObject[]> =>
  (await itemsOf(store, call, budget)).flatMap(({ b }) => {
    const bytes = asBytes(b);
    return bytes ? [JSON.parse(unpack(bytes).toString()) as JsonObject] : [];
  });

/** Whether log records can join a call: it was made of a span, whose ids make 32 hex digits. */
const canBeJoined = (id: string): boolean => /^[0-9a-f]{32}$/.test(id);

/** Reads the keys of the log records of a call, to delete them with it. */
export const recordKeysOf = async (
  store: Store,
  projectId: ProjectId,
  id: string,
  budget: RequestBudget,
): Promise<Item[]> =>
  canBeJoined(id)
    ? (await itemsOf(store, { projectId, id }, budget)).flatMap(({ k, p }) => (k && p ? [{ k, p }] : []))
    : [];
