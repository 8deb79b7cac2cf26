import { createHash } from 'node:crypto';
import { pack, unpack } from '../../../foundations/encoding/index.ts';
import {
  asBytes,
  asText,
  expiryIn,
  type Item,
  mapConcurrent,
  putItems,
  type RequestBudget,
  readRange,
  type Store,
} from '../../../foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../../foundations/wire/index.ts';
import { type CallName, nameOf } from './items.ts';
import { recordKey } from './keys.ts';

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
 * @throws ServiceError 503 when storage does not accept them in time
 */
export const putRecords = async (
  store: Store,
  records: readonly JoiningRecord[],
  budget: RequestBudget,
): Promise<JoiningRecord[]> => {
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

/** A log record as it is stored. */
export interface StoredRecord {
  readonly key: Item;
  readonly record: JsonObject;
}

/**
 * Reads the log records that join a call, in order of their times, strongly consistent.
 *
 * @throws ServiceError 503 when storage does not answer in time
 */
export const readRecords = async (
  store: Store,
  { projectId, id }: CallName,
  budget: RequestBudget,
): Promise<StoredRecord[]> => {
  const range = { partition: ['k', recordKey(projectId, id)] } as const;
  const found: StoredRecord[] = [];
  const options = { toRow: (item: Item) => item, consistent: true };
  for await (const page of readRange(store.table, range, options, budget)) {
    for (const { k, p, b } of page) {
      const [text, bytes] = [asText(p), asBytes(b)];
      if (k === undefined || text === undefined || bytes === undefined) continue;
      found.push({ key: { k, p: text }, record: JSON.parse((await unpack(bytes)).toString()) as JsonObject });
    }
  }
  return found;
};

/** Whether log records can join a call: it was made of a span, whose ids make 32 hex digits. */
const canBeJoined = (id: string): boolean => /^[0-9a-f]{32}$/.test(id);

/** Reads the keys of the log records of a call, to delete them with it. */
export const recordKeysOf = async (
  store: Store,
  projectId: ProjectId,
  id: string,
  budget: RequestBudget,
): Promise<Item[]> =>
  canBeJoined(id) ? (await readRecords(store, { projectId, id }, budget)).map(({ key }) => key) : [];
