import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  digestKey,
  formatKey,
  isKeyId,
  type Key,
  makeKey,
  matchesDigest,
  parseKey,
} from '../../../../../core/foundations/auth/key.ts';
import { anyCharacter } from '../../../../support/arbitraries/character.ts';

const id = '0123456789abcdef';
const secret = 'a5'.repeat(32);
const key: Key = { service: 'svc', id, secret };

const keys = fc.record({
  service: fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/),
  id: fc.stringMatching(/^[0-9a-z]{16}$/),
  secret: fc.stringMatching(/^[0-9a-f]{64}$/),
});

describe('a new key', () => {
  it('has an id of 16 of 0-9a-z and a secret of 64 hex digits', () => {
    expect(formatKey(makeKey('svc'))).toMatch(/^svc_[0-9a-z]{16}_[0-9a-f]{64}$/);
  });

  it('starts with the name of its service', () => {
    expect(formatKey(makeKey('trace'))).toMatch(/^trace_/);
  });

  it('differs each time', () => {
    const made = Array.from({ length: 100 }, () => makeKey('svc'));
    expect(new Set(made.map((key) => key.id)).size).toBe(100);
    expect(new Set(made.map((key) => key.secret)).size).toBe(100);
  });

  it('has an id that uses the complete alphabet', () => {
    const letters = new Set(Array.from({ length: 200 }, () => [...makeKey('svc').id]).flat());
    expect(letters.size).toBe(36);
  });
});

describe('parsing a key', () => {
  it('reads back every key that is formatted', () => {
    fc.assert(
      fc.property(keys, (key) => {
        expect(parseKey(key.service, formatKey(key))).toEqual(key);
      }),
    );
  });

  it('accepts hex digits of either case as the same number', () => {
    expect(parseKey('svc', `svc_${id}_${secret.toUpperCase()}`)).toEqual(key);
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
    expect(parseKey('svc', text)).toBeUndefined();
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        expect(parseKey('svc', `svc_${text}`)).toBeUndefined();
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

  it('matches no key with another secret, id or service', () => {
    const digest = digestKey(key);
    expect(matchesDigest({ ...key, secret: `${secret.slice(1)}0` }, digest)).toBe(false);
    expect(matchesDigest({ ...key, id: 'zzzzzzzzzzzzzzzz' }, digest)).toBe(false);
    expect(matchesDigest({ ...key, service: 'other' }, digest)).toBe(false);
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
