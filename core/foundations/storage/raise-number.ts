import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { ExpiryOf, TableKey } from './declared-keys.ts';
import { documents } from './documents.ts';
import type { RequestBudget } from './request-budget.ts';
import { withRetries } from './retries.ts';
import { meter, type Table } from './table.ts';

/** A number of an item of the rollups table that is to be at least so large. */
export interface Raise {
  readonly key: TableKey<'rollups'>;
  readonly attribute: string;
  readonly value: number;
  /** The attribute that makes the item expire, if it does. */
  readonly expiry?: ExpiryOf<'rollups'> | undefined;
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
  { key, attribute, value, expiry, onlyIfAbsent = false }: Raise,
  budget: RequestBudget,
): Promise<void> => {
  const command = new UpdateCommand({
    TableName: table.name,
    Key: key,
    UpdateExpression: `SET #a = :value${expiry ? ', x = :x' : ''}`,
    ConditionExpression: `attribute_not_exists(#a)${onlyIfAbsent ? '' : ' OR #a < :value'}`,
    ExpressionAttributeNames: { '#a': attribute },
    ExpressionAttributeValues: { ':value': value, ...(expiry && { ':x': expiry.x }) },
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
