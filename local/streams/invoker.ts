import { setTimeout as sleep } from 'node:timers/promises';
import type { DynamoDBRecord } from 'aws-lambda';
import { z } from 'zod';

/** Invokes a function with an event, and gives its answer; both are JSON. */
export type Invoke = (event: string, signal: AbortSignal) => Promise<string>;

/** How batches are brought to a function. */
export interface InvokerOptions {
  readonly invoke: Invoke;
  /** After how long a record is given up, in ms. */
  readonly maxAgeMs: number;
  /** Takes a note of a batch that was given up. */
  readonly giveUp: (note: string) => void;
}

/** The pauses between two tries, in ms. */
const firstPauseMs = 50;
const maxPauseMs = 1000;

const answer = z.object({
  batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })).default([]),
});

const sequenceOf = (record: DynamoDBRecord | undefined): string => record?.dynamodb?.SequenceNumber ?? '';

/** What is left of a batch. After an error that is all of it. */
const tryOnce = async (
  { invoke }: InvokerOptions,
  records: readonly DynamoDBRecord[],
  signal: AbortSignal,
): Promise<{ readonly left: readonly DynamoDBRecord[]; readonly threw: boolean }> => {
  try {
    const { batchItemFailures } = answer.parse(
      JSON.parse(await invoke(JSON.stringify({ Records: records }), signal)) ?? {},
    );
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    if (failed.size === 0) return { left: [], threw: false };
    const from = records.findIndex((record) => failed.has(sequenceOf(record)));
    // A number that the batch does not have fails all of it.
    return { left: records.slice(Math.max(0, from)), threw: false };
  } catch {
    return { left: records, threw: true };
  }
};

/**
 * Brings a batch to a function until all of it is done or too old, as Lambda does for a stream. It
 * goes on from the first record that the function reports on, and by halves if it throws.
 */
export const bring = async (
  options: InvokerOptions,
  records: readonly DynamoDBRecord[],
  signal: AbortSignal,
): Promise<void> => {
  const begun = Date.now();
  let left = records;
  for (let pauseMs = firstPauseMs; left.length > 0; pauseMs = Math.min(maxPauseMs, pauseMs * 2)) {
    if (signal.aborted) return;
    const result = await tryOnce(options, left, signal);
    left = result.left;
    if (left.length === 0) return;
    if (Date.now() - begun > options.maxAgeMs) {
      const [first, last] = [left[0], left.at(-1)].map(sequenceOf);
      options.giveUp(JSON.stringify({ DDBStreamBatchInfo: { first, last, batchSize: left.length } }));
      return;
    }
    if (result.threw && left.length > 1) {
      const middle = left.length >> 1;
      await bring(options, left.slice(0, middle), signal);
      left = left.slice(middle);
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
};
