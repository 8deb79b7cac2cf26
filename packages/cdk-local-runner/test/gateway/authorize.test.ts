import { describe, expect, it } from 'vitest';
import { allowsInvoke, authorizer } from '../../src/gateway/authorize.ts';
import type { GatewayRequest, Match } from '../../src/gateway/request.ts';
import { FunctionError, type Output } from '../../src/runtime/worker.ts';
import { allowsAccess, policySchema } from '../../src/template/stack.ts';

const api = { id: 'api', account: '000000000000', stage: 'live' };
const spec = {
  name: '',
  arn: '',
  folder: '',
  handler: '',
  environment: {},
  timeoutSeconds: 1,
  memoryMb: 128,
};
const found: Match = {
  route: { method: 'POST', path: '/call/{id}', function: spec, streaming: false, timeoutMs: 1000 },
  pathParameters: { id: '7' },
};

const request = (key: string, path = '/call/7'): GatewayRequest => ({
  id: 'r-1',
  method: 'POST',
  path,
  query: new URLSearchParams('a=1&a=2'),
  headers: [['Authorization', key]],
  sourceIp: '127.0.0.1',
  receivedAt: 0,
});

const policy = (Effect = 'Allow', Resource = '*') => ({
  Version: '2012-10-17',
  Statement: [{ Action: 'execute-api:Invoke', Effect, Resource }],
});

const allowed = {
  principalId: 'ada',
  policyDocument: policy(),
  context: { user: 'ada', age: 36, vip: true },
};

async function* json(value: unknown): Output {
  yield Buffer.from(JSON.stringify(value));
}

/**
 * An authorizer whose function answers with what it is given, or throws it; and the events that it
 * got.
 */
const asking = (answer: unknown, cacheSeconds = 60) => {
  const events: Record<string, unknown>[] = [];
  const clock = { ms: 0 };
  const authorize = authorizer({
    api,
    spec: { id: 'a', function: spec, identityHeaders: ['authorization'], cacheSeconds },
    lambda: {
      invoke: async (event) => {
        events.push(JSON.parse(event));
        if (answer instanceof Error) throw answer;
        return json(answer);
      },
    },
    now: () => clock.ms,
  });
  const ask = (key = 'key', path?: string) =>
    authorize(request(key, path), found, new AbortController().signal);
  return { authorize, ask, events, clock };
};

describe('an authorizer', () => {
  it('gets API Gateway’s event', async () => {
    const { ask, events } = asking(allowed);
    await ask();
    expect(events[0]).toMatchObject({
      type: 'REQUEST',
      methodArn: 'arn:aws:execute-api:us-east-1:000000000000:api/live/POST/call/7',
      resource: '/call/{id}',
      path: '/call/7',
      httpMethod: 'POST',
      headers: { Authorization: 'key' },
      multiValueHeaders: { Authorization: ['key'] },
      queryStringParameters: { a: '2' },
      multiValueQueryStringParameters: { a: ['1', '2'] },
      pathParameters: { id: '7' },
      requestContext: { requestId: 'r-1', resourcePath: '/call/{id}', stage: 'live' },
    });
  });

  it('returns the caller as strings', async () => {
    expect(await asking(allowed).ask()).toEqual({ principalId: 'ada', user: 'ada', age: '36', vip: 'true' });
  });

  it.each([[[]], [['']]])('is not called if the values of its header are %j', async (values) => {
    const { authorize, events } = asking(allowed);
    const headers = values.map((value): [string, string] => ['authorization', value]);
    const refused = authorize({ ...request('key'), headers }, found, new AbortController().signal);
    await expect(refused).rejects.toMatchObject({ type: 'UNAUTHORIZED' });
    expect(events).toEqual([]);
  });
});

describe('a request is refused', () => {
  const thrown = (message: string) => new FunctionError({ name: 'Error', message });

  it.each<[string, unknown, string]>([
    ['that is unauthorized', thrown('Unauthorized'), 'UNAUTHORIZED'],
    ['whose authorizer fails', thrown('unauthorized'), 'AUTHORIZER_FAILURE'],
    ['whose authorizer is too busy', new Error('busy'), 'AUTHORIZER_FAILURE'],
    ['that the policy denies', { ...allowed, policyDocument: policy('Deny') }, 'ACCESS_DENIED'],
    ['that the policy does not name', { ...allowed, policyDocument: policy('Allow', 'x') }, 'ACCESS_DENIED'],
    ['without a policy', { principalId: 'ada' }, 'AUTHORIZER_CONFIGURATION_ERROR'],
    ['with an object in the context', { ...allowed, context: { a: {} } }, 'AUTHORIZER_CONFIGURATION_ERROR'],
    ['with no answer', null, 'AUTHORIZER_CONFIGURATION_ERROR'],
  ])('%s', async (_what, answer, type) => {
    await expect(asking(answer).ask()).rejects.toMatchObject({ type });
  });
});

describe('an authorizer’s answer', () => {
  it('is cached for the same identity until it expires', async () => {
    const { ask, events, clock } = asking(allowed, 60);
    await ask('one');
    await ask('two');
    clock.ms = 59_999;
    expect(await ask('one')).toMatchObject({ user: 'ada' });
    expect(events).toHaveLength(2);
    clock.ms = 60_000;
    await ask('one');
    expect(events).toHaveLength(3);
  });

  it('is used once if nothing is cached', async () => {
    const { ask, events } = asking(allowed, 0);
    await ask();
    await ask();
    expect(events).toHaveLength(2);
  });

  it('is evaluated for each method again', async () => {
    const { ask, events } = asking({ ...allowed, policyDocument: policy('Allow', '*/call/7') });
    await ask('key', '/call/7');
    await expect(ask('key', '/call/8')).rejects.toMatchObject({ type: 'ACCESS_DENIED' });
    expect(events).toHaveLength(1);
  });

  it('is requested again after a failure', async () => {
    const { ask, events } = asking(new Error('busy'));
    await ask().catch(() => {});
    await ask().catch(() => {});
    expect(events).toHaveLength(2);
  });
});

const arn = 'arn:aws:execute-api:us-east-1:000000000000:api/live/POST/call/start';

const statement = (
  Effect: string,
  Resource: string | string[],
  Action: string | string[] = 'execute-api:Invoke',
) => ({
  Effect,
  Action,
  Resource,
});

const allows = (...Statement: object[]): boolean =>
  allowsInvoke(policySchema.parse({ Version: '2012-10-17', Statement }), arn);

describe('a policy lets a method be invoked', () => {
  it.each([
    arn,
    '*',
    'arn:aws:execute-api:us-east-1:000000000000:api/live/POST/*',
    'arn:aws:execute-api:*:*:*/live/*/call/*',
    'arn:aws:execute-api:us-east-1:000000000000:api/live/POST/call/star?',
  ])('by the resource %s', (resource) => {
    expect(allows(statement('Allow', resource))).toBe(true);
  });

  it('by one of several resources and actions', () => {
    expect(allows(statement('Allow', ['other', arn], ['s3:GetObject', 'execute-api:*']))).toBe(true);
  });
});

describe('a policy does not let it be invoked', () => {
  it.each([
    'arn:aws:execute-api:us-east-1:000000000000:api/live/GET/*',
    'arn:aws:execute-api:us-east-1:000000000000:api/live/POST/call/star',
    'arn:aws:execute-api:us-east-1:000000000000:api/live/POST/call/start/*',
    'arn.aws.execute-api.us-east-1.000000000000.api/live/POST/call/start',
    '',
  ])('by the resource %s', (resource) => {
    expect(allows(statement('Allow', resource))).toBe(false);
  });

  it('without a statement', () => {
    expect(allows()).toBe(false);
  });

  it('where another statement denies it', () => {
    expect(allows(statement('Allow', '*'), statement('Deny', arn))).toBe(false);
  });

  it('by another action', () => {
    expect(allows(statement('Allow', '*', 'execute-api:ManageConnections'))).toBe(false);
  });
});

it('A statement with a condition is not treated as one without', () => {
  const conditional = { ...statement('Allow', '*'), Condition: { Bool: { 'aws:SecureTransport': 'true' } } };
  expect(policySchema.safeParse({ Statement: [conditional] }).success).toBe(false);
});

describe('A condition', () => {
  const narrow = policySchema.parse({
    Statement: [
      {
        Effect: 'Allow',
        Action: 'dynamodb:UpdateItem',
        Resource: '*',
        Condition: {
          'ForAllValues:StringEquals': { 'dynamodb:Attributes': ['id', 'usedOn'] },
          StringEqualsIfExists: { 'dynamodb:ReturnValues': 'NONE' },
        },
      },
    ],
  });

  it.each([
    ['all of its values', { 'dynamodb:Attributes': ['usedOn', 'id'] }, true],
    ['some of its values', { 'dynamodb:Attributes': ['id'], 'dynamodb:ReturnValues': ['NONE'] }, true],
    ['one value more', { 'dynamodb:Attributes': ['id', 'grants'] }, false],
    ['another value of the other key', { 'dynamodb:ReturnValues': ['ALL_NEW'] }, false],
    ['no value', {}, true],
  ] as const)('is held against %s', (_, context, isAllowed) => {
    const access = { action: 'dynamodb:UpdateItem', resource: 'arn:table', context };
    expect(allowsAccess([narrow], access)).toBe(isAllowed);
  });
});
