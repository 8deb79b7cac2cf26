import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeTokens } from '../../../../examples/iam-token.ts';
import { authenticate, type KeyStore } from '../../../../foundations/auth/authenticate.ts';
import { type Grant, parseGrant } from '../../../../foundations/auth/grants.ts';
import { parseRoleArn, type RoleArn, toRoleId } from '../../../../foundations/auth/iam-role.ts';
import { formatToken } from '../../../../foundations/auth/iam-token.ts';
import {
  addRoleGrant,
  formatKey,
  grantRole,
  listKeys,
  makeKey,
  removeRoleGrant,
  revokeKey,
} from '../../../../foundations/auth/keys.ts';
import { makeFindRole, StsError } from '../../../../foundations/auth/sts.ts';
import { createStores } from '../../../support/service/stores.ts';
import {
  type FakeSts,
  presign,
  startSts,
  type TestCredentials,
  type TokenParts,
} from '../../../support/service/sts.ts';

const serviceUrl = 'https://abc.execute-api.us-east-1.amazonaws.com/api';
const account = '123456789012';

const toGrant = (text: string): Grant => {
  const grant = parseGrant(text);
  if (!grant) throw new Error(`${text} is no grant`);
  return grant;
};
const write = [toGrant('acme/shop:write')];

let sts: FakeSts;
let keys: KeyStore;
let number = 0;

const findRole = () =>
  makeFindRole({ serviceUrl, partition: 'aws', endpoints: [{ origin: sts.origin, region: 'us-east-1' }] });

beforeAll(async () => {
  const { dynamodb, keysTable } = await createStores();
  sts = await startSts();
  keys = { table: { client: dynamodb, name: keysTable } };
});

beforeEach(() => {
  sts.behave();
  // What it remembers is a container's.
  keys = { ...keys, findRole: findRole() };
});

afterAll(() => sts[Symbol.asyncDispose]());

const micros = () => Date.now() * 1000;

/** The ARN of a role that no other test has. */
const newRole = (): RoleArn => {
  const arn = parseRoleArn(`arn:aws:iam::${account}:role/agent-${number++}`);
  if (!arn) throw new Error('no role');
  return arn;
};

const login = (role: RoleArn): TestCredentials =>
  sts.login(`arn:aws:sts::${account}:assumed-role/${role.split('/')[1]}/lambda@1`);

/** A role that may write to a project, with its credentials. */
const grantedRole = async () => {
  const role = newRole();
  await grantRole(keys.table, role, { grants: write }, micros());
  return { role, credentials: login(role) };
};

const sign = async (credentials: TestCredentials, parts: Partial<TokenParts> = {}) =>
  formatToken(String(await presign(credentials, { serviceUrl, origin: sts.origin, ...parts })));

const ask = (token: string, now = micros()) => authenticate(`Bearer ${token}`, 'any', keys, now);

const getReason = async (token: string) => {
  const result = await ask(token);
  return 'refusal' in result ? result.refusal : 'allowed';
};

describe('a role that signs', () => {
  it('is the caller, with its grants, until its token expires', async () => {
    const { role, credentials } = await grantedRole();
    const signedAt = new Date(Math.floor(Date.now() / 1000) * 1000);
    expect(await ask(await sign(credentials, { seconds: 600, signedAt }))).toEqual({
      caller: {
        user: role,
        keyId: toRoleId(role),
        grants: write,
        expiresAt: signedAt.getTime() * 1000 + 600_000_000,
      },
    });
  });

  it('may use Basic, with api as the user name', async () => {
    const { role, credentials } = await grantedRole();
    const token = await sign(credentials);
    const basic = (user: string) => `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`;
    expect(await authenticate(basic('api'), 'basic', keys, micros())).toMatchObject({
      caller: { user: role },
    });
    expect(await authenticate(basic('eve'), 'basic', keys, micros())).toMatchObject({
      refusal: 'wrong user',
    });
  });

  it('makes tokens by the example of the documents, one for many requests', async () => {
    const { role, credentials } = await grantedRole();
    const getToken = makeTokens({ url: serviceUrl, region: 'us-east-1', credentials, sts: sts.origin });
    const token = await getToken();
    expect(await ask(token)).toMatchObject({ caller: { user: role } });
    expect(await getToken()).toBe(token);
  });

  it('has STS asked once for many requests', async () => {
    const { credentials } = await grantedRole();
    const token = await sign(credentials);
    const before = sts.requests.length;
    for (let i = 0; i < 5; i++) expect(await ask(token)).toHaveProperty('caller');
    expect(sts.requests.length - before).toBe(1);
  });

  it('is refused without the setting', async () => {
    const { credentials } = await grantedRole();
    const { findRole: _, ...off } = keys;
    const token = await sign(credentials, { seconds: 60 });
    // The longest header without the setting.
    const header = `Bearer ${token.slice(0, 2000)}`;
    expect(await authenticate(header, 'any', off, micros())).toEqual({ refusal: 'iam is off' });
    expect(await authenticate(`Bearer ${token}`, 'any', off, micros())).toHaveProperty('refusal');
  });
});

/** A URL with another parameter. */
const withQuery = (name: string, value: string | undefined) => (url: URL) => {
  if (value === undefined) url.searchParams.delete(name);
  else url.searchParams.set(name, value);
  return String(url);
};

/** Changes of a good presigned URL, the reason of the refusal, and whether STS has to see it. */
const attacks: readonly [string, string, (url: URL) => string, 'asks STS'?][] = [
  [
    'another signature',
    'refused by STS: SignatureDoesNotMatch',
    withQuery('X-Amz-Signature', 'f'.repeat(64)),
    'asks STS',
  ],
  [
    'a longer life than was signed',
    'refused by STS: SignatureDoesNotMatch',
    withQuery('X-Amz-Expires', '899'),
    'asks STS',
  ],
  [
    "another session's token",
    'refused by STS: InvalidClientTokenId',
    withQuery('X-Amz-Security-Token', 'other'),
    'asks STS',
  ],
  [
    'an unknown access key',
    'refused by STS: InvalidClientTokenId',
    (url) => String(url).replace(/ASIA\w+/, 'ASIAUNKNOWNUNKNOWN'),
    'asks STS',
  ],
  ['another action', 'malformed token', withQuery('Action', 'GetSessionToken')],
  ['a second action', 'malformed token', (url) => `${url}&Action=GetSessionToken`],
  ['another version', 'malformed token', withQuery('Version', '2012-01-01')],
  ['a parameter that nobody knows', 'malformed token', withQuery('RoleArn', 'arn')],
  ['a name of every object', 'malformed token', withQuery('constructor', 'x')],
  [
    'the credentials of another service',
    'malformed token',
    (url) => String(url).replace('%2Fsts%2F', '%2Fs3%2F'),
  ],
  ['another algorithm', 'malformed token', withQuery('X-Amz-Algorithm', 'AWS4-ECDSA-P256-SHA256')],
  ['no signature', 'malformed token', withQuery('X-Amz-Signature', undefined)],
  ['no date', 'malformed token', withQuery('X-Amz-Date', undefined)],
  ['no date of any day', 'malformed token', withQuery('X-Amz-Date', '20261399T000000Z')],
  ['a date of another day than the scope', 'malformed token', withQuery('X-Amz-Date', '20200101T000000Z')],
  ['no life', 'malformed token', withQuery('X-Amz-Expires', undefined)],
  ['a life of no number', 'malformed token', withQuery('X-Amz-Expires', '1e3')],
  ['a path', 'malformed token', (url) => String(url).replace('/?', '/a?')],
  ['a fragment', 'malformed token', (url) => `${url}#a`],
  ['a user', 'malformed token', (url) => String(url).replace('://', '://user@')],
  ['a line break', 'malformed token', (url) => `${url}\r\nhost: evil`],
  [
    'a host of the caller',
    'token for another STS',
    (url) => String(url).replace(url.host, 'sts.evil.example'),
  ],
  [
    'a host that begins like STS',
    'token for another STS',
    (url) => String(url).replace(url.host, `${url.hostname}.evil.example`),
  ],
  ['another port', 'token for another STS', (url) => String(url).replace(url.host, `${url.hostname}:1`)],
  ['another scheme', 'token for another STS', (url) => String(url).replace('http:', 'https:')],
  ['a file', 'malformed token', () => 'file:///etc/passwd'],
  ['another region', 'token for another STS', (url) => String(url).replace('us-east-1', 'eu-west-1')],
  ['the service not signed', 'token without x-pennytrace-service', withQuery('X-Amz-SignedHeaders', 'host')],
  ['no session, as a user', 'token of no role', withQuery('X-Amz-Security-Token', undefined)],
  ['an hour of life', 'token valid for too long', withQuery('X-Amz-Expires', '3600')],
  ['901 seconds of life', 'token valid for too long', withQuery('X-Amz-Expires', '901')],
  ['nothing', 'malformed token', () => ''],
];

describe('a forged token', () => {
  it.each(attacks)('with %s is refused: %s', async (_, reason, forge, asks) => {
    const { credentials } = await grantedRole();
    const url = await presign(credentials, { serviceUrl, origin: sts.origin });
    const before = sts.requests.length;
    expect(await getReason(formatToken(forge(url)))).toBe(reason);
    expect(sts.requests.length - before).toBe(asks ? 1 : 0);
  });

  it('is refused if it is for another service, though its signature is good', async () => {
    const { credentials } = await grantedRole();
    const token = await sign(credentials, { serviceUrl: 'https://other.example.com' });
    expect(await getReason(token)).toBe('refused by STS: SignatureDoesNotMatch');
  });

  it.each([
    ['a header more', { 'x-pennytrace-service': serviceUrl, 'x-other': '1' }],
    ['a header of another name', { 'x-pennytrace-services': serviceUrl }],
    ['no header', {}],
  ])('is refused if it signs %s', async (_, headers) => {
    const { credentials } = await grantedRole();
    expect(await getReason(await sign(credentials, { headers }))).toBe('token without x-pennytrace-service');
  });

  it('is refused before its time and after it', async () => {
    const { credentials } = await grantedRole();
    const at = (minutes: number) => ({ signedAt: new Date(Date.now() + minutes * 60_000), seconds: 600 });
    expect(await getReason(await sign(credentials, at(6)))).toBe('token from the future');
    expect(await getReason(await sign(credentials, at(4)))).toBe('allowed');
    expect(await getReason(await sign(credentials, at(-9)))).toBe('allowed');
    expect(await getReason(await sign(credentials, at(-11)))).toBe('expired token');
  });

  it('is refused after its time, though the role is remembered', async () => {
    const { credentials } = await grantedRole();
    const token = await sign(credentials, { seconds: 60 });
    expect(await ask(token)).toHaveProperty('caller');
    expect(await ask(token, micros() + 61_000_000)).toEqual({ refusal: 'expired token' });
  });

  it('is refused in another encoding, and if it is too long', async () => {
    const { credentials } = await grantedRole();
    const token = await sign(credentials);
    expect(await getReason(`${token}=`)).toBe('malformed token');
    expect(await getReason(`${token}A`)).toBe('malformed token');
    const long = await presign(credentials, { serviceUrl, origin: sts.origin });
    long.searchParams.set('X-Amz-Security-Token', 'a'.repeat(4000));
    expect(await getReason(formatToken(String(long)))).toBe('malformed token');
    expect(await getReason(formatToken('a'.repeat(7000)))).toBe('malformed header');
  });

  it('has STS asked once for the same bad token', async () => {
    const { credentials } = await grantedRole();
    const url = await presign(credentials, { serviceUrl, origin: sts.origin });
    const token = formatToken(withQuery('X-Amz-Signature', '0'.repeat(64))(url));
    const before = sts.requests.length;
    for (let i = 0; i < 5; i++) expect(await getReason(token)).toMatch('SignatureDoesNotMatch');
    expect(sts.requests.length - before).toBe(1);
  });
});

describe('a signer that is no granted role', () => {
  it.each([
    [`arn:aws:iam::${account}:root`, 'token of no role'],
    [`arn:aws:sts::${account}:federated-user/agent`, 'token of no role'],
    ['arn:aws-cn:sts::123456789012:assumed-role/agent/session', 'role of another partition'],
    ['arn:aws:sts::210987654321:assumed-role/agent-0/session', 'unknown role'],
    [`arn:aws:sts::${account}:assumed-role/nobody/session`, 'unknown role'],
  ])('is refused: %s', async (arn, reason) => {
    expect(await getReason(await sign(sts.login(arn)))).toBe(reason);
  });

  it('is named in the log, so that the operator can grant it something', async () => {
    const role = newRole();
    expect(await ask(await sign(login(role)))).toEqual({
      refusal: 'unknown role',
      keyId: toRoleId(role),
      user: role,
    });
  });

  it('is refused if it is a user with lasting credentials', async () => {
    expect(await getReason(await sign(sts.login(`arn:aws:iam::${account}:user/ada`)))).toBe(
      'token of no role',
    );
  });
});

describe('an STS that does not answer as it should', () => {
  const html = '<html>'.repeat(10);
  it.each<[string, Parameters<FakeSts['behave']>[0]]>([
    ['answers a page', (_, res) => res.writeHead(200).end(html)],
    ['refuses with a page, as a proxy does', (_, res) => res.writeHead(403).end(html)],
    ['redirects', (_, res) => res.writeHead(302, { location: `${sts.origin}/other` }).end()],
    ['answers JSON without an identity', (_, res) => res.writeHead(200).end('{"a": []}')],
    ['answers null', (_, res) => res.writeHead(200).end('null')],
    ['answers 1 MB', (_, res) => res.writeHead(200).end(`{"a": "${'x'.repeat(1_000_000)}"}`)],
    ['fails', (_, res) => res.writeHead(503).end('{"Error": {"Code": "ServiceUnavailable"}}')],
    ['has too much to do', (_, res) => res.writeHead(400).end('{"Error": {"Code": "Throttling"}}')],
    ['breaks off', (req) => req.socket.destroy()],
    ['breaks off an answer', (req, res) => res.writeHead(200).write('{', () => req.socket.destroy())],
    ['hangs', () => {}],
    ['hangs in an answer', (_, res) => res.writeHead(200).write('{')],
  ])(
    'is an error and says nothing of the token, and the next request asks again: %s',
    async (_, behaviour) => {
      const { credentials } = await grantedRole();
      const token = await sign(credentials);
      const before = sts.requests.length;
      sts.behave(behaviour);
      await expect(ask(token)).rejects.toThrow(StsError);
      expect(sts.requests.length - before).toBe(1);
      sts.behave();
      expect(await ask(token)).toHaveProperty('caller');
    },
  );
});

describe('what a role is granted', () => {
  const find = async (role: RoleArn) => (await listKeys(keys.table)).find(({ user }) => user === role);

  it('is listed like a key, and no key opens it', async () => {
    const { role } = await grantedRole();
    const id = toRoleId(role);
    expect(await find(role)).toMatchObject({ id, user: role, grants: write });
    const guess = formatKey({ ...makeKey(), id });
    expect(await authenticate(`Bearer ${guess}`, 'any', keys, micros())).toMatchObject({
      refusal: 'wrong secret',
    });
  });

  it('is no more when it is revoked, and again when it is granted anew', async () => {
    const { role, credentials } = await grantedRole();
    const token = await sign(credentials);
    await revokeKey(keys.table, toRoleId(role), micros());
    expect(await getReason(token)).toBe('revoked role');
    await grantRole(keys.table, role, { grants: [{ scope: 'acme/*', role: 'read' }] }, micros());
    expect(await ask(token)).toMatchObject({ caller: { grants: [{ scope: 'acme/*', role: 'read' }] } });
  });

  it('expires when it is said to, if that is before the token does', async () => {
    const { role, credentials } = await grantedRole();
    const expiresAt = micros() + 60_000_000;
    await grantRole(keys.table, role, { grants: write, expiresAt, limits: { usdPerDay: 1 } }, micros());
    const token = await sign(credentials);
    expect(await ask(token)).toMatchObject({ caller: { expiresAt, limits: { usdPerDay: 1 } } });
    expect(await ask(token, expiresAt)).toMatchObject({ refusal: 'expired role' });
    await grantRole(keys.table, role, { grants: write }, micros());
    expect(await find(role)).not.toHaveProperty('expiresAt');
    expect(await find(role)).not.toHaveProperty('limits');
  });

  it('has what deployments grant beside it, each until it is taken away', async () => {
    const role = newRole();
    const add = (name: string, scope: 'acme/shop' | 'acme/other') =>
      addRoleGrant(keys.table, role, name, toGrant(`${scope}:write`), micros());
    const scopes = async () => (await find(role))?.grants.map(({ scope }) => scope);
    await add('one', 'acme/shop');
    await add('one', 'acme/shop');
    await add('two', 'acme/shop');
    await add('three', 'acme/other');
    expect((await scopes())?.toSorted()).toEqual(['acme/other', 'acme/shop']);
    await grantRole(keys.table, role, { grants: [{ scope: 'acme/*', role: 'read' }] }, micros());
    await removeRoleGrant(keys.table, toRoleId(role), 'one');
    expect((await scopes())?.toSorted()).toEqual(['acme/*', 'acme/other', 'acme/shop']);
    await removeRoleGrant(keys.table, toRoleId(role), 'two');
    await removeRoleGrant(keys.table, toRoleId(role), 'two');
    expect((await scopes())?.toSorted()).toEqual(['acme/*', 'acme/other']);
  });

  it('is not added to by deployments while it is revoked', async () => {
    const { role } = await grantedRole();
    await revokeKey(keys.table, toRoleId(role), micros());
    await expect(addRoleGrant(keys.table, role, 'one', toGrant('acme/shop:write'), micros())).rejects.toThrow(
      'was revoked',
    );
  });

  it('is refused if it is nothing any more', async () => {
    const role = newRole();
    await addRoleGrant(keys.table, role, 'one', toGrant('acme/shop:write'), micros());
    await removeRoleGrant(keys.table, toRoleId(role), 'one');
    expect(await getReason(await sign(login(role)))).toBe('role without grants');
  });

  it('has a bound, which neither operator nor deployment passes', async () => {
    const role = newRole();
    const many = Array.from({ length: 50 }, (_, i) => toGrant(`acme/p${i}:read`));
    await grantRole(keys.table, role, { grants: many }, micros());
    await expect(addRoleGrant(keys.table, role, 'one', toGrant('acme/shop:write'), micros())).rejects.toThrow(
      'too many grants',
    );
    expect((await find(role))?.grants).toEqual(many);
    await grantRole(keys.table, role, { grants: many.slice(1) }, micros());
    await addRoleGrant(keys.table, role, 'one', toGrant('acme/shop:write'), micros());
    await expect(grantRole(keys.table, role, { grants: many }, micros())).rejects.toThrow('too many grants');
  });
});
