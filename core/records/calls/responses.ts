import { keysTo, valueAt } from '../../../foundations/expression/index.ts';
import {
  deleteItems,
  everyShard,
  mapConcurrent,
  queryPage,
  type RequestBudget,
  type Store,
} from '../../../foundations/storage/index.ts';
import type { IndexRange, TableKey } from '../../../foundations/storage/tables.ts';
import { type JsonObject, type Micros, type ProjectId, parseJson } from '../../../foundations/wire/index.ts';
import { redactLogRecords } from '../redaction.ts';
import { foldCall } from './header.ts';
import { fromItem, timeRange, traceRange, waitingKey } from './items.ts';
import type { CallHeader } from './model.ts';
import { putNotes, readNotes } from './notes.ts';
import { PayloadReader } from './read.ts';

/*
 * Calls by the id that a provider gave an answer. Neither keys nor headers have it, so that no call
 * pays for it: docs/decisions/0234.
 */

const paths = ['gen_ai.response.id', 'ai.response.id', 'response_id'].map((path) => path.split('.'));

/** The id of the answer that a call got, out of its attributes; undefined if they have none. */
export const responseIdIn = (attributes: JsonObject): string | undefined => {
  for (const path of paths) {
    const keys = keysTo(attributes, path);
    const value = keys && valueAt(attributes, keys);
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
};

/** What waits for the call of an answer. */
export interface Waiting {
  readonly projectId: ProjectId;
  readonly responseId: string;
  /** Tells it from all others of the answer. */
  readonly id: string;
  readonly record: JsonObject;
}

const toKey = ({ projectId, responseId, id }: Omit<Waiting, 'record'>): TableKey<'calls'> => ({
  k: waitingKey(projectId, responseId),
  p: `W ${id}`,
});

/**
 * Stores what is to wait for calls, each once however often it comes.
 *
 * @returns the ids of what is too long to wait
 * @throws ServiceError as {@link redactLogRecords}; 503 when storage does not accept it in time
 */
export const putWaiting = async (
  store: Store,
  sent: readonly Waiting[],
  budget: RequestBudget,
): Promise<ReadonlySet<string>> => {
  const notes = (await redactLogRecords(store, sent)).map((waiting) => ({
    id: waiting.id,
    projectId: waiting.projectId,
    key: toKey(waiting),
    text: JSON.stringify(waiting.record),
  }));
  return new Set((await putNotes(store, notes, budget)).map(({ id }) => id));
};

/**
 * Reads what waits for the call of an answer, strongly consistent.
 *
 * @throws ServiceError 503 when storage does not answer in time
 */
export const readWaiting = async (
  store: Store,
  projectId: ProjectId,
  responseId: string,
  budget: RequestBudget,
): Promise<Waiting[]> => {
  const notes = await Array.fromAsync(readNotes(store, waitingKey(projectId, responseId), budget));
  return notes.map(({ key, text }) => ({
    projectId,
    responseId,
    id: key.p.slice('W '.length),
    record: parseJson(text) as JsonObject,
  }));
};

/** Deletes what has found its call. */
export const deleteWaiting = (
  store: Store,
  found: readonly Omit<Waiting, 'record'>[],
  budget: RequestBudget,
): Promise<void> => deleteItems(store.table, found.map(toKey), budget);

/** Where calls are looked for: in a trace, or among those that start within bounds of time. */
export interface Where {
  readonly traceId?: string | undefined;
  /** Microseconds since 1970. */
  readonly from: Micros;
  readonly to: Micros;
}

const concurrency = 8;
/** The most calls that are looked at in one range of keys. The newest come first. */
const maxRows = 20_000;
/** How many calls are read at once, with their payloads. */
const pageRows = 500;

const toRanges = (
  store: Store,
  projectId: ProjectId,
  where: Where,
): IndexRange<'calls', 'by_time' | 'by_trace'>[] =>
  where.traceId === undefined
    ? everyShard(store).flatMap((shard) =>
        (['nested', 'roots'] as const).map((level) => timeRange(projectId, level, shard, where)),
      )
    : [traceRange(projectId, where.traceId, {})];

/** A call that may be the one: that with a count of tokens, of those the earliest. */
const isBetter = (a: CallHeader, b: CallHeader | undefined): boolean => {
  if (b === undefined) return true;
  const [ofA, ofB] = [a, b].map(({ end }) => (end?.usage ? 1 : 0));
  return ofA === ofB ? a.start.startedAt < b.start.startedAt : Number(ofA) > Number(ofB);
};

/**
 * Finds requests to models by the ids of their answers. It reads the headers of all calls within the
 * bounds and the payloads of requests, the newest first, until all are found. Two instrumentations of
 * one request may report an answer each: the one that counts tokens is found.
 *
 * @returns calls by the ids of their answers, as far as indexes show them
 * @throws ServiceError 503 when storage does not answer in time
 */
export const findByResponse = async (
  store: Store,
  projectId: ProjectId,
  responseIds: ReadonlySet<string>,
  where: Where,
  budget: RequestBudget,
): Promise<ReadonlyMap<string, CallHeader>> => {
  const found = new Map<string, CallHeader>();
  const isDone = (): boolean => [...responseIds].every((id) => found.get(id)?.end?.usage);
  const payloads = new PayloadReader(store, projectId, budget);
  await mapConcurrent(toRanges(store, projectId, where), concurrency, async (range) => {
    let start: Awaited<ReturnType<typeof queryPage>>['next'];
    let rows = 0;
    do {
      const options = { descending: true, limit: pageRows, start };
      const page = await queryPage(store.table, range, budget, options);
      rows += page.items.length;
      start = page.next;
      const requests = page.items.flatMap((item) => {
        const part = fromItem(projectId, item);
        const call = foldCall({ projectId, id: part.id }, [part]);
        return call?.start.attributes.kind === 'model' ? [call] : [];
      });
      for (const { header, payload } of await payloads.read(requests)) {
        const id = responseIdIn(parseJson(payload.attributes) as JsonObject);
        if (id !== undefined && responseIds.has(id) && isBetter(header, found.get(id))) found.set(id, header);
      }
    } while (start && rows < maxRows && !isDone());
  });
  return found;
};
