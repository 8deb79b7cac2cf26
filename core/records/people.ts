import {
  allowsAll,
  allowsAnywhere,
  type Caller,
  distinctGrants,
  entityOf,
  formatKey,
  type Grant,
  type Grantee,
  type GrantRecord,
  includesRole,
  isMember,
  keyState,
  listMembers,
  type Membership,
  makeKey,
  newRecord,
  overlaps,
  parsePerson,
  putKey,
  type Role,
  readRecord,
  readRecords,
  revokeKey,
  type Scope,
  setMember,
} from '../../foundations/auth/index.ts';
import type { RequestBudget, Table } from '../../foundations/storage/index.ts';
import { forbidden, formatTime, invalidAt, type Micros, notFound } from '../../foundations/wire/index.ts';
import type { Audit } from './audit.ts';

/*
 * Keys and members, as those see and change them who have the role `admin`. Nobody gives what they do not have:
 * whoever makes a key or a member has `admin` on all that it is for. docs/decisions/0291 says what else was decided.
 */

/** Who asks, of what table, and who is told. */
export interface Asking {
  readonly keys: Table;
  readonly caller: Caller;
  /** Whether the service has people sign in. */
  readonly peopleSignIn: boolean;
  readonly audit: Audit;
  readonly budget: RequestBudget;
}

const nowMicros = (): Micros => Date.now() * 1000;

/** The most keys, and the most members, of an entity: all are read to list them. */
const maxOfEntity = 1000;

/**
 * Refuses a role on a scope that the caller does not administer, or model requests by somebody who may only spend so
 * much: what they make would have no limit.
 *
 * @throws ServiceError 403
 */
const requireAdmin = ({ grants, limits }: Caller, { scope, role }: Grant, loc: readonly string[]): void => {
  if (!allowsAll(grants, scope, 'admin'))
    throw forbidden(loc, `it takes the role admin on ${scope}, which this key does not have`);
  if (limits && includesRole(role, 'inference'))
    throw forbidden(loc, `this key has a spending limit, so it may not give the role ${role} to others`);
};

/**
 * Refuses one more key or member of an entity than there may be. Several that are made at the same moment can be a few
 * more.
 *
 * @throws ServiceError 422
 */
const requireRoom = (records: readonly GrantRecord[], scopes: readonly Scope[], noun: string): void => {
  for (const entity of new Set(scopes.map(entityOf))) {
    const has = records.filter(({ grants }) => grants.some(({ scope }) => entityOf(scope) === entity));
    if (has.length < maxOfEntity) continue;
    const of = entity === '*' ? 'everything' : entity;
    throw invalidAt(['body'], `${of} has ${maxOfEntity} ${noun} already: take away those that nobody needs`);
  }
};

/**
 * Refuses a key whose user is somebody else's e-mail address: what is written with it would look like theirs. It says
 * the same of every address, so it tells nobody who there is. docs/decisions/0309 has the reasons.
 *
 * @throws ServiceError 422
 */
const requireOwnUser = (
  { caller, peopleSignIn }: Pick<Asking, 'caller' | 'peopleSignIn'>,
  user: string,
): void => {
  const address = parsePerson(user.normalize('NFKC'));
  if (!peopleSignIn || address === undefined || address === parsePerson(caller.user)) return;
  const msg =
    'should be no e-mail address but your own: name what the key is for, such as ci; a colleague signs in to make a key';
  throw invalidAt(['body', 'user'], msg);
};

const isUsable = (record: GrantRecord, now: Micros): boolean =>
  !isMember(record) && keyState(record, now) === 'active';

/** What an entry about one scope says of a key. Other scopes are none of their business who read it. */
export const describeKey = ({ user, grants, expiresAt, limits = {} }: Grantee, scope: Scope) => ({
  user,
  grants: grants.filter((grant) => grant.scope === scope).map(({ role }) => role),
  expires_at: expiresAt === undefined ? null : formatTime(expiresAt),
  usd_per_day: limits.usdPerDay ?? null,
  usd_per_month: limits.usdPerMonth ?? null,
});

/** The scopes of grants, each once. */
export const scopesOf = (grants: readonly Grant[]): Scope[] => [...new Set(grants.map(({ scope }) => scope))];

const makeRecord = (grantee: Grantee) => {
  const key = makeKey();
  try {
    return { key, record: newRecord(key, grantee, nowMicros()) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const isLate = grantee.expiresAt !== undefined && grantee.expiresAt <= nowMicros();
    throw invalidAt(['body', isLate ? 'expires_at' : 'grants'], error.message);
  }
};

/**
 * Makes a key.
 *
 * @returns the key as its holder sends it, this once, and its record
 * @throws ServiceError 403 if the caller does not administer all that it is for; 422 if its user is the address of
 * somebody else, there are too many, or it would have expired
 */
export const createKey = async (
  { keys, caller, peopleSignIn, audit, budget }: Asking,
  { grants: asked, ...rest }: Grantee,
): Promise<{ readonly key: string; readonly record: GrantRecord }> => {
  for (const [i, grant] of asked.entries()) requireAdmin(caller, grant, ['body', 'grants', String(i)]);
  requireOwnUser({ caller, peopleSignIn }, rest.user);
  const { key, record } = makeRecord({ ...rest, grants: distinctGrants(asked) });
  const scopes = scopesOf(record.grants);
  const usable = (await readRecords(keys, budget)).filter((known) => isUsable(known, record.createdAt));
  requireRoom(usable, scopes, 'keys');
  await audit(
    ...scopes.map((scope) => ({
      scope,
      action: 'key.create',
      target: record.id,
      after: describeKey(record, scope),
    })),
  );
  if (!(await putKey(keys, record, budget))) throw new Error('the id of a new key exists already');
  return { key: formatKey(key), record };
};

/** A key as one sees it who administers some of what it is for. */
export interface SeenKey {
  readonly record: GrantRecord;
  /** The grants on what the caller administers a part of. */
  readonly grants: readonly Grant[];
  readonly isMadeByDeployment: boolean;
  readonly canRevoke: boolean;
}

const isDeployed = ({ byDeployment, deployed = [] }: GrantRecord): boolean =>
  byDeployment === true || deployed.length > 0;

const administered = ({ grants }: Caller): Scope[] =>
  grants.filter(({ role }) => includesRole(role, 'admin')).map(({ scope }) => scope);

const administersAll = ({ grants }: Caller, record: GrantRecord): boolean =>
  record.grants.every(({ scope }) => allowsAll(grants, scope, 'admin'));

/** A key as a caller sees it; undefined if none of it is theirs to see. */
const seeKey = (record: GrantRecord, caller: Caller): SeenKey | undefined => {
  const scopes = administered(caller);
  const grants = record.grants.filter((grant) => scopes.some((scope) => overlaps(scope, grant.scope)));
  if (isMember(record) || grants.length === 0) return undefined;
  const isMadeByDeployment = isDeployed(record);
  const isOwn = record.id === caller.keyId;
  const canRevoke = !isMadeByDeployment && !isOwn && administersAll(caller, record);
  return { record, grants, isMadeByDeployment, canRevoke };
};

/**
 * Refuses whoever administers nothing.
 *
 * @throws ServiceError 403
 */
const requireAdminAnywhere = ({ grants }: Caller): void => {
  if (!allowsAnywhere(grants, 'admin'))
    throw forbidden(['header', 'authorization'], 'this key may not administer any project');
};

/**
 * The keys that may do something where the caller is an administrator, the oldest first.
 *
 * @param scope only those that may do something in it; null for all
 * @throws ServiceError 403 if the caller administers nothing
 */
export const queryKeys = async (
  { keys, caller, budget }: Omit<Asking, 'audit'>,
  scope: Scope | null,
): Promise<SeenKey[]> => {
  requireAdminAnywhere(caller);
  const records = await readRecords(keys, budget);
  return records.flatMap((record) => {
    const seen = seeKey(record, caller);
    const isAsked = !scope || seen?.grants.some((grant) => overlaps(grant.scope, scope));
    return seen && isAsked ? [seen] : [];
  });
};

/**
 * Revokes a key.
 *
 * @returns its record then
 * @throws ServiceError 404 if there is none that the caller may see, 403 if it is for more than they administer, 422
 * if it is the one that they use, or a deployment's
 */
export const revoke = async (
  { keys, caller, audit, budget }: Asking,
  keyId: string,
): Promise<GrantRecord & { readonly revokedAt: Micros }> => {
  const place = ['body', 'key_id'];
  requireAdminAnywhere(caller);
  const known = await readRecord(keys, keyId, budget);
  const seen = known && seeKey(known, caller);
  if (!seen) throw notFound(place, 'there is no such key, or it is for nothing that this key administers');
  const { record } = seen;
  const { revokedAt } = record;
  if (!administersAll(caller, record)) {
    const msg = 'this key is for more than you administer: it takes the role admin on all of it to revoke it';
    throw forbidden(place, msg);
  }
  if (revokedAt !== undefined) return { ...record, revokedAt };
  if (seen.isMadeByDeployment) {
    const msg =
      'a deployment made this key, and fails without it: take its grantReport out of the stack, or revoke it with npm run keys';
    throw invalidAt(place, msg);
  }
  if (record.id === caller.keyId)
    throw invalidAt(place, 'is the key of this request: revoke it with another one, or with npm run keys');
  await audit(
    ...scopesOf(record.grants).map((scope) => ({
      scope,
      action: 'key.revoke',
      target: record.id,
      before: describeKey(record, scope),
    })),
  );
  const revoked = await revokeKey(keys, record.id, nowMicros(), budget);
  if (revoked?.revokedAt === undefined) throw new Error(`the record of key ${record.id} has gone`);
  return { ...revoked, revokedAt: revoked.revokedAt };
};

/** What a member has on a scope, and by wider grants. */
export interface SeenMember {
  readonly record: GrantRecord;
  readonly roles: readonly Role[];
  readonly inherited: readonly Grant[];
}

/** @throws ServiceError 403 if the caller does not administer all of the scope */
export const requireAdminOf = ({ grants }: Caller, scope: Scope): void => {
  if (allowsAll(grants, scope, 'admin')) return;
  throw forbidden(
    ['body', scope.endsWith('/*') ? 'entity' : 'project_id'],
    `it takes the role admin on ${scope}, which this key does not have`,
  );
};

/** The members that have something on a scope, by name. */
export const queryMembers = async (
  { keys, caller, budget }: Omit<Asking, 'audit'>,
  scope: Scope,
): Promise<SeenMember[]> => {
  requireAdminOf(caller, scope);
  return (await listMembers(keys, budget)).flatMap((record) => {
    const roles = record.grants.filter((grant) => grant.scope === scope).map(({ role }) => role);
    const inherited = record.grants.filter(
      (grant) => grant.scope !== scope && allowsAll([grant], scope, grant.role),
    );
    return roles.length + inherited.length > 0 ? [{ record, roles, inherited }] : [];
  });
};

/** Whether a change would take from the caller what it takes to undo it. */
const locksOut = ({ user, grants, person }: Caller, { member, scope, roles }: Membership): boolean =>
  person !== undefined &&
  user === (member as string) &&
  !roles.includes('admin') &&
  grants.some((grant) => grant.scope === scope && grant.role === 'admin');

/**
 * Sets the roles of a member on a scope; none to remove it.
 *
 * @throws ServiceError 403 if the caller does not administer all of the scope; 422 if there are too many members, the
 * member would have too many grants, or would take the role `admin` from themselves
 */
export const setMembership = async (
  { keys, caller, audit, budget }: Asking,
  membership: Membership,
): Promise<readonly Role[]> => {
  const { member, scope, roles } = membership;
  requireAdminOf(caller, scope);
  for (const role of roles) requireAdmin(caller, { scope, role }, ['body', 'grants']);
  if (locksOut(caller, membership))
    throw invalidAt(['body', 'member'], 'is you: have somebody else take the role admin from you');
  const announce = async ({ before, after }: { before: readonly Role[]; after: readonly Role[] }) => {
    if (before.length === 0) requireRoom(await listMembers(keys, budget), [scope], 'members');
    const action = after.length > 0 ? 'member.set' : 'member.remove';
    await audit({ scope, action, target: member, before: [...before], after: [...after] });
  };
  try {
    return (await setMember(keys, membership, nowMicros(), budget, announce)).after;
  } catch (error) {
    if (error instanceof RangeError) throw invalidAt(['body', 'grants'], error.message);
    throw error;
  }
};
