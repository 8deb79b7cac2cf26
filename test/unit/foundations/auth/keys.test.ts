import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Grant, parseGrants } from '../../../../foundations/auth/grants.ts';
import {
  digestKey,
  formatKey,
  fromItem,
  isKeyId,
  isUser,
  type Key,
  keyState,
  makeKey,
  matchesDigest,
  newRecord,
  parseKey,
  toItem,
} from '../../../../foundations/auth/keys.ts';
import { anyCharacter } from '../../../support/values/arbitraries/character.ts';

const id = '0123456789abcdef';
const secret = 'a5'.repeat(32);
const key: Key = { id, secret };

const keys = fc.record({
  id: fc.stringMatching(/^[0-9a-z]{16}$/),
  secret: fc.stringMatching(/^[0-9a-f]{64}$/),
});

describe('a new key', () => {
  it('starts with the name of its service', () => {
    expect(formatKey(makeKey())).toMatch(/^svc_/);
  });
});

describe('parsing a key', () => {
  it('reads back every key that is formatted', () => {
    fc.assert(
      fc.property(keys, (key) => {
        expect(parseKey(formatKey(key))).toEqual(key);
      }),
    );
  });

  it('takes the same key with the prefix of Weave', () => {
    expect(parseKey(`weave_${id}_${secret}`)).toEqual(key);
  });

  it('accepts hex digits of either case as the same number', () => {
    expect(parseKey(`svc_${id}_${secret.toUpperCase()}`)).toEqual(key);
  });

  it.each([
    ['nothing', ''],
    ['the key of another service', `other_${id}_${secret}`],
    ['a key of a service whose name goes on', `svcx_${id}_${secret}`],
    ['no service', `${id}_${secret}`],
    ['a short id', `svc_${id.slice(1)}_${secret}`],
    ['an upper-case id', `svc_${id.toUpperCase()}_${secret}`],
    ['a short secret', `svc_${id}_${secret.slice(1)}`],
    ['a long secret', `svc_${id}_${secret}0`],
    ['a secret that is not hex', `svc_${id}_${'g'.repeat(64)}`],
    ['a line end behind it', `svc_${id}_${secret}\n`],
    ['space before it', ` svc_${id}_${secret}`],
  ])('refuses %s', (_, text) => {
    expect(parseKey(text)).toBeUndefined();
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        expect(parseKey(`svc_${text}`)).toBeUndefined();
      }),
    );
  });
});

describe('a digest', () => {
  it('is the SHA-256 of the whole key', () => {
    // printf %s svc_0123456789abcdef_a5a5… | sha256sum
    expect(Buffer.from(digestKey(key)).toString('hex')).toBe(
      '41744ff734f5989e71b6b403023a60aa0b1d93a582d3e4b2d33cbc8eef77fb16',
    );
  });

  it('matches its own key', () => {
    fc.assert(
      fc.property(keys, (key) => {
        expect(matchesDigest(key, digestKey(key))).toBe(true);
      }),
    );
  });

  it('that a service of Weave’s dialect has stored matches its key', () => {
    const stored = createHash('sha256').update(`weave_${id}_${secret}`).digest();
    expect(matchesDigest(key, stored)).toBe(true);
  });

  it('matches no key with another secret or id', () => {
    const digest = digestKey(key);
    expect(matchesDigest({ ...key, secret: `${secret.slice(1)}0` }, digest)).toBe(false);
    expect(matchesDigest({ ...key, id: 'zzzzzzzzzzzzzzzz' }, digest)).toBe(false);
  });

  it('matches nothing if it is absent', () => {
    expect(matchesDigest(key, undefined)).toBe(false);
  });
});

describe('a key id', () => {
  it('is distinguished from a complete key', () => {
    expect(isKeyId(id)).toBe(true);
    expect(isKeyId(formatKey(key))).toBe(false);
  });
});

const now = 1_790_000_000_000_000;
const adasKey = makeKey();

const grants = (text: string): Grant[] => {
  const parsed = parseGrants(text);
  if (!parsed) throw new Error(`${text} are no grants`);
  return parsed;
};
const grantee = { user: 'ada', grants: grants('acme/*:write acme/x:inference') };

describe('a new record', () => {
  it('holds the digest of the adasKey and nothing of its secret', () => {
    const record = newRecord(adasKey, grantee, now);
    expect(record).toEqual({ ...grantee, id: adasKey.id, digest: digestKey(adasKey), createdAt: now });
    expect(JSON.stringify(toItem(record))).not.toContain(adasKey.secret);
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
    expect(() => newRecord(adasKey, { ...grantee, ...problem }, now)).toThrow(RangeError);
    expect(() => newRecord(adasKey, { ...grantee, ...problem }, now)).toThrow(message);
  });

  it('may have 50 grants', () => {
    const fifty = Array.from({ length: 50 }, () => grants('*:read')).flat();
    expect(newRecord(adasKey, { user: 'ada', grants: fifty }, now).grants).toHaveLength(50);
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

describe('the state of a adasKey', () => {
  const record = newRecord(adasKey, { ...grantee, expiresAt: now + 10 }, now);

  it('is active until its expiry, and expired from that microsecond on', () => {
    expect(keyState(record, now + 9)).toBe('active');
    expect(keyState(record, now + 10)).toBe('expired');
  });

  it('is revoked from its revocation on, expired or not', () => {
    expect(keyState({ ...record, revokedAt: now + 1 }, now + 2)).toBe('revoked');
    expect(keyState({ ...record, revokedAt: now + 1 }, now + 20)).toBe('revoked');
  });

  it('is active for ever without expiry and revocation', () => {
    expect(keyState(newRecord(adasKey, grantee, now), Number.MAX_SAFE_INTEGER)).toBe('active');
  });
});

describe('the item of a record', () => {
  const micros = fc.integer({ min: now, max: now * 2 });
  const expiring = newRecord(adasKey, { ...grantee, expiresAt: now + 1 }, now);

  it('reads back as the same record', () => {
    fc.assert(
      fc.property(micros, fc.option(micros), fc.option(micros), (createdAt, expiresAt, revokedAt) => {
        const record = {
          ...newRecord(adasKey, grantee, now),
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
  ])('is damaged, not a valid adasKey, with %s of %j', (name, value) => {
    expect(() => fromItem({ ...toItem(expiring), [name]: value })).toThrow(`damaged: ${name}`);
  });

  it.each(['id', 'digest', 'user', 'grants', 'createdAt'])('is damaged without %s', (name) => {
    const { [name]: _, ...rest } = toItem(expiring);
    expect(() => fromItem(rest)).toThrow(`damaged: ${name}`);
  });
});
