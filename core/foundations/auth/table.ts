import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { TableKey } from '../storage/declared-keys.ts';
import { documents, isThrottling, type Meter, scanTable, type Table } from '../storage/index.ts';
import { formatTime, type Micros } from '../wire/index.ts';
import { fromItem, type KeyRecord, toItem } from './record.ts';

const keyOf = (id: string): TableKey<'keys'> => ({ id });

/** The answer of a write; undefined if its condition did not hold. */
const conditional = async <T>(write: Promise<T>): Promise<T | undefined> => {
  try {
    return await write;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
};

/**
 * Reads the record of a key, strongly consistent: a revocation counts from the next read on.
 *
 * @param meter counts the request
 * @returns the record; undefined if the id is unknown
 * @throws the SDK's error when the table does not answer; Error if the record is damaged
 */
export const getKey = async (table: Table, id: string, meter?: Meter): Promise<KeyRecord | undefined> => {
  const command = new GetCommand({
    TableName: table.name,
    Key: keyOf(id),
    ConsistentRead: true,
    ReturnConsumedCapacity: 'TOTAL',
  });
  if (meter) meter.requests++;
  try {
    const { Item, ConsumedCapacity } = await documents(table).send(command);
    if (meter) meter.readUnits += ConsumedCapacity?.CapacityUnits ?? 0;
    return Item && fromItem(Item);
  } catch (error) {
    if (meter && isThrottling(error)) meter.throttled++;
    throw error;
  }
};

/**
 * Stores the record of a key if its id is free. The same key again replaces its record, so that a
 * request may be repeated. A revoked key stays as it is.
 *
 * @returns whether it was stored; false if the id is another key's or a revoked one's
 * @throws the SDK's error when the table does not answer
 */
export const putKey = async (table: Table, record: KeyRecord): Promise<boolean> => {
  const answer = await conditional(
    documents(table).send(
      new PutCommand({
        TableName: table.name,
        Item: toItem(record),
        ConditionExpression:
          'attribute_not_exists(#id) OR (#digest = :digest AND attribute_not_exists(#revokedAt))',
        ExpressionAttributeNames: { '#id': 'id', '#digest': 'digest', '#revokedAt': 'revokedAt' },
        ExpressionAttributeValues: { ':digest': record.digest },
      }),
    ),
  );
  return answer !== undefined;
};

/**
 * Revokes a key for good. A revoked key keeps the time of its first revocation.
 *
 * @param now microseconds since 1970
 * @returns the record as it is then; undefined if the id is unknown
 * @throws the SDK's error when the table does not answer
 */
export const revokeKey = async (table: Table, id: string, now: Micros): Promise<KeyRecord | undefined> => {
  const answer = await conditional(
    documents(table).send(
      new UpdateCommand({
        TableName: table.name,
        Key: keyOf(id),
        ConditionExpression: 'attribute_exists(#id)',
        UpdateExpression: 'SET #revokedAt = if_not_exists(#revokedAt, :now)',
        ExpressionAttributeNames: { '#id': 'id', '#revokedAt': 'revokedAt' },
        ExpressionAttributeValues: { ':now': formatTime(now) },
        ReturnValues: 'ALL_NEW',
      }),
    ),
  );
  return answer?.Attributes && fromItem(answer.Attributes);
};

/**
 * Reads the records of all keys, the oldest first. It scans the table, so only operators use it.
 *
 * @throws the SDK's error when the table does not answer
 */
export const listKeys = async (table: Table): Promise<KeyRecord[]> => {
  const records: KeyRecord[] = [];
  for await (const items of scanTable(table, { ConsistentRead: true })) records.push(...items.map(fromItem));
  return records.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
};
