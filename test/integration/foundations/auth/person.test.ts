import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Issuer, IssuerError, makeFindPerson } from '../../../../foundations/auth/index.ts';
import {
  type Answer,
  makeIssuerKey,
  sendJson,
  startIssuer,
  type TestIssuer,
  type TokenParts,
} from '../../../support/service/issuer.ts';

/*
 * What a container remembers of an issuer, as time goes by. Bad tokens are in ../../security/tokens.test.ts.
 */

const minute = 60_000;

let issuer: TestIssuer;

beforeEach(async () => {
  issuer = await startIssuer();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
});

afterEach(async () => {
  vi.useRealTimers();
  await issuer[Symbol.asyncDispose]();
});

const wait = (ms: number): void => {
  vi.setSystemTime(Date.now() + ms);
};

/** What a container that starts now makes of tokens: the user, or the refusal. */
const start = (settings = issuer.settings) => {
  const find = makeFindPerson(settings);
  return async (parts?: TokenParts): Promise<string> => {
    const found = await find(issuer.token(parts), Date.now() * 1000);
    return 'refusal' in found ? found.refusal : found.user;
  };
};

const keyRequests = () => issuer.requests.filter((path) => path === '/keys').length;

describe('keys of an issuer', () => {
  it('are read once, and again after ten minutes', async () => {
    const ask = start();
    expect(await Promise.all([ask(), ask(), ask()])).toEqual(Array(3).fill('ada@example.com'));
    expect(issuer.requests).toHaveLength(2);
    wait(9 * minute);
    await ask();
    expect(keyRequests()).toBe(1);
    wait(2 * minute);
    await ask();
    expect(keyRequests()).toBe(2);
  });

  it('that come new are found at once', async () => {
    const ask = start();
    await ask();
    wait(minute);
    const key = makeIssuerKey();
    issuer.publish(issuer.key.jwk, key.jwk);
    expect(await ask({ key })).toBe('ada@example.com');
    expect(await ask()).toBe('ada@example.com');
  });

  it('that are rotated away are good for ten minutes more at most', async () => {
    const ask = start();
    await ask();
    const key = makeIssuerKey();
    issuer.publish(key.jwk);
    expect(await ask()).toBe('ada@example.com');
    wait(11 * minute);
    expect(await ask()).toBe('token of an unknown key');
    expect(await ask({ key })).toBe('ada@example.com');
  });

  it('that are rotated away are gone as soon as somebody has a new one', async () => {
    const ask = start();
    await ask();
    wait(minute);
    const key = makeIssuerKey();
    issuer.publish(key.jwk);
    expect(await ask({ key })).toBe('ada@example.com');
    expect(await ask()).toBe('token of an unknown key');
  });

  it('are looked for again after a pause, if an id is unknown', async () => {
    const ask = start();
    await ask();
    const key = makeIssuerKey();
    for (let i = 0; i < 10; i++) await ask({ key });
    expect(keyRequests()).toBe(1);
    wait(16_000);
    for (let i = 0; i < 10; i++) await ask({ key });
    expect(keyRequests()).toBe(2);
  });

  it('are used for two hours while the issuer is away, and then no longer', async () => {
    const ask = start();
    await ask();
    issuer.behave({
      keys: (_, res) => res.writeHead(500).end(),
      document: (_, res) => res.writeHead(500).end(),
    });
    wait(110 * minute);
    expect(await ask()).toBe('ada@example.com');
    wait(20 * minute);
    expect(await ask()).toBe('issuer does not answer');
    issuer.behave();
    wait(minute);
    expect(await ask()).toBe('ada@example.com');
  });

  it('of an issuer that was away at first are looked for again soon', async () => {
    issuer.behave({ keys: (_, res) => res.writeHead(500).end() });
    const ask = start();
    expect(await ask()).toBe('issuer does not answer');
    issuer.behave();
    expect(await ask()).toBe('issuer does not answer');
    wait(16_000);
    expect(await ask()).toBe('ada@example.com');
  });
});

describe('an issuer whose ID tokens are sent', () => {
  const idToken = { scope: undefined, client_id: undefined, nonce: 'n', at_hash: 'hash' };
  const header = { typ: 'JWT' };

  it.each([
    ['is good with the client as its audience', {}, 'ada@example.com'],
    [
      'is good with the client as one of its audiences, and as azp',
      { aud: ['x', 'pennytrace'], azp: 'pennytrace' },
      'ada@example.com',
    ],
    [
      'is refused with several audiences, and no azp',
      { aud: ['x', 'pennytrace'] },
      'token for another client',
    ],
    ['is refused with another azp', { azp: 'other' }, 'token for another client'],
    [
      'is refused with the client as azp alone',
      { aud: 'other', azp: 'pennytrace' },
      'token for another client',
    ],
    ['is good with token_use id', { token_use: 'id' }, 'ada@example.com'],
    ['is refused as an access token by token_use', { token_use: 'access' }, 'token of another kind'],
    [
      'is refused as an access token by what it allows',
      { scope: 'openid', at_hash: undefined },
      'token of another kind',
    ],
    [
      'is refused as an access token by its client',
      { client_id: 'pennytrace', at_hash: undefined },
      'token of another kind',
    ],
    ['is refused as an access token of Keycloak', { typ: 'Bearer' }, 'token of another kind'],
  ])('one %s', async (_, claims, outcome) => {
    const ask = start({ ...issuer.settings, token: 'id' });
    expect(await ask({ header, claims: { ...idToken, ...claims } })).toBe(outcome);
  });

  const signOut = 'http://schemas.openid.net/event/backchannel-logout';

  it.each([
    ['by its events', {}, { events: { [signOut]: {} } }],
    ['by its type', { typ: 'logout+jwt' }, {}],
    ['as Keycloak makes it', {}, { typ: 'Logout' }],
  ])('a token to sign out is refused %s', async (_, type, claims) => {
    const ask = start({ ...issuer.settings, token: 'id' });
    const token = { header: { ...header, ...type }, claims: { ...idToken, at_hash: undefined, ...claims } };
    expect(await ask(token)).toBe('token of another kind');
  });

  it('one is refused as an access token by its type', async () => {
    const ask = start({ ...issuer.settings, token: 'id' });
    expect(await ask({ header: { typ: 'at+jwt' }, claims: idToken })).toBe('token of another kind');
  });
});

describe('an issuer that hangs', () => {
  /** How long something takes on the clock that does not stand still, in ms. */
  const timed = async <T>(task: () => Promise<T>): Promise<{ readonly answer: T; readonly ms: number }> => {
    const began = performance.now();
    const answer = await task();
    return { answer, ms: performance.now() - began };
  };
  const hang = () => {};
  const late =
    (ms: number, value: unknown): Answer =>
    (_, res) =>
      setTimeout(() => sendJson(res, value), ms);

  it('has a first request wait for 2.5 seconds in all, and those in the pause for nothing', async () => {
    issuer.behave({ document: late(2000, issuer.document()), keys: hang });
    const ask = start();
    const first = await timed(ask);
    expect(first.answer).toBe('issuer does not answer');
    expect(first.ms).toBeLessThan(3500);
    const next = await timed(ask);
    expect(next.answer).toBe('issuer does not answer');
    expect(next.ms).toBeLessThan(300);
  });

  it('has a request wait for half a second once it is known to hang', async () => {
    issuer.behave({ keys: hang });
    const ask = start();
    await ask();
    wait(16_000);
    const { answer, ms } = await timed(ask);
    expect(answer).toBe('issuer does not answer');
    expect(ms).toBeGreaterThan(400);
    expect(ms).toBeLessThan(1500);
  });

  it('has its keys used at once while its last answer is missing, and unknown ones refused', async () => {
    const ask = start();
    await ask();
    wait(11 * minute);
    issuer.behave({ document: hang, keys: hang });
    const key = makeIssuerKey();
    await ask();
    for (let i = 0; i < 3; i++) {
      expect((await timed(ask)).ms).toBeLessThan(300);
      const unknown = await timed(() => ask({ key }));
      expect(unknown.answer).toBe('token of an unknown key');
      expect(unknown.ms).toBeLessThan(300);
    }
    wait(16_000);
    const { answer, ms } = await timed(ask);
    expect(answer).toBe('ada@example.com');
    expect(ms).toBeLessThan(1500);
  });

  it('lets nobody in by a key that it took back, once it answers again', async () => {
    const ask = start();
    await ask();
    wait(11 * minute);
    issuer.behave({ keys: hang });
    expect(await ask()).toBe('ada@example.com');
    wait(16_000);
    issuer.behave();
    issuer.publish(makeIssuerKey().jwk);
    expect(await ask()).toBe('token of an unknown key');
  });

  it('is heard though it is slow, by whoever comes once it has answered', async () => {
    issuer.behave({ keys: hang });
    const ask = start();
    await ask();
    wait(16_000);
    issuer.behave({ keys: late(1000, { keys: [issuer.key.jwk] }) });
    expect(await ask()).toBe('issuer does not answer');
    await vi.waitFor(async () => expect(await ask()).toBe('ada@example.com'), { timeout: 5000 });
    expect(keyRequests()).toBe(2);
  });

  it('is waited for again after two minutes, since a container may sleep while it answers', async () => {
    issuer.behave({ keys: hang });
    const ask = start();
    await ask();
    wait(2 * minute);
    issuer.behave({ keys: late(1000, { keys: [issuer.key.jwk] }) });
    expect(await ask()).toBe('ada@example.com');
  });
});

it('an issuer that cannot be reached is named, and not the address that it has', async () => {
  const { url } = await startIssuer().then(async (stopped) => {
    await stopped[Symbol.asyncDispose]();
    return stopped;
  });
  const asked = `${url}/.well-known/openid-configuration`;
  await expect(new Issuer(url).getDocument()).rejects.toThrow(
    new IssuerError(`${asked} does not answer: ECONNREFUSED`),
  );
});

it('an operator may leave the slash out that an issuer has at its end', async () => {
  issuer.behave({
    document: (_, res) =>
      res.writeHead(200).end(JSON.stringify({ ...issuer.document(), issuer: `${issuer.url}/` })),
  });
  const ask = start();
  expect(await ask({ claims: { iss: `${issuer.url}/` } })).toBe('ada@example.com');
  expect(await ask()).toBe('token of another issuer');
});

it('a person has the same id with another token, and another id at another issuer', async () => {
  const find = makeFindPerson(issuer.settings);
  const idOf = async (parts: TokenParts) => {
    const person = await find(issuer.token(parts), Date.now() * 1000);
    return 'refusal' in person ? person.refusal : person.id;
  };
  const id = await idOf({});
  expect(id).toMatch(/^[0-9a-z]{16}$/);
  expect(await idOf({ claims: { email: 'other@example.com' } })).toBe(id);
  expect(await idOf({ claims: { sub: 'subject-2' } })).not.toBe(id);
});
