import type { SQSClient } from '@aws-sdk/client-sqs';
import { mapConcurrent, type RequestBudget, withRetries } from '../../foundations/storage/index.ts';
import type { JsonValue } from '../../foundations/wire/index.ts';
import { isolate } from './isolate.ts';
import type { StreamRecord } from './record.ts';

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
