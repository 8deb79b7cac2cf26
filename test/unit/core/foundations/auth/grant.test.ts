import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allows,
  formatGrant,
  formatGrants,
  type Grant,
  parseGrant,
  parseGrants,
  roles,
} from '../../../../../core/foundations/auth/grant.ts';
import { type ProjectId, parseProjectId } from '../../../../../core/foundations/wire/index.ts';

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
    'acme/x:admin',
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
    ['write', ['read', 'write']],
    ['inference', ['inference']],
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
