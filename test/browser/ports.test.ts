import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { localRegion } from 'cdk-local-runner/template';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { launchBrowser } from '../../bench/harness/browser.ts';
import { roles, toContext } from '../../foundations/auth/index.ts';
import { getTableName } from '../../local/stack.ts';
import { startService, type TestService } from '../support/service/service.ts';

/** A name that the browser is led to this machine by, as a name server can do it. */
const rebound = 'rebound.example';

let service: TestService;
let browser: Browser;
let site: Server;
beforeAll(async () => {
  // On stores of its own, as `npm start` runs it.
  service = await startService({
    dynamodb: '',
    s3: '',
    settings: { events: true, evaluators: { concurrency: 2 } },
  });
  site = createServer((_, res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<p>a page'));
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  const options = inject('page').browser;
  browser = await launchBrowser({
    ...options,
    args: [...(options.args ?? []), `--host-resolver-rules=MAP ${rebound} 127.0.0.1`],
  });
});
afterAll(async () => {
  await browser.close();
  site.closeAllConnections();
  site.close();
  await service.stop();
});

/** What a page asks of a port, and what it could read of the answer. */
interface Attempt {
  readonly url: string;
  readonly init: {
    readonly method: string;
    readonly mode?: 'no-cors' | 'cors' | 'same-origin';
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  };
}

/** Sends requests from a page, and says of each its status, and its text; 0 for what it may not see. */
const fromPage = (page: Page, attempts: readonly Attempt[]): Promise<[number, string][]> =>
  page.evaluate(async (all) => {
    const seen: [number, string][] = [];
    for (const { url, init } of all)
      seen.push(
        await fetch(url, init).then(
          async (answer): Promise<[number, string]> => [answer.status, await answer.text()],
          (): [number, string] => [0, ''],
        ),
      );
    return seen;
  }, attempts);

const ports = (host: string): Record<'dynamodb' | 's3' | 'bus' | 'model', string> => {
  const at = (endpoint: string) => `http://${host}:${new URL(endpoint).port}`;
  const { baseUrl = '' } = service.model ?? {};
  return {
    dynamodb: at(service.dynamodb),
    s3: at(service.s3),
    bus: at(service.bus.endpoint),
    model: at(baseUrl),
  };
};

/** A call of somebody who says that they may do everything, as the gateway would bring it. */
const forgedCall = (): string => {
  const grants = roles.map((role) => ({ scope: '*', role }) as const);
  const call = { project_id: 'page/forged', id: 'forged', op_name: 'x', started_at: '2026-01-01T00:00:00Z' };
  return JSON.stringify({
    httpMethod: 'POST',
    path: '/call/start',
    headers: { 'content-type': 'application/json' },
    requestContext: {
      requestId: 'forged',
      authorizer: toContext({ user: 'forged', keyId: '0'.repeat(16), grants }),
    },
    body: JSON.stringify({ start: { ...call, inputs: {} } }),
  });
};

/** A notice of an alert, as a form, which browsers send without asking first. */
const forgedNotice = (): URLSearchParams =>
  new URLSearchParams({
    Action: 'Publish',
    TopicArn: 'forged',
    Subject: 'forged',
    MessageStructure: 'json',
    Message: JSON.stringify({ default: 'forged', sqs: '{}' }),
  });

/** What an attacker would send to each port, in every form that a browser lets pass. */
const attacks = (host: string): Attempt[] => {
  const { dynamodb, s3, bus, model } = ports(host);
  const keys = JSON.stringify({ TableName: getTableName(service.stack, 'keys') });
  const start = service.stack.api.routes.find(({ path }) => path === '/call/start')?.function.name ?? '';
  const scan = { 'x-amz-target': 'DynamoDB_20120810.Scan' };
  const signed = {
    authorization:
      'AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, ' +
      `SignedHeaders=host, Signature=${'0'.repeat(64)}`,
  };
  const letter = { 'x-amz-target': 'AmazonSQS.SendMessage' };
  const invoke = `${bus}/2015-03-31/functions/${start}/invocations`;
  return [
    { url: dynamodb, init: { method: 'POST', headers: { ...scan, ...signed }, body: keys } },
    { url: dynamodb, init: { method: 'POST', headers: scan, body: keys } },
    { url: dynamodb, init: { method: 'GET' } },
    { url: s3, init: { method: 'GET' } },
    { url: `${s3}/forged`, init: { method: 'PUT' } },
    { url: `${s3}/_fauxqs/queues`, init: { method: 'GET' } },
    { url: invoke, init: { method: 'POST', body: forgedCall() } },
    { url: invoke, init: { method: 'POST', mode: 'no-cors', body: forgedCall() } },
    {
      url: bus,
      init: {
        method: 'POST',
        mode: 'no-cors',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: String(forgedNotice()),
      },
    },
    { url: bus, init: { method: 'POST', headers: letter, body: '{"MessageBody":"forged"}' } },
    {
      url: `${model}/v1/chat/completions`,
      init: { method: 'POST', mode: 'no-cors', body: '{"messages":[]}' },
    },
  ];
};

const scanned = async (table: 'calls' | 'keys'): Promise<number> => {
  const { dynamodb: endpoint, credentials, stack } = service;
  const client = new DynamoDBClient({ endpoint, region: localRegion, credentials });
  const { Count = 0 } = await client.send(new ScanCommand({ TableName: getTableName(stack, table) }));
  client.destroy();
  return Count;
};

/** Nothing of the attacks was done. */
const expectNothingDone = async (): Promise<void> => {
  const { letters, notices } = service.bus;
  const done = { letters, notices, calls: await scanned('calls'), keys: await scanned('keys') };
  expect(done).toEqual({ letters: [], notices: [], calls: 0, keys: 1 });
};

it('A page of another origin gets nothing of any port, and changes nothing', async () => {
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
  const seen = await fromPage(page, attacks('127.0.0.1'));
  // What a browser sends without asking first comes back as status 0, unread.
  expect(seen).toEqual(seen.map(() => [0, '']));
  await expectNothingDone();
  await page.close();
});

it('A page whose name leads to this machine reads refusals alone, and changes nothing', async () => {
  for (const port of new Set(attacks(rebound).map(({ url }) => new URL(url).origin))) {
    const page = await browser.newPage();
    // Its own origin is that of the port: the browser lets it do all there.
    await page.goto(`${port}/`);
    expect(await page.evaluate('location.origin')).toBe(port);
    const own = attacks(rebound).filter(({ url }) => url.startsWith(port));
    const seen = await fromPage(page, own);
    for (const [status, text] of seen)
      expect([status, text]).toEqual([
        403,
        `{"message":"The host ${rebound} is none of this service: use localhost or 127.0.0.1"}`,
      ]);
    await page.close();
  }
  await expectNothingDone();
});

it("Such a page does not get the service's own page either, which opens as ever", async () => {
  const page = await browser.newPage();
  const answer = await page.goto(`http://${rebound}:${service.port}/ui/`);
  expect(answer?.status()).toBe(403);
  for (const host of ['127.0.0.1', 'localhost']) {
    await page.goto(`http://${host}:${service.port}/ui/`);
    await page.getByLabel('Key').waitFor();
  }
  await page.close();
});
