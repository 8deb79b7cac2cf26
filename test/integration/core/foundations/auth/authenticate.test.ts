import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Scheme } from '../../../../../core/foundations/auth/authenticate.ts';
import { authenticate, type KeyStore } from '../../../../../core/foundations/auth/authenticate.ts';
import {
  formatKey,
  type Key,
  makeKey,
  newRecord,
  putKey,
  revokeKey,
} from '../../../../../core/foundations/auth/keys.ts';
import { anyCharacter } from '../../../../support/arbitraries/character.ts';
import { createStores } from '../../../../support/stores.ts';

const now = 1_790_000_000_000_000;
const grants = [{ scope: 'acme/*', role: 'write' }] as const;

const basic = (username: string, key: Key | string) => {
  const text = typeof key === 'string' ? key : formatKey(key);
  return `Basic ${Buffer.from(`${username}:${text}`).toString('base64')}`;
};
const bearer = (key: Key) => `Bearer ${formatKey(key)}`;

let keys: KeyStore;
beforeAll(async () => {
  const { dynamodb, keysTable } = await createStores();
  keys = { service: 'svc', table: { client: dynamodb, name: keysTable } };
});

/** Stores a key of ada's and gives it, with its secret. */
const adasKey = async (expiresAt?: number): Promise<Key> => {
  const key = makeKey('svc');
  await putKey(keys.table, newRecord(key, { user: 'ada', grants, ...(expiresAt && { expiresAt }) }, now));
  return key;
};

const refusalOf = async (header: string | undefined, scheme: Scheme, time = now) => {
  const result = await authenticate(header, scheme, keys, time);
  return 'refusal' in result ? result.refusal : 'allowed';
};

describe('a good key', () => {
  it('identifies the caller, the grants and their expiry', async () => {
    const key = await adasKey(now + 10);
    expect(await authenticate(basic('ada', key), 'basic', keys, now)).toEqual({
      caller: { user: 'ada', keyId: key.id, grants, expiresAt: now + 10 },
    });
  });

  it('needs no expiry', async () => {
    const key = await adasKey();
    expect(await authenticate(bearer(key), 'bearer', keys, now)).toEqual({
      caller: { user: 'ada', keyId: key.id, grants },
    });
  });

  it('is accepted with its user or "api", and with no other user', async () => {
    const key = await adasKey();
    expect(await refusalOf(basic('api', key), 'basic')).toBe('allowed');
    expect(await refusalOf(basic('eve', key), 'basic')).toBe('wrong user');
    expect(await refusalOf(basic('', key), 'basic')).toBe('wrong user');
    expect(await refusalOf(basic('Ada', key), 'basic')).toBe('wrong user');
  });

  it('is refused in a scheme that the route does not accept', async () => {
    const key = await adasKey();
    expect(await refusalOf(bearer(key), 'basic')).toBe('wrong scheme');
    expect(await refusalOf(basic('ada', key), 'bearer')).toBe('wrong scheme');
  });
});

describe('a key that is no longer valid', () => {
  it('is refused from the microsecond of its expiry on', async () => {
    const key = await adasKey(now + 10);
    expect(await refusalOf(basic('ada', key), 'basic', now + 9)).toBe('allowed');
    expect(await refusalOf(basic('ada', key), 'basic', now + 10)).toBe('expired key');
    expect(await refusalOf(bearer(key), 'bearer', now + 10)).toBe('expired key');
  });

  it('is refused from its revocation on', async () => {
    const key = await adasKey();
    await revokeKey(keys.table, key.id, now);
    expect(await refusalOf(basic('ada', key), 'basic')).toBe('revoked key');
  });
});

describe('a wrong key', () => {
  it('is distinguished in the log by its id, without its secret', async () => {
    const key = await adasKey();
    const guess = { ...key, secret: '0'.repeat(64) };
    expect(await authenticate(basic('ada', guess), 'basic', keys, now)).toEqual({
      refusal: 'wrong secret',
      keyId: key.id,
    });
    const unknown = makeKey('svc');
    expect(await authenticate(basic('ada', unknown), 'basic', keys, now)).toEqual({
      refusal: 'unknown key',
      keyId: unknown.id,
    });
  });

  it('is not said to be revoked if only its id matches a revoked key', async () => {
    const key = await adasKey();
    await revokeKey(keys.table, key.id, now);
    expect(await refusalOf(basic('ada', { ...key, secret: '0'.repeat(64) }), 'basic')).toBe('wrong secret');
  });

  it('of another service is malformed', async () => {
    const key = await adasKey();
    expect(await refusalOf(basic('ada', { ...key, service: 'other' }), 'basic')).toBe('malformed key');
  });
});

describe('a header', () => {
  it('is refused without reading the table if it is absent or malformed', async () => {
    const lost = { ...keys, table: { ...keys.table, name: 'no-such-table' } };
    const refusals = [undefined, '', 'Basic', basic('ada', 'password'), 'Bearer x'].map((header) =>
      authenticate(header, header === 'Bearer x' ? 'bearer' : 'basic', lost, now),
    );
    expect(await Promise.all(refusals)).toEqual([
      { refusal: 'no header' },
      { refusal: 'malformed header' },
      { refusal: 'malformed header' },
      { refusal: 'malformed key' },
      { refusal: 'malformed key' },
    ]);
  });

  it('never throws and never authenticates with garbage', async () => {
    const scheme = fc.constantFrom<Scheme>('basic', 'bearer');
    const prefix = fc.constantFrom('', 'Basic ', 'Bearer ', 'Bearer svc_', basic('ada', 'svc_'));
    await fc.assert(
      fc.asyncProperty(scheme, prefix, fc.string({ unit: anyCharacter }), async (scheme, prefix, rest) => {
        expect(await authenticate(prefix + rest, scheme, keys, now)).toHaveProperty('refusal');
      }),
    );
  });

  it('never authenticates if one character of a good key is changed', async () => {
    const key = await adasKey();
    const text = formatKey(key);
    const place = fc.nat({ max: text.length - 1 });
    await fc.assert(
      fc.asyncProperty(place, fc.constantFrom(...'0123456789abcdefz_'), async (place, letter) => {
        fc.pre(text[place] !== letter);
        const changed = text.slice(0, place) + letter + text.slice(place + 1);
        const result = await authenticate(basic('ada', changed), 'basic', keys, now);
        expect(result).toHaveProperty('refusal');
      }),
    );
  });
});

describe('a table that does not answer', () => {
  it('is an error, not a refusal', async () => {
    const lost = { ...keys, table: { ...keys.table, name: 'no-such-table' } };
    await expect(authenticate(bearer(makeKey('svc')), 'bearer', lost, now)).rejects.toThrow();
  });
});
