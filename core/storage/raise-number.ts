import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { documents } from './documents.ts';
import type { Item } from './item.ts';
import type { RequestBudget } from './request-budget.ts';
import { withRetries } from './retries.ts';
import { meter, type Table } from './table.ts';

/** A number of an item that is to be at least so large. */
export interface Raise {
  readonly key: Item;
  readonly attribute: string;
  readonly value: number;
  /** When the item expires, if it does, in seconds since 1970. */
  readonly expiresAt?: number | undefined;
  /** Whether a number that is there stays, however small. @default false */
  readonly onlyIfAbsent?: boolean;
}

/**
 * Raises a number of an item, which is made if there is none. A larger number stays, so it makes no
 * difference in which order requests arrive, or how often.
 *
 * @throws ServiceError 503 when storage does not accept it in time
 */
export const raiseNumber = (
  table: Table,
  { key, attribute, value, expiresAt, onlyIfAbsent = false }: Raise,
  budget: RequestBudget,
): Promise<void> => {
  const command = new UpdateCommand({
    TableName: table.name,
    Key: key,
    UpdateExpression: `SET #a = :value${expiresAt === undefined ? '' : ', x = :x'}`,
    ConditionExpression: `attribute_not_exists(#a)${onlyIfAbsent ? '' : ' OR #a < :value'}`,
    ExpressionAttributeNames: { '#a': attribute },
    ExpressionAttributeValues: { ':value': value, ...(expiresAt !== undefined && { ':x': expiresAt }) },
    ReturnConsumedCapacity: 'TOTAL',
  });
  return withRetries(budget, async (request) => {
    try {
      meter(budget, 'writeUnits', (await documents(table).send(command, request)).ConsumedCapacity);
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
    return true;
  });
};
