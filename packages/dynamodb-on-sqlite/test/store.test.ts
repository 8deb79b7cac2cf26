import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { StandIn } from 'aws-stand-in';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../src/database.ts';
import { Operations } from '../src/operations.ts';
import { projector } from '../src/reads.ts';
import { startStore } from '../src/start.ts';
import { type Fields, isObject } from '../src/values.ts';
import {
  batch,
  deletes,
  indexes,
  inserting,
  many,
  onTable,
  onTheTable,
  query,
  transaction,
} from './cases.ts';
import { bytes, filled, makeTable, type Wire, wireTo } from './support.ts';

let store: StandIn;
let wire: Wire;
beforeAll(async () => {
  store = await startStore();
  wire = wireTo(store.endpoint);
  await wire.send('CreateTable', makeTable('table'));
});
afterAll(async () => {
  wire.close();
  await store.stop();
});

const at = (k: string, p = 'S') => ({ k: bytes(k), p: { S: p } });

const send = async (operation: string, body: object): Promise<Fields> =>
  (await wire.send(operation, body)).body;

const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

describe('a projection of an item', () => {
  const sought = { B: Buffer.from('sought').toString('base64') };
  const looksAlike = { S: '"a":{"B":"bm8="}' };
  it.each([
    ['is cut out of bytes', { a: sought, b: { B: 'AAAA' } }],
    ['has no field of a map for an attribute', { m: { M: { a: { B: 'bm8=' } } }, a: sought }],
    [
      'has no field of a map in a list for an attribute',
      { l: { L: [{ M: { a: { B: 'bm8=' } } }] }, a: sought },
    ],
    ['has no text for an attribute', { s: looksAlike, a: sought }],
    ['has attributes of other types', { s: { N: '1' }, a: looksAlike }],
    ['leaves out what is not there', { b: sought }],
    ['has names with quotes', { 'q"': sought, a: { B: '' } }],
  ])('%s', (_, item: Readonly<Record<string, unknown>>) => {
    const names = ['a', 's', 'q"'];
    const expected = Object.fromEntries(names.flatMap((name) => (item[name] ? [[name, item[name]]] : [])));
    expect(JSON.parse(projector(names)(JSON.stringify(item)))).toEqual(expected);
  });
});

describe('the embedded store refuses by name', () => {
  const Key = at('a');
  const values = { ExpressionAttributeValues: { ':v': { N: '1' } } };
  it.each([
    ['an operation', 'ListTables', {}, 'ListTables'],
    ['a field', 'PutItem', { ...onTable, Item: Key, Expected: {} }, 'Expected in PutItem'],
    [
      'a key that is a number',
      'CreateTable',
      { ...makeTable('other'), AttributeDefinitions: [{ AttributeName: 'k', AttributeType: 'N' }] },
      'the key k of the type N',
    ],
    [
      'provisioned throughput',
      'CreateTable',
      { ...makeTable('other'), BillingMode: 'PROVISIONED' },
      'provisioned throughput',
    ],
    [
      'NOT',
      'DeleteItem',
      { ...onTable, Key, ConditionExpression: 'NOT a = :v', ...values },
      'NOT in a ConditionExpression',
    ],
    [
      'IN',
      'DeleteItem',
      { ...onTable, Key, ConditionExpression: 'a IN (:v)', ...values },
      'IN in a ConditionExpression',
    ],
    [
      'size',
      'DeleteItem',
      { ...onTable, Key, ConditionExpression: 'size(a) = :v', ...values },
      'SIZE in a ConditionExpression',
    ],
    [
      'a path',
      'DeleteItem',
      { ...onTable, Key, ConditionExpression: 'a.b = :v', ...values },
      "'.' in a ConditionExpression",
    ],
    [
      'a name that may be reserved',
      'DeleteItem',
      { ...onTable, Key, ConditionExpression: 'name = :v', ...values },
      'write a #name',
    ],
    [
      'DELETE',
      'UpdateItem',
      { ...onTable, Key, UpdateExpression: 'DELETE a :v', ...values },
      'DELETE in a UpdateExpression',
    ],
    [
      'arithmetic',
      'UpdateItem',
      { ...onTable, Key, UpdateExpression: 'SET a = :v + :v', ...values },
      "'+' in a UpdateExpression",
    ],
    [
      'old values',
      'UpdateItem',
      { ...onTable, Key, UpdateExpression: 'SET a = :v', ...values, ReturnValues: 'ALL_OLD' },
      'ReturnValues ALL_OLD',
    ],
    [
      'other PartiQL',
      'BatchExecuteStatement',
      { Statements: [{ Statement: 'SELECT * FROM "table"' }] },
      'PartiQL other than INSERT',
    ],
    [
      'an update in a transaction without a change',
      'TransactWriteItems',
      transaction(onTheTable('Update', { Key })),
      'UpdateItem without an UpdateExpression',
    ],
  ])('%s', async (_, operation, body, feature) => {
    const { status, body: answer } = await wire.send(operation, body);
    expect(status).toBe(400);
    expect(answer.message).toContain('the embedded store does not support ');
    expect(answer.message).toContain(feature);
  });
});

describe('the embedded store refuses what AWS does, where DynamoDB Local does not:', () => {
  const Key = at('a');
  const long = (length: number) => 'x'.repeat(length);
  const projected = many(101, (i) => `a${i}`);
  const [index] = makeTable('wide').GlobalSecondaryIndexes;
  const wide = many(2, (i) => ({
    ...index,
    IndexName: `index${i}`,
    Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: i === 0 ? projected.slice(1) : ['z'] },
  }));
  it.each([
    ['a name of 64 KB', 'PutItem', { ...onTable, Item: { ...Key, [long(65_536)]: { N: '1' } } }, 'too large'],
    [
      'a name of 64 KB in a map',
      'PutItem',
      { ...onTable, Item: { ...Key, m: { M: { ['é'.repeat(32_768)]: { N: '1' } } } } },
      'must be less than 65536 bytes',
    ],
    [
      'what a transaction is to return of another kind',
      'TransactWriteItems',
      transaction(onTheTable('Delete', { Key, ReturnValuesOnConditionCheckFailure: 'SOME' })),
      "Value 'SOME' at 'returnValuesOnConditionCheckFailure' failed to satisfy constraint",
    ],
    [
      'a report of capacity of another kind',
      'GetItem',
      { ...onTable, Key, ReturnConsumedCapacity: 'SOME' },
      "Value 'SOME' at 'returnConsumedCapacity' failed to satisfy constraint",
    ],
    ['bytes that are no base64', 'PutItem', { ...onTable, Item: { ...Key, b: { B: '###=' } } }, 'no base64'],
    [
      'more than 100 attributes in indexes',
      'CreateTable',
      {
        ...makeTable('wide'),
        AttributeDefinitions: makeTable('wide').AttributeDefinitions.filter(
          ({ AttributeName }) => AttributeName !== 'r',
        ),
        GlobalSecondaryIndexes: wide,
      },
      'No more than 100 attributes',
    ],
    [
      'one name twice in an insertion',
      'BatchExecuteStatement',
      {
        Statements: [
          {
            Statement: `INSERT INTO "table" VALUE {'k':?,'p':?,'a':?,'a':?}`,
            Parameters: [bytes('k'), { S: 'S' }, { S: '1' }, { S: '2' }],
          },
        ],
      },
      'Duplicate keys in tuple. Key: a',
    ],
  ])('%s', async (_, operation, body, message) => {
    const { body: answer } = await wire.send(operation, body);
    expect(JSON.stringify(answer)).toContain(message);
    expect((await send('GetItem', { ...onTable, Key })).Item).toBeUndefined();
  });

  it('nothing of what is at the limit', async () => {
    const item = { ...at('limit'), [long(65_535)]: { N: '1' } };
    expect((await wire.send('PutItem', { ...onTable, Item: item })).status).toBe(200);
    expect((await send('GetItem', { ...onTable, Key: at('limit') })).Item).toEqual(item);
  });

  it('a start that is not in the segment of a scan', async () => {
    const scan = (Segment: number) =>
      wire.send('Scan', { ...onTable, Segment, TotalSegments: 2, ExclusiveStartKey: Key });
    const statuses = [(await scan(0)).status, (await scan(1)).status];
    expect(statuses.toSorted()).toEqual([200, 400]);
  });
});

describe('the embedded store counts as AWS does, where DynamoDB Local does not:', () => {
  const units = async (operation: string, body: object): Promise<unknown> =>
    (await send(operation, { ...body, ReturnConsumedCapacity: 'TOTAL' })).ConsumedCapacity;
  const one = (CapacityUnits: number) => ({ TableName: 'table', CapacityUnits });

  it('a query that finds nothing', async () => {
    const empty = query('k = :k', { ':k': bytes('nothing') });
    expect(await units('Query', empty)).toEqual(one(0.5));
    expect(await units('Query', { ...empty, ConsistentRead: true })).toEqual(one(1));
  });

  it('keys of a batch that are not there', async () => {
    const Keys = many(3, (i) => at('nothing', `S${i}`));
    expect(await units('BatchGetItem', { RequestItems: { table: { Keys } } })).toEqual([one(1.5)]);
  });

  it('insertions, also of what is there', async () => {
    const item = { ...at('counted'), t: bytes('t'), s: bytes('s'), h: filled(1500) };
    const statements = { Statements: [inserting('table', item)] };
    expect(await units('BatchExecuteStatement', statements)).toEqual([one(4)]);
    expect(await units('BatchExecuteStatement', statements)).toEqual([one(2)]);
  });

  it('each part of a transaction twice', async () => {
    const parts = transaction(
      onTheTable('Put', { Item: at('twice') }),
      onTheTable('Delete', { Key: at('nothing') }),
    );
    expect(await units('TransactWriteItems', parts)).toEqual([one(4)]);
    expect(await units('BatchWriteItem', batch(deletes(at('nothing'))))).toEqual([one(1)]);
  });
});

it('pages of an index go on among rows of one key, also when an item between them is gone', async () => {
  const keys = many(6, (i) => at(`tied ${i}`));
  for (const key of keys)
    await send('PutItem', { ...onTable, Item: { ...key, t: bytes('tie'), s: bytes('1') } });
  const tied = query('t = :t', { ':t': bytes('tie') }, { IndexName: 'by_time', Limit: 2 });
  const first = await send('Query', tied);
  await send('DeleteItem', { ...onTable, Key: at('tied 1') });
  const rest = await send('Query', { ...tied, Limit: 10, ExclusiveStartKey: first.LastEvaluatedKey });
  expect([...toList(first.Items), ...toList(rest.Items)]).toEqual(
    keys.map((key) => expect.objectContaining(key)),
  );
});

describe('time to live', () => {
  const now = Math.floor(Date.now() / 1000);
  const made = () => {
    const database = new Database();
    const operations = new Operations(database);
    const run = (operation: string, body: object): Fields =>
      JSON.parse(operations.run(`DynamoDB_20120810.${operation}`, JSON.stringify(body)));
    run('CreateTable', makeTable('table'));
    return { operations, run };
  };
  const ttl = { ...onTable, TimeToLiveSpecification: { AttributeName: 'x', Enabled: true } };
  const expiring = (k: string, x: number) => ({
    ...onTable,
    Item: { ...at(k), t: bytes('t'), s: bytes(k), x: { N: String(x) } },
  });

  it('says by which attribute items expire', () => {
    const { run } = made();
    expect(run('DescribeTimeToLive', onTable)).toEqual({
      TimeToLiveDescription: { TimeToLiveStatus: 'DISABLED' },
    });
    run('UpdateTimeToLive', ttl);
    expect(run('DescribeTimeToLive', onTable)).toEqual({
      TimeToLiveDescription: { TimeToLiveStatus: 'ENABLED', AttributeName: 'x' },
    });
  });

  it('removes what has expired, with its rows and a record that names DynamoDB', () => {
    const { operations, run } = made();
    run('PutItem', expiring('before', now - 1));
    run('UpdateTimeToLive', ttl);
    run('PutItem', expiring('old', now - 2));
    run('PutItem', expiring('new', now + 10));
    run('PutItem', expiring('ancient', now - 6 * 365 * 86_400));
    operations.expire(now * 1000);
    const left = run('Query', query('t = :t', { ':t': bytes('t') }, { IndexName: 'by_time' }));
    expect(left.Items).toMatchObject([at('ancient'), at('new')]);
    const { Table } = run('DescribeTable', onTable);
    const StreamArn = isObject(Table) ? Table.LatestStreamArn : undefined;
    const ShardId = 'shardId-00000000000000000000-00000000';
    const { ShardIterator } = run('GetShardIterator', {
      StreamArn,
      ShardId,
      ShardIteratorType: 'TRIM_HORIZON',
    });
    const records = toList(run('GetRecords', { ShardIterator }).Records);
    expect(records.slice(4)).toMatchObject(
      ['old', 'before'].map((k) => ({
        eventName: 'REMOVE',
        userIdentity: { type: 'Service', principalId: 'dynamodb.amazonaws.com' },
        dynamodb: { Keys: at(k) },
      })),
    );
  });
});

const folders: string[] = [];
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'store-'));
  folders.push(folder);
  return folder;
};
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

describe('a folder', () => {
  it('keeps all that was acknowledged when the process is killed', async () => {
    const folder = newFolder();
    const source = (path: string) => JSON.stringify(join(import.meta.dirname, path));
    const script = `
      const { startStore } = await import(${source('../src/start.ts')});
      const { bytes, filled, makeTable, wireTo } = await import(${source('support.ts')});
      const store = await startStore({ folder: ${JSON.stringify(folder)} });
      const wire = wireTo(store.endpoint);
      await wire.send('CreateTable', makeTable('table'));
      for (let client = 0; client < 8; client++) (async () => {
        for (let i = 0; ; i++) {
          const Item = { k: bytes(client + ' ' + i), p: { S: 'S' }, t: bytes('t'), s: bytes(String(i)), h: filled(500) };
          const { status } = await wire.send('PutItem', { TableName: 'table', Item });
          if (status === 200) process.stdout.write(client + ' ' + i + '\\n');
        }
      })();`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const done: string[] = [];
    const lines = createInterface(child.stdout).on('line', (line) => {
      done.push(line);
      if (done.length === 500) child.kill('SIGKILL');
    });
    await once(lines, 'close');
    expect(done.length).toBeGreaterThanOrEqual(500);
    const kept = await startStore({ folder });
    const reader = wireTo(kept.endpoint);
    for (let i = 0; i < done.length; i += 100) {
      const Keys = done.slice(i, i + 100).map((name) => at(name));
      const { body } = await reader.send('BatchGetItem', { RequestItems: { table: { Keys } }, ...indexes });
      const { table } = isObject(body.Responses) ? body.Responses : {};
      expect(toList(table)).toHaveLength(Keys.length);
    }
    reader.close();
    await kept.stop();
  });

  it('whose file is none of a store fails the start', async () => {
    const folder = newFolder();
    writeFileSync(
      join(folder, 'store.sqlite'),
      'no database, but long enough to be read as the header of one'.repeat(20),
    );
    await expect(startStore({ folder })).rejects.toThrow('file is not a database');
  });
});
