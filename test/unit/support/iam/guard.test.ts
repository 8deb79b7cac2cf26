import { once } from 'node:events';
import { createServer } from 'node:http';
import { policySchema } from 'cdk-local-runner/template';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { guardStores, withAccessKeys } from '../../../support/stack/iam/guard.ts';

const spec = (name: string) => ({
  name,
  arn: `arn:${name}`,
  folder: '',
  handler: 'index.handler',
  environment: {},
  timeoutSeconds: 1,
  memoryMb: 128,
});
const policy = (Action: string[]) =>
  policySchema.parse({ Statement: [{ Effect: 'Allow', Action, Resource: '*' }] });

const specs = withAccessKeys([spec('reader'), spec('blind'), spec('nobody')]);
const getKey = (name: string) =>
  specs.find((candidate) => candidate.name === name)?.environment.AWS_ACCESS_KEY_ID;
const used: string[] = [];
const logged: string[] = [];
const cleanup = new AsyncDisposableStack();
let stores: { dynamodb: string; s3: string };
/** A store that has nothing, and says so. */
const store = createServer((_, res) => res.writeHead(404).end('nothing here'));

beforeAll(async () => {
  store.listen(0, '127.0.0.1');
  await once(store, 'listening');
  const address = store.address();
  const target = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  const policies = new Map([
    ['arn:reader', [policy(['s3:GetObject', 's3:ListBucket', 'dynamodb:Query'])]],
    ['arn:blind', [policy(['s3:GetObject'])]],
  ]);
  const options = {
    specs,
    policies,
    log: (line: string) => logged.push(line),
    used: ({ name }: { name: string }, { action }: { action: string }) => used.push(`${name} ${action}`),
  };
  stores = await guardStores({ dynamodb: target, s3: target }, options, cleanup);
});
afterAll(async () => {
  await cleanup.disposeAsync();
  store.close();
});

const read = (key: string | undefined): Promise<Response> =>
  fetch(`${stores.s3}/bucket/key`, {
    headers: { authorization: `AWS4-HMAC-SHA256 Credential=${key}/20261001/us-east-1` },
  });

it('passes on what a role allows, and tells of it', async () => {
  const answer = await read(getKey('reader'));
  expect([answer.status, await answer.text()]).toEqual([404, 'nothing here']);
  expect(used).toEqual(['reader s3:GetObject', 'reader s3:ListBucket']);
});

it('hides that there is nothing from a role that may not list', async () => {
  const answer = await read(getKey('blind'));
  expect([answer.status, await answer.text()]).toEqual([
    403,
    expect.stringContaining('<Code>AccessDenied</Code>'),
  ]);
});

it.each(['nobody', 'somebody'])('refuses %s, and says so', async (name) => {
  expect((await read(getKey(name))).status).toBe(403);
  expect(logged.at(-1)).toContain('refused');
});

it('refuses at DynamoDB with its own error', async () => {
  const answer = await fetch(stores.dynamodb, {
    method: 'POST',
    headers: {
      authorization: `Credential=${getKey('reader')}/`,
      'x-amz-target': 'DynamoDB_20120810.PutItem',
    },
    body: '{"TableName":"calls"}',
  });
  expect([answer.status, await answer.json()]).toMatchObject([
    400,
    { __type: 'com.amazon.coral.service#AccessDeniedException' },
  ]);
});
