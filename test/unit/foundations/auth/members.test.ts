import { describe, expect, it } from 'vitest';
import { fromItem, isKeyId } from '../../../../foundations/auth/keys.ts';
import { parseGroup, parseMember, parsePerson, toMemberId } from '../../../../foundations/auth/members.ts';

describe('a member', () => {
  it.each([
    ['ada@example.com', 'member:ada@example.com'],
    ['Ada.Lovelace+x@Example.COM', 'member:ada.lovelace+x@example.com'],
    ['jürgen@exämple.de', 'member:jürgen@exämple.de'],
    ['group:Engineers', 'member:group:Engineers'],
    ['group:/team/a b', 'member:group:/team/a b'],
    ['group:role:Admin', 'member:group:role:Admin'],
  ])('%s has the id %s', (text, id) => {
    const member = parseMember(text);
    expect(member && toMemberId(member)).toBe(id);
    expect(isKeyId(id)).toBe(false);
  });

  it.each([
    '',
    'ada',
    'ada@',
    '@example.com',
    'ada@example@com',
    'ada @example.com',
    ' ada@example.com',
    'ada@example.com\n',
    'ada:x@example.com',
    'Ada <ada@example.com>',
    'a@b.c,d@e.f',
    '"a"@example.com',
    `${'a'.repeat(120)}@example.com`,
    'group:',
    'group: x',
    'group:a"b',
    'group:a\\b',
    'group:a\u200Bb',
    `group:${'a'.repeat(129)}`,
  ])('is not %j', (text) => {
    expect(parseMember(text)).toBeUndefined();
  });

  it('is no group because an address begins like one', () => {
    expect(parsePerson('group:admins@example.com')).toBeUndefined();
    expect(parsePerson('group:admins')).toBeUndefined();
    expect(parseGroup('ada@example.com')).toBe('group:ada@example.com');
  });

  it('is nobody else because a letter of another script becomes an ASCII one in lower case', () => {
    expect(parsePerson('\u212Aim@example.com')).not.toBe(parsePerson('kim@example.com'));
  });
});

describe('the record of a member', () => {
  const item = {
    id: 'member:ada@example.com',
    user: 'ada@example.com',
    grants: ['acme/*:read'],
    createdAt: '2026-11-28T00:00:00.000000Z',
  };

  it('is read without a digest', () => {
    expect(fromItem(item)).toMatchObject({
      id: 'member:ada@example.com',
      user: 'ada@example.com',
      grants: [{ scope: 'acme/*', role: 'read' }],
    });
  });

  it('is damaged if its id names somebody else', () => {
    expect(() => fromItem({ ...item, user: 'eve@example.com' })).toThrow('damaged: digest');
  });
});
