import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { json as readJson, text } from 'node:stream/consumers';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { inferenceBody } from '../../../../../api/inference.ts';
import { keyOfSecret } from '../../../../../core/doors/inference/credentials.ts';
import { forward, type InferenceRequest, SecretKeys } from '../../../../../core/doors/inference/index.ts';
import type { Upstream, UpstreamCredentials } from '../../../../../core/doors/inference/upstream.ts';
import {
  json,
  type ReceivedRequest,
  startUpstream,
  type TestUpstream,
} from '../../../../support/service/upstream.ts';

/** Secrets Manager, as far as it is asked: one secret, whose text can change. */
const startSecrets = async () => {
  const state = { secret: 'sk-first', reads: 0 };
  const server = createServer(async (req, res) => {
    const { SecretId } = (await readJson(req)) as { SecretId: string };
    state.reads++;
    const found = req.headers['x-amz-target'] === 'secretsmanager.GetSecretValue' && SecretId === 'openai';
    const answer = found ? { SecretString: state.secret } : { __type: 'ResourceNotFoundException' };
    res
      .writeHead(found ? 200 : 400, { 'content-type': 'application/x-amz-json-1.1' })
      .end(JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const client = new SecretsManagerClient({
    region: 'us-east-1',
    endpoint: `http://127.0.0.1:${port}`,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  });
  const stop = () => {
    client.destroy();
    server.close();
    server.closeAllConnections();
  };
  return { state, keys: new SecretKeys(() => client), stop };
};

let secrets: Awaited<ReturnType<typeof startSecrets>>;
let upstream: TestUpstream;
beforeEach(async () => {
  secrets = await startSecrets();
  upstream = await startUpstream();
});
afterEach(async () => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  secrets.stop();
  await upstream[Symbol.asyncDispose]();
});

/**
 * Passes a request on to an upstream with these credentials, and gives the status and text of the
 * answer.
 */
const ask = async (credentials: UpstreamCredentials, fields: object = {}) => {
  const to: Upstream = {
    name: 'test',
    place: { speaks: 'openai', baseUrl: upstream.baseUrl },
    models: [{ match: '*' }],
    credentials,
    firstByteMs: undefined,
  };
  const body = { model: 'gpt-test', ...fields };
  const request: InferenceRequest = {
    path: '/chat/completions',
    body: inferenceBody().parse(body),
    received: body,
    headers: {},
    maxMs: 10_000,
    gone: new AbortController().signal,
  };
  const answer = await forward({ upstreams: [to], keys: secrets.keys }, request);
  return { status: answer.status, text: await text(answer.body) };
};

const secret: UpstreamCredentials = { kind: 'secret', secret: 'openai' };
const keysSent = () => upstream.requests.map(({ headers }) => headers.authorization);

describe('a key in Secrets Manager', () => {
  it('is read once', async () => {
    for (let i = 0; i < 3; i++) expect((await ask(secret)).status).toBe(200);
    expect(secrets.state.reads).toBe(1);
    expect(new Set(keysSent())).toEqual(new Set(['Bearer sk-first']));
  });

  it('is read again when the upstream refuses it, and the request is sent with the new one', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    await ask(secret);
    secrets.state.secret = 'sk-second';
    const onlySecond = (request: ReceivedRequest) => request.headers.authorization === 'Bearer sk-second';
    upstream.behave((request, res) => json({}, onlySecond(request) ? 200 : 401)(request, res));
    vi.setSystemTime(Date.now() + 31_000);
    expect((await ask(secret)).status).toBe(200);
    expect((await ask(secret)).status).toBe(200);
    expect(keysSent()).toEqual([
      'Bearer sk-first',
      'Bearer sk-first',
      'Bearer sk-second',
      'Bearer sk-second',
    ]);
    expect(secrets.state.reads).toBe(2);
  });

  it('is not read again with every request if it stays wrong, nor is the request repeated', async () => {
    upstream.behave(json({ error: { message: 'bad key' } }, 401));
    for (let i = 0; i < 3; i++) expect((await ask(secret)).status).toBe(401);
    expect(upstream.requests).toHaveLength(3);
    expect(secrets.state.reads).toBe(1);
  });

  it('is answered with a 502 that names the upstream if it is missing', async () => {
    await expect(ask({ kind: 'secret', secret: 'other' })).rejects.toMatchObject({
      status: 502,
      detail: [{ type: 'upstream_key', msg: 'the key of the upstream test cannot be read' }],
    });
    expect(upstream.requests).toHaveLength(0);
  });

  it.each([
    ['sk-1\n', 'sk-1'],
    ['{"apiKey": "sk-2"}', 'sk-2'],
  ])('may be the text or the only value of an object: %j', (given, key) => {
    expect(keyOfSecret(given)).toBe(key);
  });

  it.each(['', '{}', '{"a":"b","c":"d"}', '{"a":1}', 'two words', 'line\nHost: evil'])(
    'is not %j',
    (given) => {
      expect(() => keyOfSecret(given)).toThrow('the secret should be the key');
    },
  );
});

/** Signature Version 4, after its specification, for a request with these headers signed. */
const sign = ({ method, url, headers, text: body }: ReceivedRequest, secretKey: string): string => {
  const { authorization = '' } = headers;
  const [, scope = '', names = ''] =
    /Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+),/.exec(authorization) ?? [];
  const sha256 = (data: string) => createHash('sha256').update(data).digest('hex');
  const [path, query = ''] = url.split('?');
  const canonical = names
    .split(';')
    .map((name) => `${name}:${String(headers[name]).trim()}\n`)
    .join('');
  const request = [method, path, query, canonical, names, sha256(body)].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(request)].join('\n');
  const key = scope
    .split('/')
    .reduce<string | Buffer>(
      (before, part) => createHmac('sha256', before).update(part).digest(),
      `AWS4${secretKey}`,
    );
  return createHmac('sha256', key).update(toSign).digest('hex');
};

describe('a request to Bedrock', () => {
  it('is signed with the function’s role', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
    vi.stubEnv('AWS_SESSION_TOKEN', 'token');
    const fields = {
      messages: [{ role: 'user', content: 'größer' }],
      api_version: 'v1',
      extra_headers: { 'X-Title': 'Shop' },
    };
    expect((await ask({ kind: 'role', region: 'eu-west-1' }, fields)).status).toBe(200);
    const request = upstream.last();
    const { authorization = '' } = request.headers;
    expect(authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/bedrock\/aws4_request, /,
    );
    expect(request.headers).toMatchObject({ 'x-amz-security-token': 'token', 'x-title': 'Shop' });
    expect(authorization).toContain(`Signature=${sign(request, 'secret')}`);
  });
});
