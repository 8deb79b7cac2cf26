import { access, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  type AttributeValue,
  BatchWriteItemCommand,
  type DynamoDBClient,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';

/** Where DynamoDB Local keeps its data in a folder: a database of SQLite with a table for each table. */
const dynamodbLocalFile = 'shared-local-instance.db';

/** The most items that one request writes. */
const batchSize = 25;

/**
 * An item as it is on the wire. Attributes' names stand before objects, so a text behind `B` is always one of
 * bytes.
 */
const parseItem = (json: string): Record<string, AttributeValue> =>
  JSON.parse(json, (name, value) => {
    if (name === 'B' && typeof value === 'string') return Buffer.from(value, 'base64');
    if (name === 'BS' && Array.isArray(value))
      return value.map((text) => Buffer.from(String(text), 'base64'));
    return value;
  });

function* readItems(db: DatabaseSync, table: string): Generator<Record<string, AttributeValue>> {
  const rows = db.prepare(`SELECT CAST(ObjectJSON AS TEXT) AS item FROM "${table.replaceAll('"', '""')}"`);
  for (const { item } of rows.iterate()) yield parseItem(String(item));
}

const write = async (client: DynamoDBClient, table: string, batch: WriteRequest[]): Promise<void> => {
  let left = batch;
  while (left.length > 0) {
    const { UnprocessedItems } = await client.send(
      new BatchWriteItemCommand({ RequestItems: { [table]: left } }),
    );
    left = UnprocessedItems?.[table] ?? [];
  }
};

/**
 * Copies what DynamoDB Local kept in a folder into the tables of another store, which exist. Its file gets
 * another name once all is copied, so a copy that was interrupted is done again.
 *
 * @param folder the one of DynamoDB in the data folder
 * @param tables the names of the tables. Others stay in the file
 * @returns how many items were copied; undefined if there is no such file
 */
export const takeOverDynamodbLocal = async (
  folder: string,
  tables: readonly string[],
  client: DynamoDBClient,
): Promise<number | undefined> => {
  const file = join(folder, dynamodbLocalFile);
  const isThere = await access(file).then(
    () => true,
    () => false,
  );
  if (!isThere) return undefined;
  const db = new DatabaseSync(file, { readOnly: true });
  let copied = 0;
  try {
    const known = new Set(
      db
        .prepare('SELECT name FROM sqlite_master')
        .all()
        .map(({ name }) => name),
    );
    for (const table of tables) {
      if (!known.has(table)) continue;
      let batch: WriteRequest[] = [];
      for (const Item of readItems(db, table)) {
        batch.push({ PutRequest: { Item } });
        copied++;
        if (batch.length < batchSize) continue;
        await write(client, table, batch);
        batch = [];
      }
      await write(client, table, batch);
    }
  } finally {
    db.close();
  }
  await rename(file, `${file}.taken-over`);
  return copied;
};
