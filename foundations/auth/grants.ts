import { formatTime, type Micros, type ProjectId, parseProjectId, parseTime } from '../wire/index.ts';
import { hasProject, includesRole, type Role, roles } from './roles.ts';

/** The projects of a grant: all, those of one entity, or one. No project's id has a `*`. */
export type Scope = '*' | `${string}/*` | ProjectId;

/** One thing that a key may do: as text `<scope>:<role>`, e.g. `acme/*:write`. */
export interface Grant {
  readonly scope: Scope;
  readonly role: Role;
}

/** The rule for grants, for error messages. */
export const grantRule = `should be <entity>/<project>:<role>, <entity>/*:<role> or *:<role>, the role being ${roles.slice(0, -1).join(', ')} or ${roles.at(-1)}`;

/** The scope that a text names: `*`, `<entity>/*` or a project; undefined if it is none. */
export const parseScope = (text: string): Scope | undefined => {
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

/** Grants, each once. */
export const distinctGrants = (grants: readonly Grant[]): Grant[] => [
  ...new Map(grants.map((grant) => [formatGrant(grant), grant])).values(),
];

/** Whether one of the grants gives the role on the project. */
export const allows = (grants: readonly Grant[], project: ProjectId, role: Role): boolean =>
  grants.some((grant) => includesRole(grant.role, role) && hasProject(grant.scope, project));

/** Whether a scope has all that another one has. */
const covers = (wide: Scope, scope: Scope): boolean =>
  wide === '*' || wide === scope || (scope !== '*' && hasProject(wide, scope));

/** Whether two scopes have a project in common. */
export const overlaps = (one: Scope, other: Scope): boolean => covers(one, other) || covers(other, one);

/** Whether one of the grants gives the role on all that a scope has. */
export const allowsAll = (grants: readonly Grant[], scope: Scope, role: Role): boolean =>
  grants.some((grant) => includesRole(grant.role, role) && covers(grant.scope, scope));

/** The scope of all projects of an entity; undefined if no entity can have that name. */
export const entityScope = (entity: string): Scope | undefined =>
  entity === '*' ? undefined : parseScope(`${entity}/*`);

/** The entity of a scope; `*` for all. */
export const entityOf = (scope: Scope): string => scope.split('/', 1)[0] ?? '';

/** Whether one of the grants gives the role on some project. */
export const allowsAnywhere = (grants: readonly Grant[], role: Role): boolean =>
  grants.some((grant) => includesRole(grant.role, role));

/**
 * The project that grants give a role on, if it is one alone.
 *
 * @returns undefined if there are several, or a grant is for all projects of an entity, or for all
 */
export const onlyProject = (grants: readonly Grant[], role: Role): ProjectId | undefined => {
  const giving = grants.filter((grant) => includesRole(grant.role, role));
  const [scope = '', ...others] = new Set(giving.map((grant) => grant.scope));
  return others.length === 0 ? parseProjectId(scope) : undefined;
};

/** The most dollars that model requests may cost in a UTC day, and in a UTC month. */
export interface SpendingLimits {
  readonly usdPerDay?: number | undefined;
  readonly usdPerMonth?: number | undefined;
}

/** The largest limit, in dollars: sums stay exact in billionths. */
export const maxLimitUsd = 1_000_000;

/** Who makes a request with a valid key, or with the token of a role or a person. */
export interface Caller {
  /** The key's user. Writes carry this name. */
  readonly user: string;
  /** The key's id. Roles and persons have one in the same form. */
  readonly keyId: string;
  readonly grants: readonly Grant[];
  /** When the key expires, in microseconds since 1970; absent for never. */
  readonly expiresAt?: Micros;
  /** What the key may spend; absent for any amount. */
  readonly limits?: SpendingLimits;
  /** The last day that is noted of the key's use; absent for none, and in handlers. */
  readonly usedOn?: string;
  /** Who it is that signed in; absent for a key and a role. */
  readonly person?: { readonly name?: string };
}

/** A caller as the authorizer hands it to the handlers. API Gateway carries strings alone. */
export type CallerContext = {
  user: string;
  keyId: string;
  grants: string;
  expiresAt?: string;
  usdPerDay?: string;
  usdPerMonth?: string;
  /** The name of the person, perhaps empty; absent if it is none. */
  person?: string;
};

/** Writes the caller as strings: grants separated by spaces, the expiry in ISO 8601. */
export const toContext = (caller: Caller): CallerContext => ({
  user: caller.user,
  keyId: caller.keyId,
  grants: formatGrants(caller.grants),
  ...(caller.expiresAt !== undefined && { expiresAt: formatTime(caller.expiresAt) }),
  ...(caller.limits?.usdPerDay !== undefined && { usdPerDay: String(caller.limits.usdPerDay) }),
  ...(caller.limits?.usdPerMonth !== undefined && { usdPerMonth: String(caller.limits.usdPerMonth) }),
  ...(caller.person && { person: caller.person.name ?? '' }),
});

/** What the context says of limits. A damaged one allows nothing. */
const limitsIn = ({
  usdPerDay,
  usdPerMonth,
}: Readonly<Record<string, unknown>>): SpendingLimits | undefined => {
  if (usdPerDay === undefined && usdPerMonth === undefined) return undefined;
  const toUsd = (text: unknown) => (typeof text === 'string' ? Number(text) || 0 : 0);
  return {
    ...(usdPerDay !== undefined && { usdPerDay: toUsd(usdPerDay) }),
    ...(usdPerMonth !== undefined && { usdPerMonth: toUsd(usdPerMonth) }),
  };
};

/**
 * Reads what {@link toContext} wrote. Other values are the gateway's own.
 *
 * @throws Error if it is something else: the route then lacks its authorizer
 */
export const fromContext = (context: Readonly<Record<string, unknown>> | null | undefined): Caller => {
  const { user, keyId, grants: grantsText, expiresAt: expiryText, person: name } = context ?? {};
  const grants = typeof grantsText === 'string' ? parseGrants(grantsText) : undefined;
  const expiresAt = typeof expiryText === 'string' ? parseTime(expiryText) : undefined;
  const expiryUnread = expiryText !== undefined && expiresAt === undefined;
  if (typeof user !== 'string' || typeof keyId !== 'string' || !grants || expiryUnread)
    throw new Error('the request carries no caller: is the authorizer attached to its route?');
  const limits = limitsIn(context ?? {});
  return {
    user,
    keyId,
    grants,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(limits && { limits }),
    ...(typeof name === 'string' && { person: { ...(name && { name }) } }),
  };
};

/**
 * Whether the caller's key has expired.
 *
 * Handlers ask again, since the gateway may have cached the authorizer's answer.
 *
 * @param now microseconds since 1970
 */
export const hasExpired = (caller: Pick<Caller, 'expiresAt'>, now: Micros): boolean =>
  caller.expiresAt !== undefined && caller.expiresAt <= now;

/** What acts: somebody with a key, a person who signed in, an IAM role, or somebody with the tables themselves. */
export const actorKinds = ['key', 'person', 'role', 'operator'] as const;
export type ActorKind = (typeof actorKinds)[number];
