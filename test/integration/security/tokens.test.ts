import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { localRegion } from 'cdk-local-runner/template';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parseMember, setMember } from '../../../foundations/auth/index.ts';
import { requestBudget, type Table } from '../../../foundations/storage/index.ts';
import { getTableName } from '../../../local/stack.ts';
import { newName } from '../../support/run/new-name.ts';
import {
  encodePart,
  makeIssuerKey,
  sendJson,
  signToken,
  startIssuer,
  type TestIssuer,
  type TokenParts,
} from '../../support/service/issuer.ts';
import { startService, type TestService } from '../../support/service/service.ts';
import { signInSettings } from '../../support/stack/every-setting.ts';

/*
 * Tokens of people, over HTTP, from an issuer that does as it is told.
 */

let issuer: TestIssuer;
let service: TestService;
let table: Table;

beforeAll(async () => {
  issuer = await startIssuer();
  service = await startService({ settings: { signIn: signInSettings }, signIn: issuer.settings });
  const { dynamodb: endpoint, credentials, stack } = service;
  const client = new DynamoDBClient({ region: localRegion, credentials, endpoint });
  table = { client, name: getTableName(stack, 'keys') };
});

afterAll(async () => {
  table.client.destroy();
  await service?.stop();
  await issuer?.[Symbol.asyncDispose]();
});

const ask = async (token: string, path = '/me', init: RequestInit = {}) => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await fetch(service.url + path, { ...init, headers: { ...headers, ...init.headers } });
  return { status: answer.status, text: await answer.text() };
};

const me = async (parts: TokenParts = {}) => {
  const { status, text } = await ask(issuer.token(parts));
  return { status, body: JSON.parse(text) };
};

/** Why the authorizer refused the last token. */
const lastReason = (): unknown =>
  JSON.parse(service.logged.findLast((line) => line.startsWith('authorizer: '))?.slice(12) ?? '{}').reason;

const give = async (
  member: string,
  scope: `${string}/${string}`,
  ...roles: ('read' | 'write' | 'admin')[]
) => {
  const parsed = parseMember(member);
  if (!parsed) throw new Error(`no member: ${member}`);
  const membership = { member: parsed, scope: scope as never, roles };
  await setMember(table, membership, Date.now() * 1000, requestBudget(10_000));
};

const seconds = () => Math.floor(Date.now() / 1000);
const stranger = makeIssuerKey();

/** Tokens that a stranger may send, and why each is refused: `wrong scheme` is what has not the form of a token. */
const bad: Readonly<Record<string, readonly [reason: string, make: () => string]>> = {
  'with alg none': ['wrong scheme', () => issuer.token({ header: { alg: 'none' } })],
  'with alg None': ['malformed token', () => issuer.token({ header: { alg: 'None' } })],
  'with HS256 by the public key': ['malformed token', () => issuer.token({ header: { alg: 'HS256' } })],
  'with RS512': ['malformed token', () => issuer.token({ header: { alg: 'RS512' } })],
  'with alg as a list': ['malformed token', () => issuer.token({ header: { alg: ['RS256'] } })],
  'with another alg than its key has': [
    'token of an unknown key',
    () => issuer.token({ header: { alg: 'ES256' } }),
  ],
  'of another issuer': [
    'token of another issuer',
    () => issuer.token({ claims: { iss: 'https://evil.example' } }),
  ],
  'without an issuer': ['token of another issuer', () => issuer.token({ claims: { iss: undefined } })],
  'of several issuers': ['token of another issuer', () => issuer.token({ claims: { iss: [issuer.url] } })],
  'for another client': [
    'token for another client',
    () => issuer.token({ claims: { aud: 'other', client_id: 'other' } }),
  ],
  'for something else on the same host': [
    'token for another client',
    () => issuer.token({ claims: { aud: `${service.url}/mcp/`, client_id: 'other' } }),
  ],
  'for a list without the client': [
    'token for another client',
    () => issuer.token({ claims: { aud: ['other', 'pennytrace2'], client_id: 'other', azp: 'other' } }),
  ],
  'for a client in an object': [
    'token for another client',
    () => issuer.token({ claims: { aud: { pennytrace: true }, client_id: ['pennytrace'] } }),
  ],
  'that is an ID token': [
    'token of another kind',
    () =>
      issuer.token({
        header: { typ: 'JWT' },
        claims: { scope: undefined, client_id: undefined, nonce: 'n' },
      }),
  ],
  'that is an ID token by token_use': [
    'token of another kind',
    () => issuer.token({ claims: { token_use: 'id' } }),
  ],
  'of an unknown use': ['token of another kind', () => issuer.token({ claims: { token_use: 'refresh' } })],
  expired: ['expired token', () => issuer.token({ claims: { exp: seconds() - 1 } })],
  'long expired': ['expired token', () => issuer.token({ claims: { exp: 1 } })],
  'without an expiry': ['token without an expiry', () => issuer.token({ claims: { exp: undefined } })],
  'with an expiry that is no number': [
    'token without an expiry',
    () => issuer.token({ claims: { exp: '9999999999' } }),
  ],
  'not yet valid': ['token from the future', () => issuer.token({ claims: { nbf: seconds() + 3600 } })],
  'of an unknown key': ['token of an unknown key', () => issuer.token({ header: { kid: 'no-such-key' } })],
  "of a stranger's key under the issuer's id": [
    'token with a wrong signature',
    () => issuer.token({ key: { ...stranger, kid: issuer.key.kid } }),
  ],
  'without a key id': ['token without a key id', () => issuer.token({ header: { kid: undefined } })],
  'with an empty key id': ['token without a key id', () => issuer.token({ header: { kid: '' } })],
  'with a key id that is a path': [
    'token of an unknown key',
    () => issuer.token({ header: { kid: '../keys' } }),
  ],
  'with a long key id': ['token without a key id', () => issuer.token({ header: { kid: 'k'.repeat(300) } })],
  'with critical extensions': [
    'unusable token',
    () => issuer.token({ header: { crit: ['exp'], exp: 9_999_999_999 } }),
  ],
  'with an unencoded payload': [
    'unusable token',
    () => issuer.token({ header: { crit: ['b64'], b64: false } }),
  ],
  'with its own key beside it': [
    'token of an unknown key',
    () => issuer.token({ key: stranger, header: { jwk: stranger.jwk } }),
  ],
  'with the URL of its own keys': [
    'token of an unknown key',
    () => issuer.token({ key: stranger, header: { jku: `${issuer.url}/evil`, x5u: `${issuer.url}/evil` } }),
  ],
  'without a subject': ['token without a subject', () => issuer.token({ claims: { sub: undefined } })],
  'with an empty subject': ['token without a subject', () => issuer.token({ claims: { sub: '' } })],
  'with a subject that is a list': [
    'token without a subject',
    () => issuer.token({ claims: { sub: ['a'] } }),
  ],
  'with an endless subject': [
    'token without a subject',
    () => issuer.token({ claims: { sub: 'a'.repeat(500) } }),
  ],
  'with a changed payload': [
    'token with a wrong signature',
    () => {
      const [header, , signature] = issuer.token().split('.');
      return [header, encodePart({ iss: issuer.url, exp: seconds() + 300 }), signature].join('.');
    },
  ],
  'with an empty signature': ['wrong scheme', () => issuer.token().replace(/[^.]+$/, '')],
  'with a short signature': ['token with a wrong signature', () => issuer.token().replace(/[^.]+$/, 'AAAA')],
  'with bits that encode nothing': [
    'malformed token',
    // A signature of 256 bytes ends with a digit of two bits.
    () => issuer.token().replace(/.$/, (last) => ({ A: 'B', Q: 'R', g: 'h', w: 'x' })[last] ?? 'B'),
  ],
  'with padding': ['wrong scheme', () => issuer.token().replaceAll('.', '=.')],
  'whose header is no JSON': ['malformed token', () => `${encodePart('{')}.${encodePart({})}.AAAA`],
  'whose header is a list': ['malformed token', () => `${encodePart(['RS256'])}.${encodePart({})}.AAAA`],
  'whose payload is no JSON': [
    'unusable token',
    () => signToken({ alg: 'RS256', kid: issuer.key.kid }, '{"iss":', issuer.key),
  ],
  'whose payload is a list': [
    'unusable token',
    () => signToken({ alg: 'RS256', kid: issuer.key.kid }, [{}], issuer.key),
  ],
  'of two parts': ['wrong scheme', () => issuer.token().split('.').slice(0, 2).join('.')],
  'of five parts, as if encrypted': ['wrong scheme', () => `${issuer.token()}.AAAA.AAAA`],
  'of 8,000 characters': [
    'token with a wrong signature',
    () => issuer.token({ claims: { fill: 'x'.repeat(5000) } }).replace(/[^.]+$/, 'AAAA'),
  ],
  'of 9,000 characters': ['malformed header', () => issuer.token({ claims: { fill: 'x'.repeat(6000) } })],
};

describe('a token', () => {
  it.each(Object.entries(bad))('%s is a 401, and the log says why', async (_, [reason, make]) => {
    const token = make();
    const answer = await ask(token);
    expect(answer.status).toBe(401);
    expect(lastReason()).toBe(reason);
    expect(answer.text).not.toContain(reason);
    expect(service.logged.at(-1)).not.toContain(token.slice(0, 40));
  });

  it('that is good opens the same route', async () => {
    expect(await me()).toMatchObject({ status: 200, body: { kind: 'person', user: 'ada@example.com' } });
  });

  it('too large for the gateway is refused, and by no failure', async () => {
    const { status } = await ask(issuer.token({ claims: { fill: 'x'.repeat(30_000) } }));
    expect([400, 401, 413, 431]).toContain(status);
  });

  it('comes once: two headers, be both of them good, are a 401', async () => {
    const authorization = `Bearer ${issuer.token()}, Bearer ${issuer.token()}`;
    expect(await ask('', '/me', { headers: { authorization } })).toMatchObject({ status: 401 });
  });

  it('is no password: browsers add Basic by themselves', async () => {
    const authorization = `Basic ${btoa(`api:${issuer.token().slice(0, 900)}`)}`;
    expect(await ask('', '/me', { headers: { authorization } })).toMatchObject({ status: 401 });
  });

  it.each([
    ['a list with the client as its audience', { aud: ['account', 'pennytrace'], client_id: undefined }],
    ['the client as azp', { aud: 'account', client_id: undefined, azp: 'pennytrace' }],
    ['the client as client_id', { aud: 'https://api.example.com' }],
    ['no audience, and the client as client_id', { aud: undefined }],
    ['token_use access', { token_use: 'access', scope: undefined }],
    ['scp in place of scope', { scope: undefined, client_id: undefined, scp: ['read'] }],
    ['an expiry beyond all time', { exp: 1e300 }],
    ['a start in the present', { nbf: seconds() }],
  ])('may have %s', async (_, claims) => {
    expect(await me({ claims })).toMatchObject({ status: 200, body: { user: 'ada@example.com' } });
  });

  it('may be of any client, if it is for /mcp of this service', async () => {
    const claims = { aud: [`${service.url}/mcp`], client_id: 'agent', azp: 'agent' };
    expect(await me({ claims })).toMatchObject({ status: 200, body: { user: 'ada@example.com' } });
  });
});

describe('who a person is', () => {
  it.each([
    ['an address in lower case', { email: 'Ada@Example.COM' }, 'ada@example.com'],
    ['the subject, if the address is not verified', { email_verified: false }, 'subject-1'],
    ['the subject, if nobody says that it is verified', { email_verified: undefined }, 'subject-1'],
    ['the subject, if only a text says so', { email_verified: 'true' }, 'subject-1'],
    ['the subject, if there is no address', { email: undefined }, 'subject-1'],
    ['the subject, if the address is none', { email: 'ada' }, 'subject-1'],
    ['the subject, if the address is a group', { email: 'group:operators' }, 'subject-1'],
    [
      'no address that a subject pretends to be',
      { email: undefined, sub: 'ada@example.com' },
      'ada%40example.com',
    ],
    ['a subject with its colons encoded', { email: undefined, sub: 'urn:x:1' }, 'urn%3Ax%3A1'],
  ])('is %s', async (_, claims, user) => {
    expect(await me({ claims })).toMatchObject({ status: 200, body: { user } });
  });

  it('has a name if the token has one, and an id in the form of a key’s', async () => {
    const { body } = await me({ claims: { name: 'Ada Lovelace' } });
    expect(body).toMatchObject({
      kind: 'person',
      name: 'Ada Lovelace',
      key_id: expect.stringMatching(/^[0-9a-z]{16}$/),
    });
    expect((await me({ claims: { name: 'a\nb' } })).body.name).toBeUndefined();
  });
});

describe('what a person may do', () => {
  it('is nothing at first, and GET /me says so', async () => {
    const email = `${newName('nobody').replace('/', '.')}@example.com`;
    const { status, body } = await me({ claims: { email } });
    expect(status).toBe(200);
    expect(body.grants).toEqual([]);
    const query = { method: 'POST', body: JSON.stringify({ project_id: 'acme/shop' }) };
    const answer = await ask(issuer.token({ claims: { email } }), '/calls/stream_query', query);
    expect(answer.status).toBe(403);
  });

  it('is what the person and the groups are granted, each once', async () => {
    await give('eve@example.com', 'acme/shop', 'read');
    await give('group:Support', 'acme/*', 'write');
    await give('group:support', 'umbrella/*', 'admin');
    const { body } = await me({
      claims: { email: 'eve@example.com', groups: ['Support', 'Support', 7, ''] },
    });
    expect(body.grants).toEqual([{ resource: 'acme/*', role: 'write' }]);
  });

  it('counts 99 groups, and no more', async () => {
    await give('group:g98', 'acme/last', 'read');
    await give('group:g99', 'acme/over', 'read');
    const groups = Array.from({ length: 200 }, (_, i) => `g${i}`);
    const { body } = await me({ claims: { email: 'many@example.com', groups } });
    expect(body.grants).toEqual([{ resource: 'acme/last', role: 'read' }]);
  });

  it('is everything for who is in admins, by a verified address or a group', async () => {
    const all = [{ resource: '*', role: 'admin' }];
    expect((await me({ claims: { email: 'Root@example.com' } })).body.grants).toEqual(all);
    expect((await me({ claims: { email: 'x@example.com', groups: ['operators'] } })).body.grants).toEqual(
      all,
    );
    const unverified = { email: 'root@example.com', email_verified: false };
    expect((await me({ claims: unverified })).body.grants).toEqual([]);
    expect((await me({ claims: { email: 'x@example.com', groups: ['Operators'] } })).body.grants).toEqual([]);
  });

  it('is not what an address was granted that nobody has verified', async () => {
    await give('ida@example.com', 'acme/shop', 'admin');
    const unverified = { email: 'ida@example.com', email_verified: false };
    expect((await me({ claims: unverified })).body.grants).toEqual([]);
    expect((await me({ claims: { email: 'ida@example.com' } })).body.grants).toHaveLength(1);
  });

  it('ends within the time of the cache once a member is removed', async () => {
    await give('leaver@example.com', 'acme/shop', 'read');
    const ofLeaver = () => me({ claims: { email: 'leaver@example.com', jti: String(Math.random()) } });
    expect((await ofLeaver()).body.grants).toHaveLength(1);
    await give('leaver@example.com', 'acme/shop');
    // Another token is another name in the gateway's cache, and the function reads members anew.
    expect((await ofLeaver()).body.grants).toEqual([]);
  });
});

describe('the user of a key', () => {
  const admin = () => issuer.token({ claims: { email: 'root@example.com' } });
  const makeKeyOf = (user: string, authorization = `Bearer ${admin()}`) =>
    ask('', '/keys/create', {
      method: 'POST',
      headers: { authorization },
      body: JSON.stringify({ user, grants: ['acme/shop:read'] }),
    });

  it.each([
    ['a member', 'colleague@example.com'],
    ['somebody whom nobody knows', 'stranger@example.com'],
    ['a colleague in other letters', 'COLLEAGUE@Example.com'],
    ['a colleague in wide letters', 'colleague＠example.com'],
  ])('is not the address of %s', async (_, user) => {
    await give('colleague@example.com', 'acme/shop', 'read');
    const { status, text } = await makeKeyOf(user);
    expect(status).toBe(422);
    expect(JSON.parse(text).detail).toEqual([
      {
        loc: ['body', 'user'],
        msg: 'should be no e-mail address but your own: name what the key is for, such as ci; a colleague signs in to make a key',
        type: 'value_error',
      },
    ]);
  });

  it('is not an address for a key with the role admin either', async () => {
    const { status } = await makeKeyOf('colleague@example.com', `Basic ${btoa(`api:${service.key}`)}`);
    expect(status).toBe(422);
  });

  it.each(['root@example.com', 'Root@Example.com', 'ci', 'nightly @ eu'])('may be %s', async (user) => {
    const { status, text } = await makeKeyOf(user);
    expect(status, text).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ user });
  });
});

describe('a token as x-api-key', () => {
  const models = (headers: Readonly<Record<string, string>>, path = '/inference/v1/models') =>
    fetch(service.url + path, { headers }).then(({ status }) => status);
  const admin = (jti = '1') => issuer.token({ claims: { email: 'root@example.com', jti } });

  it('is taken below /inference, as what it is there', async () => {
    expect(await models({ 'x-api-key': admin() })).toBe(200);
    expect(await models({ 'x-api-key': issuer.token({ claims: { email: 'nobody@example.com' } }) })).toBe(
      403,
    );
    expect(await models({ 'x-api-key': issuer.token({ claims: { exp: 1 } }) })).toBe(401);
    expect(lastReason()).toBe('expired token');
  });

  it('is not taken elsewhere', async () => {
    expect(await models({ 'x-api-key': admin() }, '/me')).toBe(401);
  });

  it('stands beside Bearer if both are the same, and otherwise both are refused', async () => {
    const token = admin();
    expect(await models({ authorization: `Bearer ${token}`, 'x-api-key': token })).toBe(200);
    expect(await models({ authorization: `Bearer ${token}`, 'x-api-key': admin('2') })).toBe(401);
    expect(await models({ authorization: `Bearer ${token}`, 'x-api-key': service.key })).toBe(401);
    expect(await models({ authorization: `Bearer ${service.key}`, 'x-api-key': token })).toBe(401);
  });
});

describe('the audit trail', () => {
  const entriesOf = async (actor: string) => {
    const range = { start: '2020-01-01T00:00:00Z', end: '2100-01-01T00:00:00Z' };
    const answer = await service.post('/audit/query', { ...range, actor, limit: 100 });
    expect(answer.status, await answer.clone().text()).toBe(200);
    return ((await answer.json()) as { records: Record<string, unknown>[] }).records;
  };

  it('has each session of a person once, whatever tokens and containers there are', async () => {
    await give('signed.in@example.com', 'acme/shop', 'read');
    const began = seconds() - 1000;
    const claims = { email: 'signed.in@example.com', sub: 'signed-in', auth_time: began };
    for (const jti of ['1', '2', '3']) await me({ claims: { ...claims, jti } });
    await service.killWorkers();
    await me({ claims: { ...claims, jti: '4' } });
    expect(await entriesOf('signed.in@example.com')).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{32}$/),
        at: `${new Date(began * 1000).toISOString().slice(0, -1)}000Z`,
        project_id: null,
        entity: null,
        actor: { kind: 'person', user: 'signed.in@example.com', key_id: expect.any(String) },
        address: '127.0.0.1',
        action: 'session.begin',
        target: 'signed.in@example.com',
        after: { grants: ['acme/shop:read'] },
      },
    ]);
    await me({ claims: { ...claims, auth_time: began + 500 } });
    expect(await entriesOf('signed.in@example.com')).toHaveLength(2);
  });

  it('says of somebody without rights that nothing was given', async () => {
    await me({ claims: { email: 'visitor@example.com', sub: 'visitor', auth_time: seconds() } });
    expect(await entriesOf('visitor@example.com')).toMatchObject([{ action: 'session.refuse' }]);
  });

  it.each([
    ['none', {}],
    ['one beyond all time', { auth_time: 1e300, iat: -1e300 }],
    ['one that is no number', { auth_time: {} }],
  ])('takes a token that says %s of its times', async (name, claims) => {
    const sub = `times-${name}`;
    const answer = await me({ claims: { iat: undefined, ...claims, email: undefined, sub } });
    expect(answer.status).toBe(200);
    expect(await entriesOf(answer.body.user)).toHaveLength(1);
  });

  it('has nothing of tokens that are refused', async () => {
    await me({ claims: { email: 'late@example.com', sub: 'late', exp: 1 } });
    expect(await entriesOf('late@example.com')).toEqual([]);
  });
});

describe('an issuer', () => {
  afterEach(async () => {
    issuer.behave();
    issuer.publish(issuer.key.jwk);
    await service.killWorkers();
  });

  /** A refusal by a container that has just started, so knows nothing of the issuer. */
  const refusedBy = async (behaviour: Parameters<TestIssuer['behave']>[0]) => {
    await service.killWorkers();
    issuer.behave(behaviour);
    const { status } = await me();
    return { status, reason: lastReason() };
  };

  const away = { status: 401, reason: 'issuer does not answer' };

  it.each<[string, Parameters<TestIssuer['behave']>[0]]>([
    ['hangs', { document: () => {} }],
    ['hangs with its keys', { keys: () => {} }],
    ['never ends its answer', { keys: (_, res) => res.writeHead(200).write('{"keys": [') }],
    [
      'answers HTML',
      { document: (_, res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<html>') },
    ],
    ['answers a list', { document: (_, res) => sendJson(res, []) }],
    ['answers 500', { keys: (_, res) => res.writeHead(500).end() }],
    ['leads elsewhere', { keys: (_, res) => res.writeHead(302, { location: `${issuer.url}/keys2` }).end() }],
    ['closes the connection', { document: (req) => req.socket.destroy() }],
    ['has no keys', { keys: (_, res) => sendJson(res, { keys: [] }) }],
    ['has keys that are none', { keys: (_, res) => sendJson(res, { keys: { length: 1 } }) }],
    [
      'answers a million keys',
      {
        keys: (_, res) => {
          const piece = `${JSON.stringify(issuer.key.jwk)},`.repeat(1000);
          res.on('error', () => {});
          res.writeHead(200).write('{"keys": [');
          for (let i = 0; i < 1000 && !res.destroyed; i++) res.write(piece);
          res.end('{}]}');
        },
      },
    ],
    [
      'answers more keys than anybody has',
      { keys: (_, res) => sendJson(res, { keys: Array.from({ length: 101 }, () => issuer.key.jwk) }) },
    ],
    [
      'says that it is another one',
      { document: (_, res) => sendJson(res, { ...issuer.document(), issuer: 'https://evil.example' }) },
    ],
    [
      'has its keys at an address that is none',
      { document: (_, res) => sendJson(res, { ...issuer.document(), jwks_uri: 'file:///etc/passwd' }) },
    ],
    [
      'has its keys at another address in plain text',
      { document: (_, res) => sendJson(res, { ...issuer.document(), jwks_uri: 'http://10.0.0.1/keys' }) },
    ],
  ])('that %s opens no door, and causes no failure', async (_, behaviour) => {
    expect(await refusedBy(behaviour)).toEqual(away);
    expect(service.logged.some((line) => line.includes('"outcome":"failed"'))).toBe(false);
  });

  it('that published two keys of one id has neither used', async () => {
    issuer.publish(issuer.key.jwk, { ...stranger.jwk, kid: issuer.key.kid });
    await service.killWorkers();
    expect((await me()).status).toBe(401);
  });

  it('that publishes a secret has it used by nobody', async () => {
    const k = issuer.key.publicKey.export({ type: 'spki', format: 'pem' });
    issuer.publish({
      kty: 'oct',
      kid: issuer.key.kid,
      k: Buffer.from(k).toString('base64url'),
      alg: 'HS256',
    });
    await service.killWorkers();
    expect((await ask(issuer.token({ header: { alg: 'HS256' } }))).status).toBe(401);
    expect((await me()).status).toBe(401);
  });

  it('is asked seldom, whatever comes', async () => {
    await service.killWorkers();
    const before = issuer.requests.length;
    for (let i = 0; i < 20; i++) await me({ header: { kid: `made-up-${i}` } });
    for (let i = 0; i < 5; i++) await me({ claims: { jti: `good-${i}` } });
    expect(issuer.requests.slice(before).toSorted()).toEqual(['/.well-known/openid-configuration', '/keys']);
  });

  it.each(['PS256', 'ES256'])('may sign by %s', async (alg) => {
    const key = makeIssuerKey(alg === 'ES256' ? 'EC' : 'RSA');
    issuer.publish(issuer.key.jwk, { ...key.jwk, alg });
    await service.killWorkers();
    expect((await me({ key, header: { alg } })).status).toBe(200);
    expect((await me({ key, header: { alg: 'RS256' } })).status).toBe(401);
  });

  it('that is away has GET /sign-in say so, as a 404', async () => {
    await service.killWorkers();
    issuer.behave({ document: (_, res) => res.writeHead(503).end() });
    const answer = await fetch(`${service.url}/sign-in`);
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain('answers 503');
  });
});

describe('GET /sign-in', () => {
  it('says where people sign in, and asks the issuer once', async () => {
    await service.killWorkers();
    const before = issuer.requests.length;
    const answers = [];
    for (let i = 0; i < 5; i++) answers.push(await (await fetch(`${service.url}/sign-in`)).json());
    expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(
      new Set([
        JSON.stringify({
          issuer: issuer.url,
          client_id: 'pennytrace',
          scopes: ['openid', 'email', 'profile'],
          token: 'access',
          authorization_endpoint: `${issuer.url}/authorize`,
          token_endpoint: `${issuer.url}/token`,
          end_session_endpoint: `${issuer.url}/logout`,
          loopback_redirect_uri: null,
        }),
      ]),
    );
    expect(issuer.requests.length - before).toBeLessThanOrEqual(1);
  });
});
