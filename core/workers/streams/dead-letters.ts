import type { SQSClient } from '@aws-sdk/client-sqs';
import { mapConcurrent, type RequestBudget, withRetries } from '../../foundations/storage/index.ts';
import { type JsonValue, ServiceError } from '../../foundations/wire/index.ts';
import type { StreamRecord } from './records.ts';

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

/** What identifies a record: its stream, its number and the key of its item. */
const recordLabel = ({ eventID, eventSourceARN, dynamodb }: StreamRecord): JsonValue => ({
  event_id: eventID ?? null,
  stream: eventSourceARN ?? null,
  sequence_number: dynamodb?.SequenceNumber ?? null,
  keys: (dynamodb?.Keys ?? null) as JsonValue,
});

/** The results of records, and a letter for each record that could not be used. */
export interface Isolated<R> {
  readonly results: readonly R[];
  readonly letters: readonly DeadLetter[];
}

/**
 * Works on records as a whole. If that fails because of what is in them, it works on their halves,
 * down to the record that fails by itself. That one becomes a letter, and holds no other up.
 *
 * @throws ServiceError if storage fails: the records may come again as they are
 */
export const isolateRecords = async <R>(
  records: readonly StreamRecord[],
  work: (some: readonly StreamRecord[]) => Promise<readonly R[]>,
): Promise<Isolated<R>> => {
  try {
    return { results: await work(records), letters: [] };
  } catch (error) {
    if (error instanceof ServiceError || !(error instanceof Error)) throw error;
    if (records.length <= 1) {
      const reason = `${error.name}: ${error.message}`;
      return { results: [], letters: records.map((record) => ({ reason, record: recordLabel(record) })) };
    }
    const middle = records.length >> 1;
    const before = await isolateRecords(records.slice(0, middle), work);
    const after = await isolateRecords(records.slice(middle), work);
    return {
      results: [...before.results, ...after.results],
      letters: [...before.letters, ...after.letters],
    };
  }
};

/** Letters that are on their way at once. */
const concurrency = 8;

/**
 * Puts letters into the queue.
 *
 * @throws ServiceError 503 when the queue does not take them in time
 */
export const sendDeadLetters = async (
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
