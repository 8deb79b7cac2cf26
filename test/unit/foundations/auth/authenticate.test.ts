import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { authenticate, parseCredentials } from '../../../../foundations/auth/authenticate.ts';
import { parseGrant } from '../../../../foundations/auth/grants.ts';
import type { GrantRecord } from '../../../../foundations/auth/keys.ts';
import { type Member, parseGroup, toMemberId } from '../../../../foundations/auth/members.ts';
import { Memory } from '../../../../foundations/memory.ts';
import { anyCharacter } from '../../../support/values/arbitraries/character.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('Basic credentials', () => {
  it('are a user name and a key', () => {
    expect(parseCredentials(`Basic ${base64('ada:secret')}`)).toEqual({
      scheme: 'basic',
      username: 'ada',
      key: 'secret',
    });
  });

  it('split at the first colon', () => {
    expect(parseCredentials(`Basic ${base64('ada:a:b')}`)).toMatchObject({ username: 'ada', key: 'a:b' });
  });

  it('are UTF-8', () => {
    expect(parseCredentials(`Basic ${base64('Zoë 🙂:key')}`)).toMatchObject({ username: 'Zoë 🙂' });
  });

  it('may lack the user name or the key, and then match nothing', () => {
    expect(parseCredentials(`Basic ${base64(':key')}`)).toMatchObject({ username: '' });
    expect(parseCredentials(`Basic ${base64('ada:')}`)).toMatchObject({ key: '' });
  });

  it('carry the longest possible user name and key', () => {
    const username = '🙂'.repeat(128);
    const key = `svc_${'a'.repeat(16)}_${'0'.repeat(64)}`;
    expect(parseCredentials(`Basic ${base64(`${username}:${key}`)}`)).toMatchObject({ username, key });
  });

  it.each([
    ['no colon', `Basic ${base64('ada')}`],
    ['no value', 'Basic '],
    ['no space', `Basic${base64('ada:key')}`],
    ['two spaces', `Basic  ${base64('ada:key')}`],
    ['what is not base64', 'Basic ada:key'],
    ['base64 with a stray character', `Basic !${base64('ada:key')}`],
    ['base64 without its padding', `Basic ${base64('ada:keys').replace(/=+$/, '')}`],
    ['base64 of the other alphabet', `Basic ${Buffer.from('ada:ÿÿÿ?').toString('base64url')}`],
    ['bytes that are not UTF-8', `Basic ${Buffer.from('ad\xe9:key', 'latin1').toString('base64')}`],
  ])('with %s are refused', (_, header) => {
    expect(parseCredentials(header)).toBeUndefined();
  });
});

describe('Bearer credentials', () => {
  it('are a key', () => {
    expect(parseCredentials('Bearer svc_1_2')).toEqual({ scheme: 'bearer', key: 'svc_1_2' });
  });

  it.each([
    ['no key', 'Bearer '],
    ['no space', 'Bearer'],
    ['a space within', 'Bearer a b'],
    ['a line end', 'Bearer a\n'],
    ['a list', 'Bearer a, Basic b'],
  ])('with %s are refused', (_, header) => {
    expect(parseCredentials(header)).toBeUndefined();
  });
});

describe('the scheme', () => {
  it('may be written in any case', () => {
    expect(parseCredentials('bEARER key')).toMatchObject({ scheme: 'bearer' });
    expect(parseCredentials(`BASIC ${base64('a:b')}`)).toMatchObject({ scheme: 'basic' });
  });

  it.each(['Digest key', 'Bearer2 key', ' Bearer key', 'key', '', ' '])('of "%s" is refused', (header) => {
    expect(parseCredentials(header)).toBeUndefined();
  });
});

describe('a header that an exporter did not decode', () => {
  it.each([
    ['Bearer%20svc_1_2', { scheme: 'bearer', key: 'svc_1_2' }],
    ['bearer%20svc_1_2', { scheme: 'bearer', key: 'svc_1_2' }],
    [`BASIC%20${base64('a:key')}`, { scheme: 'basic', username: 'a', key: 'key' }],
    [`Basic%20${encodeURIComponent(base64('a:ÿÿÿ?'))}`, { scheme: 'basic', username: 'a', key: 'ÿÿÿ?' }],
    [`basic%20${base64('a:b').replaceAll('=', '%3d')}`, { scheme: 'basic', username: 'a', key: 'b' }],
  ])('as %s is what it means', (header, credentials) => {
    expect(parseCredentials(header)).toEqual(credentials);
  });

  it.each([
    ['an escape that is none', 'Bearer%20svc%'],
    ['a space within', 'Bearer%20svc%20x'],
    ['a line end', 'Bearer%20svc%0A'],
    ['a scheme that is encoded twice', 'Bearer%2520svc'],
    ['another scheme', 'Digest%20svc'],
    ['a real space too', 'Bearer%20 svc'],
    ['an encoded key behind a real space', 'Bearer svc%5F1'],
  ])('with %s is refused', (_, header) => {
    expect(parseCredentials(header)).toBeUndefined();
  });
});

describe('any header at all', () => {
  it('may be absent', () => {
    expect(parseCredentials(undefined)).toBeUndefined();
  });

  it('is refused beyond 2,048 characters', () => {
    const bearer = (length: number) => `Bearer ${'a'.repeat(length - 'Bearer '.length)}`;
    expect(parseCredentials(bearer(2048))).toBeDefined();
    expect(parseCredentials(bearer(2049))).toBeUndefined();
  });

  it('yields credentials from its text or nothing, and never throws', () => {
    const scheme = fc.constantFrom('', 'Basic ', 'basic ', 'Bearer ', 'BEARER ');
    const value = fc.oneof(fc.string({ unit: anyCharacter }), fc.base64String(), fc.string().map(base64));
    fc.assert(
      fc.property(scheme, value, (scheme, value) => {
        const credentials = parseCredentials(scheme + value);
        if (credentials?.scheme === 'bearer') expect(credentials.key).toBe(value);
        if (credentials?.scheme === 'basic')
          expect(base64(`${credentials.username}:${credentials.key}`)).toBe(value);
      }),
    );
  });
});

describe('a person', () => {
  /** What somebody may do whose groups have these grants. */
  const grantsOf = async (...grantsOfGroups: string[][]) => {
    const members = grantsOfGroups.map((_, i) => parseGroup(`g${i}`) as Member);
    const records = members.map((member, i): GrantRecord => {
      const grants = (grantsOfGroups[i] ?? []).flatMap((text) => parseGrant(text) ?? []);
      return { id: toMemberId(member), user: member, createdAt: 0, grants };
    });
    const memberMemory = new Memory<readonly GrantRecord[]>(60_000);
    await memberMemory.get(JSON.stringify(members.map(toMemberId)), async () => records);
    const session = { mark: '', at: undefined };
    const findPerson = async () => ({ user: 'ada', id: 'a', members, grants: [], expiresAt: 10, session });
    const keys = { table: { client: undefined as never, name: '' }, memberMemory, findPerson };
    const found = await authenticate('Bearer a.b.c', 'basic', keys, 1);
    return 'caller' in found ? found.caller.grants.map(({ scope, role }) => `${scope}:${role}`) : found;
  };

  it('has what groups are granted without what other grants include', async () => {
    expect(
      await grantsOf(['a/b:read', 'a/c:write', 'b/x:read'], ['a/*:read', 'a/c:read', 'b/x:read']),
    ).toEqual(['a/c:write', 'b/x:read', 'a/*:read']);
    expect(await grantsOf(['a/b:admin', 'a/*:inference'], ['*:write'])).toEqual([
      'a/b:admin',
      'a/*:inference',
      '*:write',
    ]);
  });

  it('keeps what one entity gives, however much another one gives', async () => {
    const flood = Array.from({ length: 50 }, (_, i) => `evil/${'p'.repeat(100)}${i}:read`);
    const grants = await grantsOf(
      flood,
      flood.map((text) => text.replace('p', 'q')),
      ['acme/shop:write'],
    );
    expect(grants).toContain('acme/shop:write');
    expect(grants).toContain(flood[0]);
  });

  it('of 99 groups with 50 grants each is found within a second', async () => {
    const groups = Array.from({ length: 99 }, (_, g) =>
      Array.from({ length: 50 }, (_project, i) => `acme/p${g}-${i}:read`),
    );
    const began = performance.now();
    const grants = await grantsOf(...groups);
    expect(performance.now() - began).toBeLessThan(1000);
    // As many as a context may hold.
    expect(grants).toHaveLength(259);
  });
});
