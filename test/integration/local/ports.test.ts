import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Credentials } from 'aws-stand-in';
import { localCredentials } from 'cdk-local-runner';
import { localRegion } from 'cdk-local-runner/template';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getTableName } from '../../../local/stack.ts';
import { paced } from '../../support/run/pace.ts';
import { startService, type TestService } from '../../support/service/service.ts';

let service: TestService;
let keys: string;
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'pennytrace-data-'));
  // On stores of its own that keep their data, as `npm start` runs it. S3 listens in another way without.
  service = await startService({ dataDir, dynamodb: '', s3: '', settings: { events: true, alerts: true } });
  keys = getTableName(service.stack, 'keys');
});
afterAll(async () => {
  await service.stop();
  await rm(dataDir, { recursive: true });
});

/** A request to a port, with or without what browsers and SDKs put on it. */
interface Attempt {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The service that the signature names, and whose signature it is. @default - there is none */
  readonly signature?: { readonly service: string; readonly credentials: Credentials };
  readonly host?: string;
}

const send = async (
  endpoint: string,
  { method = 'POST', path = '/', headers = {}, body = '', signature, host }: Attempt,
): Promise<{ status: number; body: string }> => {
  const { hostname, port } = new URL(endpoint);
  const unsigned = {
    method,
    protocol: 'http:',
    hostname,
    port: Number(port),
    path,
    body,
    headers: { ...headers, host: host ?? `${hostname}:${port}` },
  };
  const signer =
    signature &&
    new SignatureV4({
      ...signature,
      region: localRegion,
      sha256: Sha256,
      uriEscapePath: signature.service !== 's3',
    });
  const { headers: sent } = signer ? await signer.sign(unsigned) : unsigned;
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  const asked = request({ method, hostname, port, path, headers: sent }, (answer) => {
    text(answer).then((found) => resolve({ status: answer.statusCode ?? 0, body: found }), reject);
  });
  asked.once('error', reject).end(body);
  return promise;
};

/** The ports that functions and not clients use, and a request that each would do. */
const internalPorts = (): readonly (readonly [name: string, endpoint: string, attempt: Attempt])[] => {
  const { credentials } = service;
  const lambda = service.stack.api.routes.find(({ path }) => path === '/health')?.function.name ?? '';
  return [
    [
      'the embedded store',
      service.dynamodb,
      {
        headers: { 'x-amz-target': 'DynamoDB_20120810.Scan', 'content-type': 'application/x-amz-json-1.0' },
        body: JSON.stringify({ TableName: keys }),
        signature: { service: 'dynamodb', credentials },
      },
    ],
    ['S3', service.s3, { method: 'GET', signature: { service: 's3', credentials } }],
    [
      'the bus',
      service.bus.endpoint,
      {
        path: `/2015-03-31/functions/${lambda}/invocations`,
        body: '{"requestContext":{"requestId":"forged"}}',
        signature: { service: 'lambda', credentials },
      },
    ],
    [
      'the queues of the bus',
      service.bus.endpoint,
      {
        headers: { 'x-amz-target': 'AmazonSQS.SendMessage', 'content-type': 'application/x-amz-json-1.0' },
        body: '{"MessageBody":"forged"}',
        signature: { service: 'sqs', credentials },
      },
    ],
  ];
};

const eachPort = async (look: (name: string, endpoint: string, attempt: Attempt) => Promise<void>) => {
  for (const [name, endpoint, attempt] of internalPorts()) await look(name, endpoint, attempt);
};

describe('the internal ports', () => {
  it('do what is signed with the secret of this run', async () => {
    await eachPort(async (name, endpoint, attempt) => {
      expect(await send(endpoint, attempt), name).toMatchObject({ status: 200 });
    });
  });

  it('refuse what is not signed', async () => {
    await eachPort(async (name, endpoint, { signature: _, ...attempt }) => {
      const { status, body } = await send(endpoint, attempt);
      expect([400, 403], name).toContain(status);
      expect(body, name).toContain('writes its credentials to .local/');
    });
  });

  it('refuse what is signed with another secret', async () => {
    await eachPort(async (name, endpoint, attempt) => {
      const signature = { service: attempt.signature?.service ?? '', credentials: localCredentials };
      const { status, body } = await send(endpoint, { ...attempt, signature });
      expect([400, 403], name).toContain(status);
      expect(body, name).toContain('signed with another secret');
    });
  });

  it('refuse what was changed after it was signed', async () => {
    const { credentials } = service;
    const signer = new SignatureV4({ service: 'dynamodb', region: localRegion, sha256: Sha256, credentials });
    const { hostname, host, port } = new URL(service.dynamodb);
    const { headers } = await signer.sign({
      method: 'POST',
      protocol: 'http:',
      hostname,
      port: Number(port),
      path: '/',
      body: '{}',
      headers: { host, 'x-amz-target': 'DynamoDB_20120810.Scan' },
    });
    const { status, body } = await send(service.dynamodb, { headers, body: `{"TableName":"${keys}"}` });
    expect({ status, body }).toMatchObject({
      status: 400,
      body: expect.stringContaining('InvalidSignatureException'),
    });
  });

  it('refuse a name that a name server could lead here, though it is signed', async () => {
    await eachPort(async (name, endpoint, attempt) => {
      const host = `rebound.example:${new URL(endpoint).port}`;
      const { status, body } = await send(endpoint, { ...attempt, host });
      expect({ status, body }, name).toMatchObject({
        status: 403,
        body: expect.stringContaining('The host rebound.example is none of this service'),
      });
    });
  });

  it('refuse the pages of browsers, though they are signed', async () => {
    await eachPort(async (name, endpoint, attempt) => {
      for (const origin of ['https://evil.example', 'null', service.url]) {
        const { status } = await send(endpoint, { ...attempt, headers: { ...attempt.headers, origin } });
        expect(status, `${name} ${origin}`).toBe(403);
      }
    });
  });

  it('have done nothing of what they refused', () => {
    // The one that was signed as it should be.
    expect(new Set(service.bus.letters)).toEqual(new Set(['forged']));
  });

  it('answer the SDK with the credentials of this run, and with no others', async () => {
    const scan = (credentials: Credentials) =>
      new DynamoDBClient({
        endpoint: service.dynamodb,
        region: localRegion,
        credentials,
        maxAttempts: 1,
      }).send(new ScanCommand({ TableName: keys }));
    expect((await scan(service.credentials)).Items).toHaveLength(1);
    await expect(scan(localCredentials)).rejects.toThrow('signed with another secret');
    const list = (credentials: Credentials) =>
      new S3Client({ endpoint: service.s3, region: localRegion, credentials, maxAttempts: 1 }).send(
        new ListBucketsCommand({}),
      );
    expect((await list(service.credentials)).Buckets).not.toEqual([]);
    await expect(list(localCredentials)).rejects.toMatchObject({ name: 'SignatureDoesNotMatch' });
  });
});

it('The secret is another in each run', async () => {
  const other = await startService();
  expect(other.credentials.secretAccessKey).toMatch(/^[0-9a-f]{64}$/);
  expect(other.credentials.secretAccessKey).not.toBe(service.credentials.secretAccessKey);
  await other.stop();
});

it('The echo model answers no page and no foreign name', async () => {
  const { baseUrl = '' } = service.model ?? {};
  const ask = { path: '/v1/chat/completions', body: '{"messages":[]}' };
  expect(await send(baseUrl, ask)).toMatchObject({ status: 200 });
  expect(await send(baseUrl, { ...ask, headers: { origin: 'https://evil.example' } })).toMatchObject({
    status: 403,
  });
  expect(await send(baseUrl, { ...ask, host: 'rebound.example' })).toMatchObject({ status: 403 });
});

describe("the service's own port", () => {
  const health = { method: 'GET', path: '/health' };

  it.each(['127.0.0.1', 'localhost', 'LOCALHOST:9000', '[::1]:8787'])('answers as %s', async (host) => {
    expect(await send(service.url, { ...health, host })).toMatchObject({ status: 200 });
  });

  it.each(['rebound.example', '127.0.0.1.rebound.example', 'localhost.example:8787', '0.0.0.0'])(
    'does not answer as "%s"',
    async (host) => {
      const { status, body } = await send(service.url, { ...health, host });
      expect({ status, body }).toMatchObject({ status: 403, body: expect.stringContaining('ALLOWED_HOSTS') });
    },
  );

  it('is on another address if the operator says so, for clients by that name', async () => {
    const elsewhere = await startService({ address: '127.0.0.2' });
    expect(elsewhere.url).toBe(`http://127.0.0.2:${elsewhere.port}`);
    expect(await send(elsewhere.url, { ...health, host: '127.0.0.2' })).toMatchObject({ status: 200 });
    expect(await send(elsewhere.url, { ...health, host: 'rebound.example' })).toMatchObject({ status: 403 });
    await expect(fetch(`http://127.0.0.1:${elsewhere.port}/health`)).rejects.toThrow();
    await elsewhere.stop();
  });

  it('answers as what the operator allows', async () => {
    const named = await startService({ hosts: ['host.docker.internal'] });
    const host = `Host.docker.internal:${named.port}`;
    expect(await send(named.url, { ...health, host })).toMatchObject({ status: 200 });
    expect(await send(named.url, { ...health, host: 'docker.internal' })).toMatchObject({ status: 403 });
    await named.stop();
  });
});

/** Whether something takes connections there. */
const connects = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: paced(2000) });
    const done = (is: boolean) => {
      socket.destroy();
      resolve(is);
    };
    socket.once('connect', () => done(true));
    socket.once('error', () => done(false));
    socket.once('timeout', () => done(false));
  });

it('All ports are those of the loopback address alone', async () => {
  const others = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4')
    .map(({ address }) => address);
  const { baseUrl = '' } = service.model ?? {};
  for (const endpoint of [service.url, service.dynamodb, service.s3, service.bus.endpoint, baseUrl]) {
    const port = Number(new URL(endpoint).port);
    expect(await connects('127.0.0.1', port), endpoint).toBe(true);
    for (const host of ['127.0.0.2', ...others])
      expect(await connects(host, port), `${host} ${endpoint}`).toBe(false);
  }
});
