import { randomUUID } from 'node:crypto';
import { TransactionCanceledException, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { type Effort, persist } from './effort.ts';
import { type Item, meter, type Table } from './table.ts';
import { conditionOf, type Expectation } from './table-writes.ts';

/** What is done all at once, or not at all: at most 100 writes, no two of the same key. */
export interface Transaction {
  readonly puts: readonly { readonly item: Item; readonly expected?: Expectation }[];
  /** The keys of items that go; keys of nothing are as good as deleted. */
  readonly deletes: readonly Item[];
}

/** Why a transaction was not done, where another writer was there first: the caller has to look again. */
const overtaken = new Set<string | undefined>(['ConditionalCheckFailed', 'TransactionConflict']);
/** Why it was not done, where the same may be done later. */
const throttled = new Set<string | undefined>(['ProvisionedThroughputExceeded', 'ThrottlingError']);

/**
 * Does a transaction. One whose first answer was lost is not done twice: it carries a token, which DynamoDB remembers for ten
 * minutes.
 *
 * @returns false where an item is not as expected, or another writer is at it right now; nothing was written then
 * @throws ServiceError 503 when storage does not take it in time
 */
export const transact = async (
  table: Table,
  { puts, deletes }: Transaction,
  effort: Effort,
): Promise<boolean> => {
  const TableName = table.name;
  const command = new TransactWriteItemsCommand({
    ClientRequestToken: randomUUID(),
    TransactItems: [
      ...puts.map(({ item, expected }) => ({
        Put: { TableName, Item: item, ...(expected && conditionOf(expected)) },
      })),
      ...deletes.map((Key) => ({ Delete: { TableName, Key } })),
    ],
    ReturnConsumedCapacity: 'TOTAL',
  });
  let done = true;
  await persist(effort, async (request) => {
    try {
      const answer = await table.client.send(command, request);
      meter(effort, 'writeUnits', answer.ConsumedCapacity?.[0]);
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error;
      const codes = (error.CancellationReasons ?? []).map(({ Code }) => Code);
      done = !codes.some((code) => overtaken.has(code));
      if (done && codes.some((code) => throttled.has(code))) return false;
      if (done) throw error;
    }
    return true;
  });
  return done;
};
