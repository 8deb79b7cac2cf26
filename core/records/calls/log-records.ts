import type { Item, RequestBudget, Store } from '../../../foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../../foundations/wire/index.ts';
import { redactLogRecords } from '../redaction.ts';
import { type CallName, recordKey } from './items.ts';
import { putNotes, readNoteKeys, readNotes, textDigest } from './notes.ts';

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

const digestLength = 16;

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
  const notes = (await redactLogRecords(store, sent)).map((joining) => {
    const { projectId, id, time, record } = joining;
    const text = JSON.stringify(record);
    const p = `L ${time} ${textDigest(text, digestLength)}`;
    return { joining, projectId, key: { k: recordKey(projectId, id), p }, text };
  });
  return (await putNotes(store, notes, budget)).map(({ joining }) => joining);
};

/**
 * Reads the log records that join a call, in order of their times, strongly consistent.
 *
 * @throws ServiceError 503 when storage does not answer in time
 */
export const readRecords = async (
  store: Store,
  { projectId, id }: CallName,
  budget: RequestBudget,
): Promise<JsonObject[]> => {
  const notes = await Array.fromAsync(readNotes(store, recordKey(projectId, id), budget));
  return notes.map(({ text }) => JSON.parse(text) as JsonObject);
};

/** Whether log records can join a call: it was made of a span, whose ids make 32 hex digits. */
const canBeJoined = (id: string): boolean => /^[0-9a-f]{32}$/.test(id);

/** Reads the keys of the log records of a call, to delete them with it. */
export const readRecordKeys = async (
  store: Store,
  projectId: ProjectId,
  id: string,
  budget: RequestBudget,
): Promise<Item[]> => (canBeJoined(id) ? readNoteKeys(store, recordKey(projectId, id), budget) : []);
