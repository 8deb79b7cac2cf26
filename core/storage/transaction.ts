import { randomUUID } from 'node:crypto';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { documents } from './documents.ts';
import type { Item } from './item.ts';
import type { RequestBudget } from './request-budget.ts';
import { withRetries } from './retries.ts';
import { meter, type Table } from './table.ts';
import { type Condition, conditionOf } from './table-writes.ts';

/** What is done all at once, or not at all: at most 100 items, each once. */
export interface Transaction {
  readonly puts: readonly { readonly item: Item; readonly expected?: Condition }[];
  /** The keys of items that go; keys of nothing are as good as deleted. */
  readonly deletes?: readonly Item[];
  /** Items that stay, and have to be as expected. */
  readonly checks?: readonly { readonly key: Item; readonly expected: Condition }[];
}

/** Why a transaction was not done, where the same may be done a little later. */
const passing = new Set<string | undefined>([
  'ProvisionedThroughputExceeded',
  'ThrottlingError',
  'TransactionConflict',
]);

/**
 * Does a transaction. One whose first answer was lost is not done twice: it carries a token, which
 * DynamoDB remembers for ten minutes. One that meets another at the same item is tried again.
 *
 * @returns false where an item is not as expected; nothing was written then
 * @throws ServiceError 503 when storage does not take it in time
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
