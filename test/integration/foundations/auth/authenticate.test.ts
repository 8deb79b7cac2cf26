import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Scheme } from '../../../../foundations/auth/authenticate.ts';
import { authenticate, type KeyStore } from '../../../../foundations/auth/authenticate.ts';
import {
  formatKey,
  type Key,
  makeKey,
  newRecord,
  putKey,
  revokeKey,
} from '../../../../foundations/auth/keys.ts';
import { createStores } from '../../../support/service/stores.ts';

const now = 1_790_000_000_000_000;
const grants = [{ scope: 'acme/*', role: 'write' }] as const;

const basic = (username: string, key: Key | string) => {
  const text = typeof key === 'string' ? key : formatKey(key);
  return `Basic ${Buffer.from(`${username}:${text}`).toString('base64')}`;
};
let keys: KeyStore;
beforeAll(async () => {
  const { dynamodb, keysTable } = await createStores();
  keys = { table: { client: dynamodb, name: keysTable } };
});

/** Stores a key of ada's and gives it, with its secret. */
const adasKey = async (expiresAt?: number): Promise<Key> => {
  const key = makeKey();
  await putKey(keys.table, newRecord(key, { user: 'ada', grants, ...(expiresAt && { expiresAt }) }, now));
  return key;
};

const getRefusal = async (header: string | undefined, scheme: Scheme, time = now) => {
  const result = await authenticate(header, scheme, keys, time);
  return 'refusal' in result ? result.refusal : 'allowed';
};

describe('a wrong key', () => {
  it('is distinguished in the log by its id, without its secret', async () => {
    const key = await adasKey();
    const guess = { ...key, secret: '0'.repeat(64) };
    expect(await authenticate(basic('ada', guess), 'basic', keys, now)).toEqual({
      refusal: 'wrong secret',
      keyId: key.id,
    });
    const unknown = makeKey();
    expect(await authenticate(basic('ada', unknown), 'basic', keys, now)).toEqual({
      refusal: 'unknown key',
      keyId: unknown.id,
    });
  });

  it('is not said to be revoked if only its id matches a revoked key', async () => {
    const key = await adasKey();
    await revokeKey(keys.table, key.id, now);
    expect(await getRefusal(basic('ada', { ...key, secret: '0'.repeat(64) }), 'basic')).toBe('wrong secret');
  });

  it('of another service is malformed', async () => {
    const key = await adasKey();
    const text = formatKey(key).replace('svc_', 'other_');
    expect(await getRefusal(`Basic ${btoa(`ada:${text}`)}`, 'basic')).toBe('malformed key');
  });
});

describe('a header', () => {
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
