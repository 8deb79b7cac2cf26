import type { ConsumedCapacity, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { RequestBudget } from './request-budget.ts';

/** A DynamoDB table and a client for it. */
export interface Table {
  readonly client: DynamoDBClient;
  readonly name: string;
}

/** The batches of one request that are under way at once. */
export const batchConcurrency = 8;

/** Cuts a list into runs of at most `size`. */
export const chunked = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));

/**
 * Adds an answer's consumed capacity to the budget's meter. DynamoDB Local has none for PartiQL.
 */
export const meter = (
  budget: RequestBudget,
  kind: 'readUnits' | 'writeUnits',
  capacity: ConsumedCapacity | undefined,
): void => {
  budget.meter[kind] += capacity?.CapacityUnits ?? 0;
};
