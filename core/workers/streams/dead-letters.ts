import type { SQSClient } from '@aws-sdk/client-sqs';
import { mapConcurrent, type RequestBudget, withRetries } from '../../foundations/storage/index.ts';
import { type JsonValue, ServiceError } from '../../foundations/wire/index.ts';
import type { StreamRecord } from './records.ts';

/** What works on a list, and gives a list. */
type Work<T, R> = (some: readonly T[]) => Promise<readonly R[]>;

/**
 * Works on a list as a whole. If that fails because of what is in it, it works on its halves, down
 * to the one that fails. One bad record must not hold all others up.
 *
 * @param spoilt takes what fails by itself, and why
 * @throws ServiceError if storage fails, since that has nothing to do with the list
 */
export const isolate = async <T, R>(
  list: readonly T[],
  work: Work<T, R>,
  spoilt: (item: T, error: Error) => void,
): Promise<readonly R[]> => {
  try {
    return await work(list);
  } catch (error) {
    if (error instanceof ServiceError || !(error instanceof Error)) throw error;
    const [first] = list;
    if (list.length > 1) {
      const middle = list.length >> 1;
      const before = await isolate(list.slice(0, middle), work, spoilt);
      return [...before, ...(await isolate(list.slice(middle), work, spoilt))];
    }
    if (first !== undefined) spoilt(first, error);
    return [];
  }
};

/** What could not be delivered, and never will be as it is. */
export interface DeadLetter {
  readonly reason: string;
  /** The record that could not be used, without its images. */
  readonly record?: JsonValue;
  /** The event that was refused, as it can be sent by hand. */
  readonly event?: JsonValue;
}

/** Where dead letters go. The client is made at the first one. */
export interface DeadLetterQueue {
  readonly url: string;
  readonly client: () => Promise<SQSClient>;
}

/** Letters that are on their way at once. */
const concurrency = 8;

/** What identifies a record: its stream, its number and the key of its item. */
const recordLabel = ({ eventID, eventSourceARN, dynamodb }: StreamRecord): JsonValue => ({
  event_id: eventID ?? null,
  stream: eventSourceARN ?? null,
  sequence_number: dynamodb?.SequenceNumber ?? null,
  keys: (dynamodb?.Keys ?? null) as JsonValue,
});

/** What came of records, and a letter for each that could not be used. */
export interface Isolated<R> {
  readonly results: readonly R[];
  readonly letters: readonly DeadLetter[];
}

/**
 * Works on records. One that cannot be used becomes a letter, and holds no other up.
 *
 * @throws ServiceError if storage fails: the records may come again as they are
 */
export const isolateRecords = async <R>(
  records: readonly StreamRecord[],
  work: (some: readonly StreamRecord[]) => Promise<readonly R[]>,
): Promise<Isolated<R>> => {
  const letters: DeadLetter[] = [];
  const results = await isolate(records, work, (record, { name, message }) =>
    letters.push({ reason: `${name}: ${message}`, record: recordLabel(record) }),
  );
  return { results, letters };
};

/**
 * Puts letters into the queue.
 *
 * @throws ServiceError 503 when the queue does not take them in time
 */
export const bury = async (
  { url, client }: DeadLetterQueue,
  letters: readonly DeadLetter[],
  budget: RequestBudget,
): Promise<void> => {
  if (letters.length === 0) return;
  const [sqs, { SendMessageCommand }] = await Promise.all([client(), import('@aws-sdk/client-sqs')]);
  await mapConcurrent(letters, concurrency, (letter) =>
    withRetries(budget, async (options) => {
      await sqs.send(new SendMessageCommand({ QueueUrl: url, MessageBody: JSON.stringify(letter) }), options);
      return true;
    }),
  );
};
