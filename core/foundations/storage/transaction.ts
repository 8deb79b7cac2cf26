import { randomUUID } from 'node:crypto';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { documents } from './documents.ts';
import type { Item } from './item.ts';
import type { RequestBudget } from './request-budget.ts';
import { withRetries } from './retries.ts';
import { meter, type Table } from './table.ts';
import { type Condition, conditionOf } from './table-writes.ts';

/** Writes that hold together or not at all: at most 100 items, each once. */
export interface Transaction {
  readonly puts: readonly { readonly item: Item; readonly expected?: Condition }[];
  /** Keys of items to delete. Those without an item are ignored. */
  readonly deletes?: readonly Item[];
  /** Items that must be as expected, and stay. */
  readonly checks?: readonly { readonly key: Item; readonly expected: Condition }[];
}

/** The reasons of a cancelled transaction that pass by themselves. */
const passing = new Set<string | undefined>([
  'ProvisionedThroughputExceeded',
  'ThrottlingError',
  'TransactionConflict',
]);

/**
 * Sends a transaction, and again if it meets another one at the same item. It carries a token that
 * DynamoDB remembers for ten minutes, so one whose first answer was lost does not count twice.
 *
 * @returns false if an item is not as expected; nothing was written then
 * @throws ServiceError 503 when storage does not answer in time
 */
export const transact = async (
  table: Table,
  { puts, deletes = [], checks = [] }: Transaction,
  budget: RequestBudget,
): Promise<boolean> => {
  const TableName = table.name;
  const command = new TransactWriteCommand({
    ClientRequestToken: randomUUID(),
    TransactItems: [
      ...puts.map(({ item, expected }) => ({
        Put: { TableName, Item: item, ...(expected && conditionOf(expected)) },
      })),
      ...deletes.map((Key) => ({ Delete: { TableName, Key } })),
      ...checks.map(({ key, expected }) => ({
        ConditionCheck: { TableName, Key: key, ...conditionOf(expected) },
      })),
    ],
    ReturnConsumedCapacity: 'TOTAL',
  });
  let done = true;
  await withRetries(budget, async (request) => {
    try {
      const answer = await documents(table).send(command, request);
      meter(budget, 'writeUnits', answer.ConsumedCapacity?.[0]);
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
