import { type ProjectId, parseProjectId } from '../wire/index.ts';

/** What a grant can allow. `write` includes `read`. `inference` stands by itself. */
export const roles = ['read', 'write', 'inference'] as const;
export type Role = (typeof roles)[number];

/** The projects of a grant: all, those of one entity, or one. No project's id has a `*`. */
export type Scope = '*' | `${string}/*` | ProjectId;

/** One thing that a key may do: as text `<scope>:<role>`, e.g. `acme/*:write`. */
export interface Grant {
  readonly scope: Scope;
  readonly role: Role;
}

/** The rule for grants, for error messages. */
export const grantRule =
  'should be <entity>/<project>:<role>, <entity>/*:<role> or *:<role>, the role being read, write or inference';

const parseScope = (text: string): Scope | undefined => {
  if (text === '*') return text;
  if (!text.endsWith('/*')) return parseProjectId(text);
  // An entity is well-formed if a project of it is.
  const entity = text.slice(0, -'/*'.length);
  return parseProjectId(`${entity}/any`) && `${entity}/*`;
};

/**
 * Parses `<entity>/<project>:<role>`, `<entity>/*:<role>` or `*:<role>`.
 *
 * @returns the grant; undefined if the text is not one
 */
export const parseGrant = (text: string): Grant | undefined => {
  const colon = text.lastIndexOf(':');
  if (colon < 0) return undefined;
  const scope = parseScope(text.slice(0, colon));
  const role = roles.find((name) => name === text.slice(colon + 1));
  return scope !== undefined && role !== undefined ? { scope, role } : undefined;
};

/** A grant as text, which {@link parseGrant} reads back. */
export const formatGrant = (grant: Grant): string => `${grant.scope}:${grant.role}`;

/**
 * Grants as one text, separated by spaces. {@link parseGrants} reads it back. No grants give the
 * empty text.
 */
export const formatGrants = (grants: readonly Grant[]): string => grants.map(formatGrant).join(' ');

/**
 * Parses what {@link formatGrants} wrote.
 *
 * @returns the grants in order; undefined if one of them is malformed
 */
export const parseGrants = (text: string): Grant[] | undefined => {
  if (text === '') return [];
  const grants = text.split(' ').map(parseGrant);
  const wellFormed = grants.filter((grant) => grant !== undefined);
  return wellFormed.length === grants.length ? wellFormed : undefined;
};

const includes = (granted: Role, asked: Role): boolean =>
  granted === asked || (granted === 'write' && asked === 'read');

/**
 * Whether one of the grants gives the role on the project. Scopes are compared whole, never by
 * prefix.
 */
export const allows = (grants: readonly Grant[], project: ProjectId, role: Role): boolean => {
  const everyProjectOfIts: Scope = `${project.slice(0, project.indexOf('/'))}/*`;
  return grants.some(
    (grant) =>
      includes(grant.role, role) &&
      (grant.scope === '*' || grant.scope === everyProjectOfIts || grant.scope === project),
  );
};
