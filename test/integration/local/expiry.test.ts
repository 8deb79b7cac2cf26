import { randomUUID } from 'node:crypto';
import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { createTables } from 'cdk-local-runner';
import { readStack } from 'cdk-local-runner/template';
import { expect, it } from 'vitest';
import { getTableName } from '../../../local/stack.ts';
import { createStores } from '../../support/service/stores.ts';
import { assembly } from '../../support/stack/assembly.ts';

it('The tables of a test keep what has expired, those of a service do not', async () => {
  const { dynamodb, rollupsTable } = await createStores('bookkeeping');
  const stack = readStack(assembly(), `test-${randomUUID().slice(0, 13)}`);
  const deployed = getTableName(stack, 'bookkeeping');
  await createTables({ tables: stack.tables.filter(({ name }) => name === deployed) }, dynamodb);
  const yesterday = String(Math.floor(Date.now() / 1000) - 86_400);
  const Key = { k: { B: Buffer.from('k') }, s: { B: Buffer.from('s') } };
  for (const TableName of [rollupsTable, deployed])
    await dynamodb.send(new PutItemCommand({ TableName, Item: { ...Key, x: { N: yesterday } } }));
  const isThere = async (TableName: string) =>
    (await dynamodb.send(new GetItemCommand({ TableName, Key }))).Item !== undefined;
  await expect.poll(() => isThere(deployed), { interval: 250 }).toBe(false);
  expect(await isThere(rollupsTable)).toBe(true);
});
