import type { Context, DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';
import { type DeadLetterQueue, getSequence, type StreamRecord } from '../../../core/workers/streams.ts';
import { type RequestBudget, requestBudget } from '../../../foundations/storage/index.ts';
import { ServiceError, unavailable } from '../../../foundations/wire/index.ts';
import { RequestLog } from '../log/request-log.ts';
import { required, sqsClient } from './queues.ts';

/** What became of a batch. */
interface Handled {
  /** What was made of the records, for the log: events, rows. */
  readonly rows: number;
  /** The number of the first record that shall come again, with all behind it. */
  readonly failedFrom?: string | undefined;
}

/** The time that a batch leaves for its answer and its log line, in milliseconds. */
const reserveMs = 2000;

/** Has Lambda bring the records from one on again; they expire in their stream after a day. */
const againFrom = (sequence: string): DynamoDBBatchResponse => ({
  batchItemFailures: [{ itemIdentifier: sequence }],
});

/**
 * Makes the handler of a batch of records of tables' streams. Whatever storage, bus or bucket did
 * not take in time comes again. Any other error fails the batch, which Lambda then halves.
 *
 * @param name what its log lines have for a route
 */
export const streamHandler =
  (name: string, work: (records: readonly StreamRecord[], budget: RequestBudget) => Promise<Handled>) =>
  async (
    { Records }: DynamoDBStreamEvent,
    context: Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>,
  ): Promise<DynamoDBBatchResponse> => {
    const log = new RequestLog({ message: 'stream', requestId: context.awsRequestId, route: name }, context);
    const budget = requestBudget(context.getRemainingTimeInMillis() - reserveMs);
    log.spends(budget.meter);
    const records = Records as readonly StreamRecord[];
    try {
      const { rows, failedFrom } = await work(records, budget);
      log.describes(() => ({ rows, scanned: records.length }));
      if (failedFrom === undefined) {
        log.ends('answered');
        return { batchItemFailures: [] };
      }
      log.ends('failed', unavailable('not all was delivered'));
      return againFrom(failedFrom);
    } catch (error) {
      log.ends('failed', error);
      const [first] = records;
      if (error instanceof ServiceError && first) return againFrom(getSequence(first));
      throw error;
    }
  };

/** The queue that DEAD_LETTERS names by its URL. */
export const deadLetters: DeadLetterQueue = { url: required('DEAD_LETTERS'), client: sqsClient };
