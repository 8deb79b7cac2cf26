import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { afterEach, beforeAll, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { formatToken } from '../../../../foundations/auth/iam-token.ts';
import {
  type Caller,
  formatKey,
  fromContext,
  grantRole,
  type Key,
  makeKey,
  newRecord,
  putKey,
  revokeKey,
  toRoleId,
} from '../../../../foundations/auth/index.ts';
import type { Table } from '../../../../foundations/storage/index.ts';
import { parseProjectId } from '../../../../foundations/wire/index.ts';
import { startContainer } from '../../../support/service/container.ts';
import { createStores } from '../../../support/service/stores.ts';
import { type FakeSts, presign, startSts } from '../../../support/service/sts.ts';

/** The Bearer route. */
const inference = '/inference/v1/{path+}';

type Handler = (event: APIGatewayRequestAuthorizerEvent) => Promise<APIGatewayAuthorizerResult>;

/** Loads the function anew, as a container does that starts with this environment. */
const start = async (environment: Record<string, string | undefined>): Promise<Handler> => {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const load = startContainer();
  const { handler } = await load<typeof import('../../../../lambdas/background/authorizer.ts')>(
    'lambdas/background/authorizer.ts',
  );
  return (event) => handler(event, { awsRequestId: 'invocation-1' });
};

const nowMicros = () => Date.now() * 1000;
const methodArn = 'arn:aws:execute-api:us-east-1:123456789012:abcdef1234/api/POST/call/start';

const makeEvent = (resource: string, headers: Record<string, string[]>): APIGatewayRequestAuthorizerEvent =>
  ({
    type: 'REQUEST',
    methodArn,
    resource,
    httpMethod: 'POST',
    headers: Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, values.at(-1)])),
    multiValueHeaders: headers,
    requestContext: { requestId: 'request-1', resourcePath: resource, stage: 'api' },
  }) as unknown as APIGatewayRequestAuthorizerEvent;

const basic = (username: string, key: Key) =>
  `Basic ${Buffer.from(`${username}:${formatKey(key)}`).toString('base64')}`;
const bearer = (key: Key) => `Bearer ${formatKey(key)}`;

let table: Table;
let environment: Record<string, string>;
let handler: Handler;
let log: MockInstance<typeof process.stdout.write>;

beforeAll(async () => {
  const { dynamodb, keysTable } = await createStores();
  table = { client: dynamodb, name: keysTable };
  const url = await dynamodb.config.endpoint?.();
  if (!url) throw new Error('the test stores have no endpoint of their own');
  environment = {
    SCHEMES: JSON.stringify({ [inference]: 'bearer' }),
    KEYS_TABLE: keysTable,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_ENDPOINT_URL_DYNAMODB: `${url.protocol}//${url.hostname}:${url.port}`,
  };
});

beforeEach(async () => {
  log = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  handler = await start(environment);
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const storedKey = async (expiry: { expiresAt?: number } = {}): Promise<Key> => {
  const key = makeKey();
  const project = parseProjectId('acme/x');
  if (!project) throw new Error('no project');
  const grants = [
    { scope: project, role: 'read' },
    { scope: '*', role: 'inference' },
  ] as const;
  // Made a minute ago, so that an expiry may be past by now.
  await putKey(table, newRecord(key, { user: 'ada', grants, ...expiry }, nowMicros() - 60_000_000));
  return key;
};

/**
 * What the gateway makes of the answer: allowed, or the message of the error that it chooses the
 * status by.
 */
const answer = async (resource: string, ...values: string[]): Promise<string> => {
  try {
    const result = await handler(makeEvent(resource, values.length > 0 ? { Authorization: values } : {}));
    const [statement] = result.policyDocument.Statement;
    return statement?.Effect ?? 'no statement';
  } catch (error) {
    return error instanceof Error ? error.message : 'no error';
  }
};

const logged = (): unknown[] => log.mock.calls.map(([line]) => JSON.parse(String(line)));

describe('a good key', () => {
  it('may invoke every endpoint of the stage, so that the cached answer fits the next request', async () => {
    const key = await storedKey();
    const result = await handler(makeEvent('/call/start', { Authorization: [basic('ada', key)] }));
    expect(result.principalId).toBe('ada');
    expect(result.policyDocument.Statement).toEqual([
      {
        Action: 'execute-api:Invoke',
        Effect: 'Allow',
        Resource: 'arn:aws:execute-api:us-east-1:123456789012:abcdef1234/api/*',
      },
    ]);
  });

  it('passes its caller on as strings, which the handlers read back', async () => {
    const expiresAt = nowMicros() + 60_000_000;
    const key = await storedKey({ expiresAt });
    const { context } = await handler(makeEvent('/call/start', { Authorization: [basic('api', key)] }));
    expect(context).toMatchObject({ user: 'ada', keyId: key.id, grants: 'acme/x:read *:inference' });
    expect(fromContext(context)).toMatchObject({ expiresAt, user: 'ada' } satisfies Partial<Caller>);
  });

  it('may be sent with the header in any case', async () => {
    const key = await storedKey();
    const event = makeEvent('/call/start', { authorization: [basic('ada', key)] });
    expect((await handler(event)).principalId).toBe('ada');
  });

  it('is logged by its id, without its secret', async () => {
    const key = await storedKey();
    await answer('/call/start', basic('ada', key));
    expect(logged()).toEqual([
      {
        level: 'info',
        message: 'authorizer',
        requestId: 'request-1',
        lambdaRequestId: 'invocation-1',
        coldStart: true,
        route: '/call/start',
        outcome: 'allowed',
        user: 'ada',
        keyId: key.id,
        rows: 0,
        bytes: 0,
        ms: expect.any(Number),
        readUnits: 1,
        writeUnits: 0,
        requests: 1,
        throttled: 0,
        failed: 0,
      },
    ]);
  });
});

describe('a wrong request', () => {
  const unstored = makeKey();
  const cases: [string, string, () => Promise<string[]>][] = [
    ['no header', 'no header', async () => []],
    ['a malformed header', 'malformed header', async () => ['Basic ???']],
    ['a password that is no key', 'malformed key', async () => [`Basic ${btoa('ada:password')}`]],
    ['an unknown key', 'unknown key', async () => [basic('ada', unstored)]],
    [
      'a wrong secret',
      'wrong secret',
      async () => [basic('ada', { ...(await storedKey()), secret: unstored.secret })],
    ],
    [
      'a revoked key',
      'revoked key',
      async () => {
        const key = await storedKey();
        await revokeKey(table, key.id, nowMicros());
        return [basic('ada', key)];
      },
    ],
    [
      'an expired key',
      'expired key',
      async () => [basic('ada', await storedKey({ expiresAt: nowMicros() - 1_000_000 }))],
    ],
    ["another user's name", 'wrong user', async () => [basic('eve', await storedKey())]],
    [
      'two headers, be both of them good',
      'several headers',
      async () => {
        const key = await storedKey();
        return [basic('ada', key), basic('ada', key)];
      },
    ],
  ];

  it.each(cases)('%s is a 401 that does not say why; the log does', async (_, reason, headers) => {
    expect(await answer('/call/start', ...(await headers()))).toBe('Unauthorized');
    expect(logged()).toMatchObject([{ outcome: 'refused', reason, requestId: 'request-1' }]);
  });

  it('never puts a header or a secret into the log', async () => {
    const key = await storedKey();
    const headers = [basic('eve', key), bearer(key), basic('ada', unstored), formatKey(key)];
    for (const header of headers) await answer('/call/start', header);
    const text = JSON.stringify(logged());
    expect(logged()).toHaveLength(headers.length);
    for (const secret of [key.secret, unstored.secret, ...headers]) expect(text).not.toContain(secret);
  });
});

describe('a table that does not answer', () => {
  it('is an internal error, not a 401', async () => {
    handler = await start({ ...environment, KEYS_TABLE: 'no-such-table' });
    expect(await answer('/call/start', basic('ada', makeKey()))).not.toBe('Unauthorized');
    expect(logged()).toMatchObject([
      { level: 'error', outcome: 'failed', reason: 'ResourceNotFoundException', failed: 1 },
    ]);
  });
});

describe('a token of a role', () => {
  const serviceUrl = 'https://abc.execute-api.us-east-1.amazonaws.com/api';
  const arn = 'arn:aws:iam::123456789012:role/agent';
  let sts: FakeSts;
  let header: string;

  beforeEach(async () => {
    sts = await startSts();
    handler = await start({
      ...environment,
      IAM_SERVICE_URL: serviceUrl,
      IAM_PARTITION: 'aws',
      IAM_STS_URL: 'https://sts.us-east-1.amazonaws.com',
      AWS_ENDPOINT_URL_STS: sts.origin,
    });
    await grantRole(table, arn, { grants: [{ scope: '*', role: 'read' }] }, nowMicros());
    const credentials = sts.login('arn:aws:sts::123456789012:assumed-role/agent/session');
    header = `Bearer ${formatToken(String(await presign(credentials, { serviceUrl, origin: sts.origin })))}`;
  });

  afterEach(() => sts[Symbol.asyncDispose]());

  it('lets the role in, whose ARN is the user', async () => {
    const result = await handler(makeEvent(inference, { Authorization: [header] }));
    expect(fromContext(result.context)).toMatchObject({ user: arn, keyId: toRoleId(arn) });
    expect(logged()).toMatchObject([{ outcome: 'allowed', user: arn, keyId: toRoleId(arn) }]);
  });

  it('may be in x-api-key below /inference', async () => {
    const event = makeEvent(inference, { 'X-Api-Key': [header.replace('Bearer ', '')] });
    expect((await handler(event)).principalId).toBe(arn);
  });

  it('is a 401 if the role is revoked, and the log says whose it is', async () => {
    await revokeKey(table, toRoleId(arn), nowMicros());
    expect(await answer(inference, header)).toBe('Unauthorized');
    expect(logged()).toMatchObject([{ outcome: 'refused', reason: 'revoked role', user: arn }]);
  });

  it('is no 401 if STS is away, and shows in no log', async () => {
    sts.behave((_, res) => res.writeHead(503).end());
    expect(await answer(inference, header)).not.toBe('Unauthorized');
    expect(logged()).toMatchObject([{ outcome: 'failed', reason: 'StsError', failed: 1 }]);
    expect(JSON.stringify(logged())).not.toContain(header.slice(20, 60));
  });

  it('is a 401 without the setting', async () => {
    handler = await start({ ...environment, IAM_SERVICE_URL: undefined });
    expect(await answer(inference, header.slice(0, 2000))).toBe('Unauthorized');
    expect(logged()).toMatchObject([{ outcome: 'refused', reason: 'iam is off' }]);
  });
});

describe('the environment', () => {
  it('must name the table', async () => {
    await expect(start({ ...environment, KEYS_TABLE: undefined })).rejects.toThrow('KEYS_TABLE is not set');
  });
});
