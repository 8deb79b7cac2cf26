import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createServer, type SecureVersion } from 'node:tls';
import { S3Client } from '@aws-sdk/client-s3';
import { listen } from 'aws-stand-in';
import { localCredentials } from 'cdk-local-runner';
import { localRegion, readAssembly, resolver } from 'cdk-local-runner/template';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { NotTried, type Target } from '../../../bin/verify/check.ts';
import { keyMaker } from '../../../bin/verify/cleanup.ts';
import { readDeployed } from '../../../bin/verify/deployed.ts';
import { tls } from '../../../bin/verify/gateway.ts';
import { checks, cleanup, last, untried } from '../../../bin/verify/list.ts';
import { run } from '../../../bin/verify.ts';
import { formatKey, listKeys } from '../../../foundations/auth/index.ts';
import { dynamodbClient } from '../../../foundations/storage/index.ts';
import { type ProjectId, parseProjectId } from '../../../foundations/wire/index.ts';
import { getTableName } from '../../../local/stack.ts';
import { temporaryFolder } from '../../support/run/project.ts';
import { type Aws, startAws } from '../../support/service/aws.ts';
import { certificate } from '../../support/service/certificate.ts';
import { newKey } from '../../support/service/keys.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { serve } from '../../support/service/upstream.ts';
import { assemblyWith } from '../../support/stack/assembly.ts';
import { testSettings } from '../../support/stack/every-setting.ts';
import { type Catalog, makeCatalog } from '../../support/stack/rehearsal/catalog.ts';

/** A name that nobody else has in the stores of this test run, anew at each start. */
let stackName: string;
const project = parseProjectId('pennytrace/verify') as ProjectId;
const redactionKey = 'a key that the test knows';

/** Settings that make everything that is looked at, and a limit of the stage that a test reaches, and no other. */
const settings = {
  ...testSettings,
  events: true,
  alerts: true,
  analytics: true,
  evaluators: true,
  redact: [{ name: 'mail', builtin: 'email', action: 'hash' }],
  throttleRate: 20,
  throttleBurst: 450,
};

/** Stands for the project's folder, and says where the local service has its keys. */
const folder = temporaryFolder();
let cleaning: AsyncDisposableStack;
let service: TestService;
let aws: Aws;
let reporterKey: string;

/** The catalog of a stack's analytics, with what its template says of it. */
const startCatalog = async (s3: S3Client, assembly: string): Promise<Catalog> => {
  const catalog = await makeCatalog(s3, temporaryFolder());
  const { template } = readAssembly(assembly);
  const resolve = resolver(template, stackName);
  for (const [id, { Type, Properties }] of Object.entries(template.Resources)) {
    const make = catalog.providers[Type];
    if (!make) continue;
    const resource = { Type, Properties: resolve(Properties) as Record<string, unknown> };
    await make({ id, resource, template, ref: id });
  }
  return catalog;
};

const exporterHeaders = (key: string): string =>
  `Authorization=Bearer%20${key},project_id=${encodeURIComponent('acme/shop')}`;

beforeAll(async () => {
  cleaning = new AsyncDisposableStack();
  stackName = `Verified-${randomUUID().slice(0, 8)}`;
  const dataDir = temporaryFolder();
  writeFileSync(join(dataDir, 'redaction-key'), redactionKey);
  const assembly = await assemblyWith(settings);
  service = await startService({ settings, stackName, dataDir, maxScheduleMs: 1000, maxWindowMs: 200 });
  cleaning.defer(() => service.stop());
  const s3 = new S3Client({ region: localRegion, credentials: localCredentials, endpoint: service.s3 });
  cleaning.defer(() => s3.destroy());
  const catalog = cleaning.use(await startCatalog(s3, assembly));
  aws = cleaning.use(await startAws({ service, stackName, assembly, catalog }));
  const { dynamodb, credentials, stack, port } = service;
  const tables = { keys: getTableName(stack, 'keys'), calls: getTableName(stack, 'calls') };
  mkdirSync(join(folder, '.local'), { recursive: true });
  writeFileSync(
    join(folder, '.local', `${port}.json`),
    JSON.stringify({ pid: process.pid, authorizerCacheSeconds: 300, dynamodb, credentials, tables }),
  );
  reporterKey = await newKey(service, { scope: 'acme/shop' as ProjectId, role: 'write' });
});
afterAll(() => cleaning.disposeAsync());

/** How the stand-in is when nothing is wrong. */
beforeEach(() => {
  vi.stubEnv('AWS_ENDPOINT_URL', aws.endpoint);
  vi.stubEnv('AWS_REGION', localRegion);
  vi.stubEnv('AWS_ACCESS_KEY_ID', service.credentials.accessKeyId);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', service.credentials.secretAccessKey);
  aws.environments.set('shop-agent', {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${service.url}/otel`,
    OTEL_EXPORTER_OTLP_HEADERS: exporterHeaders(reporterKey),
  });
  aws.setSecret('RedactionKey', redactionKey);
});
afterEach(() => {
  vi.unstubAllEnvs();
  aws.reset();
});

/** Runs the command. */
const verify = async (...argv: string[]) => {
  const out: string[] = [];
  const err: string[] = [];
  const io = { out: (text: string) => out.push(text), err: (text: string) => err.push(text) };
  const code = await run(argv, io, folder);
  return { code, out, err };
};

const withOutcome = (out: readonly string[], outcome: string): string[] =>
  out.filter((line) => line.startsWith(outcome)).map((line) => line.slice(outcome.length).trim());

const names = [...checks, cleanup, ...last].map(({ name }) => name);

const keysLeft = async (): Promise<string[]> => {
  const client = dynamodbClient({
    endpoint: service.dynamodb,
    region: localRegion,
    credentials: localCredentials,
  });
  const keys = await listKeys({ client, name: getTableName(service.stack, 'keys') });
  client.destroy();
  return keys.map(({ user }) => user).toSorted();
};

const everything = ['--model', 'any', '--embedding', 'small', '--reporter', 'shop-agent', '--disturb'];

describe('a stack on an emulator', () => {
  it('says of what an emulator lacks that it was not tried, and why', async () => {
    for (const lacking of ['athena', 'dynamodb:DescribeTimeToLive', 'logs', 'monitoring'])
      aws.moods.lacking.add(lacking);
    const { code, out } = await verify('--url', service.url, '--stack', stackName);
    expect(withOutcome(out, 'red')).toEqual([]);
    expect(withOutcome(out, 'not tried:')).toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          /^no alarm is active: the emulator at .* does not have it: monitoring answers 400/,
        ),
        expect.stringMatching(/^time to live is enabled on the tables: the emulator does not have it/),
        expect.stringMatching(/^Athena finds the calls in the files: the emulator at .* does not have it/),
        'models answer chats: name a model of each upstream: --model NAME. Its requests cost money',
        'the API throttles: other callers would get 429s for a moment: --disturb',
      ]),
    );
    expect(code).toBe(0);
  });
});

describe('the local service', () => {
  it('is green in what it has, and leaves nothing', async () => {
    const { code, out, err } = await verify(
      '--url',
      service.url,
      `--local=${service.port}`,
      '--model',
      'any',
    );
    expect(err).toEqual([]);
    expect(withOutcome(out, 'red')).toEqual([]);
    expect(withOutcome(out, 'not tried:')).toContain(
      'no alarm is active: it needs a stack: leave --local out',
    );
    expect(withOutcome(out, 'green')).toContain('a broken stream is an error for the client');
    expect(code).toBe(0);
    expect(await keysLeft()).toEqual(['bob', 'local']);
  });
});

describe('TLS', () => {
  /** A server that agrees to nothing older than a version. */
  const serveTls = async (minVersion: SecureVersion) => {
    const server = createServer({ ...certificate, minVersion, ciphers: 'DEFAULT@SECLEVEL=0' }).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return {
      url: `https://127.0.0.1:${port}`,
      [Symbol.asyncDispose]: async () => void server.close(),
    };
  };

  it('may not be older than 1.2', async () => {
    await using old = await serveTls('TLSv1.1');
    await expect(tls({ url: old.url })).rejects.toThrow('it agrees to TLSv1.1');
  });

  it('is 1.2 or 1.3', async () => {
    await using good = await serveTls('TLSv1.2');
    await tls({ url: good.url });
    await using lacking = await serveTls('TLSv1.3');
    await expect(tls({ url: lacking.url })).rejects.toThrow('it refuses TLSv1.2');
  });
});

it('says what is wrong with its arguments', async () => {
  const { code, err } = await verify('--local');
  expect(code).toBe(2);
  expect(err.join()).toContain('--url: give the URL of the service');
});

/** What the proxy makes of a request and its answer. */
interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface Misbehaviour {
  readonly asks?: (path: string, headers: IncomingHttpHeaders) => IncomingHttpHeaders;
  readonly answers?: (path: string, answer: Answer) => Answer;
}

/**
 * A service that misbehaves: a proxy in front of the one that does not. It takes what breaks off for whole, and
 * compresses nothing.
 */
const misbehaving = ({ asks = (_, headers) => headers, answers = (_, answer) => answer }: Misbehaviour) =>
  serve(async (req, res) => {
    const path = req.url ?? '/';
    const onward = request(new URL(path, service.url), {
      method: req.method,
      headers: { ...asks(path, req.headers), 'accept-encoding': 'identity' },
    });
    onward.once('response', async (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      await new Promise((resolve) => incoming.once('close', resolve));
      const { statusCode: status = 502, headers } = incoming;
      const answer = answers(path, { status, headers, body: Buffer.concat(chunks) });
      const { 'transfer-encoding': _, 'content-length': __, ...kept } = answer.headers;
      res.writeHead(answer.status, kept).end(answer.body);
    });
    onward.once('error', () => res.destroy()).end(await buffer(req));
  });

const withBody =
  (path: string, change: (body: Buffer) => Buffer | string): NonNullable<Misbehaviour['answers']> =>
  (asked, answer) =>
    asked.startsWith(path) ? { ...answer, body: Buffer.from(change(answer.body)) } : answer;

const withStatus =
  (from: number, to: number): NonNullable<Misbehaviour['answers']> =>
  (_, answer) =>
    answer.status === from ? { ...answer, status: to } : answer;

/** A service that misbehaves, and the check that says so. */
const services: readonly (readonly [string, Misbehaviour, RegExp])[] = [
  [
    'queries find the calls',
    { answers: withBody('/calls/stream_query', (body) => body.subarray(body.indexOf('\n') + 1)) },
    /^74 of 75 calls are found$/,
  ],
  [
    'an answer over 6 MB streams',
    { answers: withBody('/calls/stream_query', (body) => body.subarray(0, 6_000_000)) },
    /^6000000 bytes came, fewer than were stored$/,
  ],
  ['an answer is compressed', {}, /^the answer’s coding is null$/],
  [
    'a client may leave midway',
    { answers: withBody('/calls/stream_query', () => '{}') },
    /^the next query finds nothing$/,
  ],
  ['a broken stream is an error for the client', {}, /^the client takes what came for a whole answer of/],
  [
    'a large value is stored once, and read',
    { answers: withBody('/obj/read', () => '{"obj": {"val": {"text": ""}}}') },
    /^the value came back as another$/,
  ],
  [
    'spans are accepted as JSON',
    { answers: withBody('/otel', () => '{"partialSuccess": {"rejectedSpans": 1}}') },
    /^spans were refused/,
  ],
  [
    'spans are accepted as protobuf, plain and compressed',
    { answers: (_, answer) => ({ ...answer, headers: { ...answer.headers, 'content-type': 'text/plain' } }) },
    /^plain: the answer is text\/plain$/,
  ],
  ['each kind of refusal has the right status', { answers: withStatus(401, 403) }, /no key is 403, not 401/],
  [
    'an expired key is refused while its authorization is cached',
    {
      asks: (_, headers) => ({
        ...headers,
        authorization: `Basic ${Buffer.from(`api:${service.key}`).toString('base64')}`,
      }),
    },
    /^the key is good after it has expired$/,
  ],
  [
    'models answer chats',
    { answers: withBody('/inference', () => '{}') },
    /^the answer to chat has no "choices"/,
  ],
  [
    'models answer messages',
    { answers: withBody('/inference', () => '{}') },
    /^the answer to messages has no "stop_reason"/,
  ],
  [
    'models answer responses',
    { answers: withBody('/inference', () => '{}') },
    /^the answer to responses has no "response"/,
  ],
  [
    'models embed texts',
    { answers: withBody('/inference', () => '{}') },
    /^the answer to embeddings has no "embedding"/,
  ],
  [
    'requests to models are recorded',
    { answers: withBody('/calls/query_stats', () => '{"count": 3}') },
    /^the request to the model left no call$/,
  ],
  [
    'evaluators give verdicts',
    { answers: withBody('/feedback/query', () => '{"result": []}') },
    /^none of \d+ calls has a verdict$/,
  ],
  [
    'everything it created is deleted',
    {
      answers: (path, answer) => (path === '/calls/delete' ? { ...answer, status: 200 } : answer),
      asks: (path, headers) => (path === '/calls/delete' ? { ...headers, authorization: '' } : headers),
    },
    /^calls are left$/,
  ],
];

/** AWS with something wrong, and the check that says so. */
const faultsOfAws: readonly (readonly [string, (aws: Aws) => void, RegExp])[] = [
  [
    'the deployment is complete',
    ({ changeStack }) => changeStack({ status: 'UPDATE_ROLLBACK_COMPLETE' }),
    /^the stack’s status is UPDATE_ROLLBACK_COMPLETE$/,
  ],
  [
    'the URL belongs to the stack',
    ({ changeOutputs }) => changeOutputs({ ApiUrl: 'https://other.example.com/api/' }),
    /^the stack’s ApiUrl is https:\/\/other/,
  ],
  [
    'S3 honors If-Match',
    ({ moods }) => {
      moods.ignoresConditions = true;
    },
    /^If-Match replaces an object that has changed$/,
  ],
  [
    'time to live is enabled on the tables',
    ({ changeOutputs }) => changeOutputs({ CallsTable: getTableName(service.stack, 'objects') }),
    /^time to live of .* is DISABLED, by nothing, not by x$/,
  ],
  [
    'redaction hashes with the key in the secret',
    ({ setSecret }) => setSecret('RedactionKey', 'another'),
    /^verify@example\.com is stored as \[mail:/,
  ],
  [
    'a function with grantReport reports',
    ({ environments }) =>
      environments.set('shop-agent', {
        OTEL_EXPORTER_OTLP_ENDPOINT: `${service.url}/otel`,
        OTEL_EXPORTER_OTLP_HEADERS: '{{resolve:secretsmanager:x}}',
      }),
    /has the reference to a secret in place of its key$/,
  ],
  [
    'events are put on the bus',
    ({ moods }) => {
      moods.hasLog = false;
    },
    /^no batch of events was delivered$/,
  ],
  [
    'alerts are evaluated every minute',
    ({ moods }) => {
      moods.hasLog = false;
    },
    /^nobody has looked at alerts$/,
  ],
  [
    'each request has a line in the log',
    ({ moods }) => {
      moods.hasLog = false;
    },
    /^the log has no line of a request$/,
  ],
  [
    'no function died',
    ({ moods }) => {
      moods.lines.push('INIT_REPORT Status: error');
    },
    /^INIT_REPORT Status: error$/,
  ],
  [
    'no alarm is active',
    ({ moods }) => {
      moods.alarm = 'ALARM';
    },
    /^an alarm rings$/,
  ],
  [
    'Athena finds the calls in the files',
    ({ moods }) => {
      moods.hasRows = false;
    },
    /^Athena finds none of the calls$/,
  ],
];

describe('a check', () => {
  let target: Target;
  let cleaning: AsyncDisposableStack;
  beforeAll(async () => {
    cleaning = new AsyncDisposableStack();
    const client = dynamodbClient({
      endpoint: service.dynamodb,
      region: localRegion,
      credentials: localCredentials,
    });
    cleaning.defer(() => client.destroy());
    const keys = cleaning.use(keyMaker({ client, name: getTableName(service.stack, 'keys') }));
    target = {
      url: service.url,
      project,
      run: `verify-${randomUUID().slice(0, 8)}`,
      since: Date.now(),
      key: service.key,
      revoked: 'svc_none',
      makeKey: async (grants, seconds) => formatKey(await keys.make(grants, seconds)),
      calls: { client, name: getTableName(service.stack, 'calls') },
      models: ['any'],
      embeddings: ['small'],
      reporter: 'shop-agent',
      disturb: true,
    };
    await find('calls are reported').run(target);
    await find('queries find the calls').run(target);
  });
  afterAll(() => cleaning.disposeAsync());

  const find = (name: string) => {
    const check = [...checks, cleanup, ...last].find((one) => one.name === name);
    if (!check) throw new Error(`there is no check ${name}`);
    return check;
  };
  const readStack = async () => ({ ...target, stack: await readDeployed(stackName) });

  it.each(faultsOfAws)('is red where AWS has a fault: %s', async (name, break_, message) => {
    break_(aws);
    await expect(find(name).run({ ...(await readStack()), patience: 0 })).rejects.toThrow(message);
  });

  it.each(services)('is red where the service misbehaves: %s', async (name, misbehaviour, message) => {
    await using proxy = await misbehaving(misbehaviour);
    const patience = name.startsWith('an expired key') ? 0.4 : 0;
    await expect(find(name).run({ ...(await readStack()), url: proxy.origin, patience })).rejects.toThrow(
      message,
    );
  });

  it('is not tried for a function that signs: it has no key', async () => {
    aws.environments.set('shop-agent', { PENNYTRACE_URL: service.url, PENNYTRACE_PROJECT: 'acme/shop' });
    const reported = find('a function with grantReport reports').run(await readStack());
    await expect(reported).rejects.toThrow(
      new NotTried('shop-agent signs as its role, and has no key to try'),
    );
    await expect(reported).rejects.toBeInstanceOf(NotTried);
  });

  it('is red, with what to do, where something else answers, and the exit code is 1', async () => {
    const other = await listen(
      0,
      Promise.resolve((req, res) => req.resume() && res.writeHead(502).end('{}')),
    );
    const argv = ['--url', `http://127.0.0.1:${other.port}`, `--local=${service.port}`, ...everything];
    const { code, out } = await verify(...argv);
    await other.stop();
    expect(withOutcome(out, 'green')).toEqual([]);
    expect(withOutcome(out, 'red')).toContainEqual(
      expect.stringMatching(/^a new key is accepted: 502 \{\}.* → find the request in the functions’ log/),
    );
    expect(code).toBe(1);
    const shown = withOutcome(out, 'red').map((line) => line.split(': ')[0] ?? '');
    const failing = new Set([
      ...shown,
      ...services.map(([name]) => name),
      ...faultsOfAws.map(([name]) => name),
    ]);
    // It has a test of its own.
    failing.add('TLS 1.2 and 1.3, and nothing older');
    expect(names.filter((name) => !failing.has(name))).toEqual([]);
  });
});

// It is the last: for some seconds after it, requests are refused.
describe('a whole stack on an emulator', () => {
  it('is green in everything but TLS, and leaves nothing', async () => {
    const { code, out, err } = await verify('--url', `${service.url}/`, '--stack', stackName, ...everything);
    expect(err).toEqual([]);
    expect(withOutcome(out, 'red')).toEqual([]);
    const tls = `TLS 1.2 and 1.3, and nothing older: ${service.url} has no TLS`;
    expect(withOutcome(out, 'not tried:')).toEqual([
      tls,
      ...untried.map(({ name, why }) => `${name}: ${why}`),
    ]);
    expect(withOutcome(out, 'green')).toEqual(names.filter((name) => !name.startsWith('TLS')));
    expect(out.at(-1)).toBe(`${names.length - 1} green, 0 red, ${1 + untried.length} not tried`);
    expect(code).toBe(0);
    expect(await keysLeft()).toEqual(['bob', 'local']);
  });
});
