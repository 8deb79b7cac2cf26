import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allows,
  type Caller,
  formatGrant,
  formatGrants,
  fromContext,
  type Grant,
  hasExpired,
  onlyProject,
  parseGrant,
  parseGrants,
  toContext,
} from '../../../../foundations/auth/grants.ts';
import { roles } from '../../../../foundations/auth/roles.ts';
import { type ProjectId, parseProjectId } from '../../../../foundations/wire/index.ts';

const project = (text: string): ProjectId => {
  const id = parseProjectId(text);
  if (!id) throw new Error(`${text} is no project id`);
  return id;
};

const grant = (text: string): Grant => {
  const parsed = parseGrant(text);
  if (!parsed) throw new Error(`${text} is no grant`);
  return parsed;
};

/** Names of few letters, so that some are the same and some are prefixes of others. */
const names = fc.stringMatching(/^[ab._-]{1,3}$/).filter((name) => name !== '.' && name !== '..');
const projects = fc.tuple(names, names).map(([entity, name]) => project(`${entity}/${name}`));
const role = fc.constantFrom(...roles);
const scopes = fc.oneof(
  fc.constant('*'),
  names.map((entity) => `${entity}/*`),
  projects,
);
const grants = fc.tuple(scopes, role).map(([scope, role]) => grant(`${scope}:${role}`));

describe('parsing a grant', () => {
  it('reads back every grant that is formatted', () => {
    fc.assert(
      fc.property(grants, (grant) => {
        expect(parseGrant(formatGrant(grant))).toEqual(grant);
      }),
    );
  });

  it('keeps the order of a list', () => {
    fc.assert(
      fc.property(fc.array(grants), (list) => {
        expect(parseGrants(formatGrants(list))).toEqual(list);
      }),
    );
  });

  it.each([
    '',
    '*',
    'read',
    ':read',
    'acme:read',
    'acme/x',
    'acme/x:',
    'acme/x:owner',
    'acme/x:Read',
    'acme/x:read ',
    'acme/x:toString',
    '/x:read',
    'acme/:read',
    '/*:read',
    '*/x:read',
    '*/*:read',
    'acme/x*:read',
    'acme/**:read',
    'a*/*:read',
    'acme/x/*:read',
    'acme/x/y:read',
    '../x:read',
    '../*:read',
    'acme/..:read',
    `${'a'.repeat(129)}/*:read`,
    'acme/x:read:write',
  ])('refuses "%s"', (text) => {
    expect(parseGrant(text)).toBeUndefined();
  });

  it('refuses a list if one grant is malformed', () => {
    expect(parseGrants('acme/x:read acme:read')).toBeUndefined();
    expect(parseGrants('acme/x:read  acme/y:read')).toBeUndefined();
  });
});

describe('a role', () => {
  it.each([
    ['read', ['read']],
    ['report', ['report']],
    ['write', ['read', 'report', 'write']],
    ['inference', ['inference']],
    ['admin', ['read', 'report', 'write', 'inference', 'admin']],
  ])('%s allows %j and nothing else', (granted, expected) => {
    const allowed = roles.filter((role) => allows([grant(`acme/x:${granted}`)], project('acme/x'), role));
    expect(allowed).toEqual(expected);
  });
});

describe('a scope', () => {
  it.each([
    ['acme/x', 'acme/x', true],
    ['acme/x', 'acme/xy', false],
    ['acme/xy', 'acme/x', false],
    ['acme/x', 'acme2/x', false],
    ['acme/x', 'Acme/x', false],
    ['acme/*', 'acme/x', true],
    ['acme/*', 'acme2/x', false],
    ['acme2/*', 'acme/x', false],
    ['*', 'acme/x', true],
  ])('%s against %s: %s', (scope, id, expected) => {
    expect(allows([grant(`${scope}:read`)], project(id), 'read')).toBe(expected);
  });

  it.each([
    [['acme/x:inference'], 'acme/x'],
    [['acme/x:inference', 'acme/y:write', '*:read'], 'acme/x'],
    [['acme/x:inference', 'acme/x:admin'], 'acme/x'],
    [['acme/x:admin'], 'acme/x'],
    [['acme/x:inference', 'acme/y:admin'], undefined],
    [['acme/x:inference', '*:inference'], undefined],
    [['acme/*:inference'], undefined],
    [['*:admin'], undefined],
    [['acme/x:write'], undefined],
    [[], undefined],
  ])('%j give inference on one project alone: %s', (texts, only) => {
    expect(onlyProject(texts.map(grant), 'inference')).toBe(only);
  });

  it('never covers more than it says', () => {
    fc.assert(
      fc.property(scopes, projects, (scope, id) => {
        const [entity, name] = id.split('/');
        const [grantedEntity, grantedName] = scope.split('/');
        const expected =
          scope === '*' || (grantedEntity === entity && (grantedName === '*' || grantedName === name));
        expect(allows([grant(`${scope}:read`)], id, 'read')).toBe(expected);
      }),
    );
  });
});

describe('several grants', () => {
  it('allow what one of them allows, and no mixture of two', () => {
    fc.assert(
      fc.property(fc.array(grants, { maxLength: 4 }), projects, role, (list, id, role) => {
        const one = list.some((grant) => allows([grant], id, role));
        expect(allows(list, id, role)).toBe(one);
      }),
    );
  });

  it('do not lend the scope of one to the role of another', () => {
    const list = [grant('acme/*:read'), grant('acme/x:write')];
    expect(allows(list, project('acme/y'), 'write')).toBe(false);
    expect(allows(list, project('acme/y'), 'read')).toBe(true);
    expect(allows(list, project('acme/x'), 'write')).toBe(true);
  });

  it('allow nothing if there are none', () => {
    expect(allows([], project('acme/x'), 'read')).toBe(false);
  });
});

const caller: Caller = {
  user: 'Zoë',
  keyId: '0123456789abcdef',
  grants: [
    { scope: 'acme/*', role: 'write' },
    { scope: '*', role: 'inference' },
  ],
  expiresAt: 1_798_761_600_000_001,
};

describe("the caller in the gateway's context", () => {
  it('consists of strings', () => {
    expect(toContext(caller)).toEqual({
      user: 'Zoë',
      keyId: '0123456789abcdef',
      grants: 'acme/*:write *:inference',
      expiresAt: '2027-01-01T00:00:00.000001Z',
    });
  });

  it('is read back unchanged beside the gateway’s own fields', () => {
    expect(fromContext({ ...toContext(caller), principalId: 'Zoë', integrationLatency: 12 })).toEqual(caller);
  });

  it('is read back unchanged without an expiry', () => {
    const { expiresAt: _, ...unending } = caller;
    expect(fromContext(toContext(unending))).toEqual(unending);
  });

  it.each([
    ['absent', undefined],
    ['null', null],
    ['empty', {}],
    ['without grants', { user: 'ada', keyId: 'k' }],
    ['with malformed grants', { ...toContext(caller), grants: 'everything' }],
    ['with an expiry that is no time', { ...toContext(caller), expiresAt: 'soon' }],
    ['with an expiry that is no text', { ...toContext(caller), expiresAt: 1 }],
  ])('is an internal error when it is %s', (_, context) => {
    expect(() => fromContext(context)).toThrow(/no caller/);
  });
});

describe("the expiry of the caller's key", () => {
  it('is reached at its microsecond', () => {
    expect(hasExpired({ expiresAt: 10 }, 9)).toBe(false);
    expect(hasExpired({ expiresAt: 10 }, 10)).toBe(true);
  });

  it('is never reached if there is none', () => {
    expect(hasExpired({}, Number.MAX_SAFE_INTEGER)).toBe(false);
  });
});
