import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { documents, type RequestBudget, type Table, withRetries } from '../../foundations/storage/index.ts';
import type { ExpiryOf, TableKey } from '../../foundations/storage/tables.ts';
import { ServiceError } from '../../foundations/wire/index.ts';

/** The request limit of a key. */
export interface RateLimit {
  readonly table: Table;
  /** The most requests of one key per clock minute. */
  readonly perMinute: number;
}

const minuteMs = 60_000;
/** How long a counter is kept, in seconds. It is of no use after its minute. */
const retentionSeconds = 600;
/** The attribute with the second in which a counter expires. */
const expiry = 'x' satisfies keyof ExpiryOf<'rates'>;

/** 429: the key has used up its requests of this minute. */
const exhausted = (perMinute: number, now: number): ServiceError =>
  new ServiceError(
    429,
    [
      {
        loc: ['header', 'authorization'],
        msg: `this key may make ${perMinute} inference requests a minute`,
        type: 'throttled',
      },
    ],
    { retryAfterSeconds: Math.ceil((minuteMs - (now % minuteMs)) / 1000) },
  );

/**
 * Counts a request of a key if the limit of this minute allows it.
 *
 * @throws ServiceError 429 with the seconds until the next minute; 503 when storage does not answer
 * in time
 */
export const countRequest = async (
  { table, perMinute }: RateLimit,
  keyId: string,
  budget: RequestBudget,
): Promise<void> => {
  const now = Date.now();
  const minute = Math.floor(now / minuteMs);
  await withRetries(budget, async (request) => {
    try {
      const command = new UpdateCommand({
        TableName: table.name,
        Key: { id: `${keyId}#${minute}` } satisfies TableKey<'rates'>,
        UpdateExpression: `SET ${expiry} = :expiry ADD n :one`,
        ConditionExpression: 'attribute_not_exists(n) OR n < :most',
        ExpressionAttributeValues: {
          ':one': 1,
          ':most': perMinute,
          ':expiry': Math.floor(now / 1000) + retentionSeconds,
        },
        ReturnConsumedCapacity: 'TOTAL',
      });
      const answer = await documents(table).send(command, request);
      budget.meter.writeUnits += answer.ConsumedCapacity?.CapacityUnits ?? 0;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) throw exhausted(perMinute, now);
      throw error;
    }
    return true;
  });
};
