import { createHash } from 'node:crypto';
import { pack, shortDigest, unpack } from '../../../foundations/encoding/index.ts';
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

/** How long facts wait for further ones, in days. */
const waitingDays = 7;

/** The largest packed item, in bytes. An item can have 400 KB. */
const maxBytes = 380 * 1024;

const digestLength = 32;

/** How many microseconds of a session have a place of their own: two hours. */
export const placeMicros = 2 * 3600 * 1_000_000;

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

const factsOf = (text: string): JsonObject[] => {
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
  const days = Math.min(waitingDays, store.retentionDays ?? waitingDays);
  const stored: PlacedFacts[] = [];
  const items: Item[] = [];
  let tooLong = 0;
  const take = async (list: readonly JsonObject[]): Promise<void> => {
    const text = JSON.stringify(list);
    const b = await pack(Buffer.from(text));
    if (b.length > maxBytes) {
      const half = Math.floor(list.length / 2);
      if (half === 0) tooLong += 1;
      else for (const part of [list.slice(0, half), list.slice(half)]) await take(part);
      return;
    }
    const digest = createHash('sha256').update(text).digest('hex').slice(0, digestLength);
    items.push({ k: placeKey(projectId, place), p: `A ${digest}`, b, ...expiryIn(days) });
    stored.push({ digest, facts: factsOf(text) });
  };
  await take(redacted.map(({ record }) => record));
  await putItems(store.table, items, budget);
  return { stored, tooLong };
};

const itemsOf = async (store: Store, { projectId, place }: Place, budget: RequestBudget): Promise<Item[]> => {
  const range = { partition: ['k', placeKey(projectId, place)] } as const;
  const options = { toRow: (item: Item) => item, consistent: true };
  return (await Array.fromAsync(readRange(store.table, range, options, budget))).flat();
};

/**
 * Reads what was said in a place, strongly consistent.
 *
 * @throws ServiceError 503 when storage does not answer in time
 */
export const readFacts = async (store: Store, place: Place, budget: RequestBudget): Promise<PlacedFacts[]> =>
  (await itemsOf(store, place, budget)).flatMap(({ p, b }) => {
    const bytes = asBytes(b);
    return bytes && typeof p === 'string'
      ? [{ digest: p.slice(2), facts: factsOf(unpack(bytes).toString()) }]
      : [];
  });

const readConcurrency = 8;

/** Reads the keys of all that was said in the places of calls, to delete it with them. */
export const factKeysOf = async (
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
    itemsOf(store, { projectId, place }, budget),
  );
  return found.flat().flatMap(({ k, p }) => (k && p ? [{ k, p }] : []));
};
