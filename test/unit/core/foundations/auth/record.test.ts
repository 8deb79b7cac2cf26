import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Grant, parseGrants } from '../../../../../core/foundations/auth/grant.ts';
import { digestKey, makeKey } from '../../../../../core/foundations/auth/key.ts';
import {
  fromItem,
  isUser,
  keyState,
  newRecord,
  toItem,
} from '../../../../../core/foundations/auth/record.ts';

const now = 1_790_000_000_000_000;
const key = makeKey('svc');

const grants = (text: string): Grant[] => {
  const parsed = parseGrants(text);
  if (!parsed) throw new Error(`${text} are no grants`);
  return parsed;
};
const grantee = { user: 'ada', grants: grants('acme/*:write acme/x:inference') };

describe('a new record', () => {
  it('holds the digest of the key and nothing of its secret', () => {
    const record = newRecord(key, grantee, now);
    expect(record).toEqual({ ...grantee, id: key.id, digest: digestKey(key), createdAt: now });
    expect(JSON.stringify(toItem(record))).not.toContain(key.secret);
  });

  it.each([
    ['no user', { user: '' }, /^the user /],
    ['a colon in the user', { user: 'a:b' }, /^the user /],
    ['no grant', { grants: [] }, /at least one/],
    ['51 grants', { grants: Array.from({ length: 51 }, () => grants('*:read')).flat() }, /at most 50/],
    [
      'grants of more than 4,096 characters',
      { grants: Array.from({ length: 40 }, () => grants(`${'e'.repeat(100)}/*:read`)).flat() },
      /4096 characters/,
    ],
    ['an expiry that is now', { expiresAt: now }, /in the future/],
  ])('with %s is refused, and the error says what to do', (_, problem, message) => {
    expect(() => newRecord(key, { ...grantee, ...problem }, now)).toThrow(RangeError);
    expect(() => newRecord(key, { ...grantee, ...problem }, now)).toThrow(message);
  });

  it('may have 50 grants', () => {
    const fifty = Array.from({ length: 50 }, () => grants('*:read')).flat();
    expect(newRecord(key, { user: 'ada', grants: fifty }, now).grants).toHaveLength(50);
  });
});

describe('a user', () => {
  it.each(['a', 'Ada Lovelace', 'ada@example.com', 'Zoë', '🙂'.repeat(128)])('may be "%s"', (user) => {
    expect(isUser(user)).toBe(true);
  });

  it.each(['', ' ada', 'ada ', 'a\nb', 'a\u0000', 'a\u2028b', '\u202eada', '\ud800', 'a'.repeat(129)])(
    'may not be %j',
    (user) => {
      expect(isUser(user)).toBe(false);
    },
  );
});

describe('the state of a key', () => {
  const record = newRecord(key, { ...grantee, expiresAt: now + 10 }, now);

  it('is active until its expiry, and expired from that microsecond on', () => {
    expect(keyState(record, now + 9)).toBe('active');
    expect(keyState(record, now + 10)).toBe('expired');
  });

  it('is revoked from its revocation on, expired or not', () => {
    expect(keyState({ ...record, revokedAt: now + 1 }, now + 2)).toBe('revoked');
    expect(keyState({ ...record, revokedAt: now + 1 }, now + 20)).toBe('revoked');
  });

  it('is active for ever without expiry and revocation', () => {
    expect(keyState(newRecord(key, grantee, now), Number.MAX_SAFE_INTEGER)).toBe('active');
  });
});

describe('the item of a record', () => {
  const micros = fc.integer({ min: now, max: now * 2 });
  const expiring = newRecord(key, { ...grantee, expiresAt: now + 1 }, now);

  it('reads back as the same record', () => {
    fc.assert(
      fc.property(micros, fc.option(micros), fc.option(micros), (createdAt, expiresAt, revokedAt) => {
        const record = {
          ...newRecord(key, grantee, now),
          createdAt,
          ...(expiresAt !== null && { expiresAt }),
          ...(revokedAt !== null && { revokedAt }),
        };
        expect(fromItem(toItem(record))).toEqual(record);
      }),
    );
  });

  it.each([
    ['digest', new Uint8Array(31)],
    ['digest', 'no bytes'],
    ['user', 1],
    ['grants', ['acme:admin']],
    ['grants', [1]],
    ['createdAt', 'yesterday'],
    ['expiresAt', 'some day'],
    ['expiresAt', 1],
    ['revokedAt', ''],
  ])('is damaged, not a valid key, with %s of %j', (name, value) => {
    expect(() => fromItem({ ...toItem(expiring), [name]: value })).toThrow(`damaged: ${name}`);
  });

  it.each(['id', 'digest', 'user', 'grants', 'createdAt'])('is damaged without %s', (name) => {
    const { [name]: _, ...rest } = toItem(expiring);
    expect(() => fromItem(rest)).toThrow(`damaged: ${name}`);
  });
});
