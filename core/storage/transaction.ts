import { randomUUID } from 'node:crypto';
import { TransactionCanceledException, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { type Effort, persist } from './effort.ts';
import { type Item, meter, type Table } from './table.ts';
import { conditionOf, type Expectation } from './table-writes.ts';

/** What is done all at once, or not at all: at most 100 writes, no two of the same key. */
export interface Transaction {
  readonly puts: readonly { readonly item: Item; readonly expected?: Expectation }[];
  /** Keys of nothing are as good as deleted, unless something is expected of them. */
  readonly deletes: readonly { readonly key: Item; readonly expected?: Expectation }[];
}

/** Why a transaction was not done, where the same may be done a little later. */
const passing = new Set<string | undefined>([
  'ProvisionedThroughputExceeded',
  'ThrottlingError',
  'TransactionConflict',
]);

/**
 * Does a transaction. One whose first answer was lost is not done twice: it carries a token, which DynamoDB remembers for ten minutes. One that
 * meets another at the same item is tried again.
 *
 * @returns false where an item is not as expected; nothing was written then
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
      ...deletes.map(({ key, expected }) => ({
        Delete: { TableName, Key: key, ...(expected && conditionOf(expected)) },
      })),
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
      done = !codes.includes('ConditionalCheckFailed');
      if (done && codes.some((code) => passing.has(code))) return false;
      if (done) throw error;
    }
    return true;
  });
  return done;
};
