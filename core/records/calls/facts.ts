import { shortDigest } from '../../../foundations/encoding/index.ts';
import {
  type Item,
  mapConcurrent,
  type RequestBudget,
  type Store,
} from '../../../foundations/storage/index.ts';
import {
  isJsonObject,
  type JsonObject,
  type Micros,
  type ProjectId,
  parseJson,
} from '../../../foundations/wire/index.ts';
import { redactLogRecords } from '../redaction.ts';
import { placeKey } from './items.ts';
import type { StartHeader } from './model.ts';
import { putNotes, readNoteKeys, readNotes, textDigest } from './notes.ts';

/*
 * Coding agents tell of one call by several log records and spans, in several requests. What each
 * request says lies in the place of its trace or session, so that whoever writes the calls knows
 * what all of them said. Each writes before it looks.
 */

/** Where the facts of one trace meet, or those of a session within some hours. */
export interface Place {
  readonly projectId: ProjectId;
  /** A trace id, or what {@link placeOfThread} makes. */
  readonly place: string;
}

const digestLength = 32;

/** How many microseconds of a session have a place of their own: two hours. */
const placeMicros = 2 * 3600 * 1_000_000;

/**
 * The place of a session whose agent names neither traces nor prompts.
 *
 * @param offset how many places later, or earlier if negative
 */
export const placeOfThread = (threadId: string, time: Micros, offset = 0): string =>
  shortDigest(`${threadId}\n${Math.floor(time / placeMicros) + offset}`).toString('hex');

/** What one request said in a place, and the digest by which it is known. */
export interface PlacedFacts {
  readonly digest: string;
  readonly facts: readonly JsonObject[];
}

const parseFacts = (text: string): JsonObject[] => {
  const value = parseJson(text);
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
};

/**
 * Stores what a request says in a place, once however often it comes.
 *
 * @returns it as it is stored, redacted, and how many facts are too long to be stored
 * @throws ServiceError as {@link redactLogRecords}; 503 when storage does not accept it in time
 */
export const putFacts = async (
  store: Store,
  { projectId, place }: Place,
  sent: readonly JsonObject[],
  budget: RequestBudget,
): Promise<{ readonly stored: readonly PlacedFacts[]; readonly tooLong: number }> => {
  const redacted = await redactLogRecords(
    store,
    sent.map((record) => ({ record })),
  );
  const stored: PlacedFacts[] = [];
  let tooLong = 0;
  const put = async (list: readonly JsonObject[]): Promise<void> => {
    const text = JSON.stringify(list);
    const digest = textDigest(text, digestLength);
    const note = { projectId, key: { k: placeKey(projectId, place), p: `A ${digest}` }, text };
    const isStored = (await putNotes(store, [note], budget)).length === 0;
    const half = Math.floor(list.length / 2);
    if (isStored) stored.push({ digest, facts: parseFacts(text) });
    else if (half === 0) tooLong += 1;
    else for (const part of [list.slice(0, half), list.slice(half)]) await put(part);
  };
  await put(redacted.map(({ record }) => record));
  return { stored, tooLong };
};

/**
 * Reads what was said in a place, strongly consistent.
 *
 * @throws ServiceError 503 when storage does not answer in time
 */
export const readFacts = async (
  store: Store,
  { projectId, place }: Place,
  budget: RequestBudget,
): Promise<PlacedFacts[]> => {
  const notes = await Array.fromAsync(readNotes(store, placeKey(projectId, place), budget));
  return notes.map(({ key, text }) => ({ digest: key.p.slice('A '.length), facts: parseFacts(text) }));
};

const readConcurrency = 8;

/** Reads the keys of all that was said in the places of calls, to delete it with them. */
export const findFactKeys = async (
  store: Store,
  projectId: ProjectId,
  starts: readonly Pick<StartHeader, 'traceId' | 'threadId' | 'startedAt'>[],
  budget: RequestBudget,
): Promise<Item[]> => {
  const places = new Set(
    starts.flatMap(({ traceId, threadId, startedAt }) => [
      traceId,
      ...(threadId === null ? [] : [placeOfThread(threadId, startedAt)]),
    ]),
  );
  const found = await mapConcurrent([...places], readConcurrency, (place) =>
    readNoteKeys(store, placeKey(projectId, place), budget),
  );
  return found.flat();
};
