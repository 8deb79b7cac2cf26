import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DynamoDBClient, GetItemCommand, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { createTables, localCredentials } from 'cdk-local-runner';
import { localRegion, readStack } from 'cdk-local-runner/template';
import { startStore } from 'dynamodb-on-sqlite';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { takeOverDynamodbLocal } from '../../../local/dynamodb-local-data.ts';
import { startLocalService } from '../../../local/service.ts';
import { getTableName } from '../../../local/stack.ts';
import { assemblyWith } from '../../support/stack/assembly.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pennytrace-dynamodb-local-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A file as DynamoDB Local 3 writes it, with what is read of it. */
const writeDataFile = (path: string, table: string, items: readonly object[]): void => {
  mkdirSync(path, { recursive: true });
  const db = new DatabaseSync(join(path, 'shared-local-instance.db'));
  db.exec(
    `CREATE TABLE dm (TableName TEXT, TableInfo BLOB); CREATE TABLE "${table}" (ObjectJSON BLOB NOT NULL)`,
  );
  const insert = db.prepare(`INSERT INTO "${table}" VALUES (?)`);
  for (const item of items) insert.run(Buffer.from(JSON.stringify(item)));
  db.close();
};

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const item = (id: number) => ({
  k: { B: base64(`acme/shop\0${id}`) },
  p: { B: base64('p') },
  v: { N: '12345678901234567890.5' },
  m: {
    M: { B: { S: 'no bytes' }, l: { L: [{ NULL: true }, { B: base64('bytes') }, { BS: [base64('one')] }] } },
  },
});

describe('a data folder of DynamoDB Local', () => {
  it('is taken over by the embedded store, item by item, once', async () => {
    const stack = readStack(await assemblyWith());
    const name = getTableName(stack, 'costs');
    writeDataFile(
      folder,
      name,
      Array.from({ length: 60 }, (_, id) => item(id)),
    );
    const store = await startStore();
    const client = new DynamoDBClient({
      endpoint: store.endpoint,
      region: localRegion,
      credentials: localCredentials,
    });
    await createTables(stack, client);
    expect(await takeOverDynamodbLocal(folder, [name, 'another-table'], client)).toBe(60);
    expect((await client.send(new ScanCommand({ TableName: name }))).Count).toBe(60);
    const Key = { k: { B: Buffer.from('acme/shop\x007') }, p: { B: Buffer.from('p') } };
    const { Item } = await client.send(new GetItemCommand({ TableName: name, Key }));
    expect(Item?.v).toEqual({ N: '12345678901234567890.5' });
    const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString();
    expect(Item?.m?.M?.B).toEqual({ S: 'no bytes' });
    expect(text(Item?.m?.M?.l?.L?.[1]?.B)).toBe('bytes');
    expect(text(Item?.m?.M?.l?.L?.[2]?.BS?.[0])).toBe('one');
    // What is newer than the copy stays.
    await client.send(new PutItemCommand({ TableName: name, Item: { ...Key, v: { N: '1' } } }));
    expect(await takeOverDynamodbLocal(folder, [name], client)).toBeUndefined();
    expect((await client.send(new GetItemCommand({ TableName: name, Key }))).Item?.v).toEqual({ N: '1' });
    client.destroy();
    await store.stop();
  });

  it('is taken over by a start, which says so', async () => {
    const assembly = await assemblyWith();
    const name = getTableName(readStack(assembly), 'costs');
    const dynamodb = join(folder, 'dynamodb');
    writeDataFile(dynamodb, name, [item(1)]);
    const lines: string[] = [];
    const service = await startLocalService({
      assembly,
      dataDir: folder,
      s3: inject('stores').s3,
      progress: (line) => lines.push(line),
    });
    await service.stop();
    expect(lines).toContain('DynamoDB: took over 1 items that DynamoDB Local had written');
    expect(existsSync(join(dynamodb, 'shared-local-instance.db'))).toBe(false);
  });
});
