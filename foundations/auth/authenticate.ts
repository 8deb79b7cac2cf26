import type { Memory } from '../memory.ts';
import { getItems, type Meter, requestBudget, type Table } from '../storage/index.ts';
import type { Micros } from '../wire/index.ts';
import {
  allowsAll,
  type Caller,
  distinctGrants,
  entityOf,
  formatGrant,
  type Grant,
  type Scope,
} from './grants.ts';
import { toRoleId } from './iam-role.ts';
import { isToken } from './iam-token.ts';
import {
  fromItem,
  type GrantRecord,
  getKey,
  keyState,
  matchesDigest,
  maxGrantsLength,
  parseKey,
} from './keys.ts';
import { type Member, toMemberId } from './members.ts';
import { type FindPerson, isJwt, type Person, type PersonRefusal } from './person.ts';
import type { FindRole, RoleRefusal } from './sts.ts';

/** The HTTP authentication schemes that the service knows. */
export type Scheme = 'basic' | 'bearer';

/** What a route takes: one scheme, or `any` of them. A route of `bearer` takes the key as `x-api-key`, too. */
export type AcceptedScheme = Scheme | 'any';

/** What an `Authorization` header carries. The key is still any text. */
export type Credentials =
  | { readonly scheme: 'basic'; readonly username: string; readonly key: string }
  | { readonly scheme: 'bearer'; readonly key: string };

/**
 * Twice the length of the longest user name (128 characters of four bytes) and a key, in base64.
 */
const maxHeaderLength = 2048;

/** The longest with a token of a role, which has a session's token in it, or of a person, with groups in it. */
const maxTokenHeaderLength = 8192;

/** One character class, repeated once: no input makes it backtrack. */
const bearerToken = /^[A-Za-z0-9._~+/=-]+$/;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const parseBasic = (encoded: string): Credentials | undefined => {
  const bytes = Buffer.from(encoded, 'base64');
  // Node skips what is not base64, so only text that encodes back to itself counts.
  if (bytes.toString('base64') !== encoded) return undefined;
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return undefined;
  }
  // RFC 7617: the user name has no colon, the password may.
  const colon = text.indexOf(':');
  if (colon < 0) return undefined;
  return { scheme: 'basic', username: text.slice(0, colon), key: text.slice(colon + 1) };
};

/** A scheme with the space behind it percent-encoded. */
const encodedScheme = /^(?:basic|bearer)%20/i;

/**
 * A header as it was meant. Environment variables of OpenTelemetry's exporters hold it percent-encoded,
 * and some exporters send it as it stands there. No header that is good as it is begins like that.
 *
 * @returns undefined if it cannot be decoded
 */
const decoded = (header: string): string | undefined => {
  if (!encodedScheme.test(header)) return header;
  try {
    return decodeURIComponent(header);
  } catch {
    return undefined;
  }
};

/**
 * Parses an `Authorization` header of at most 2,048 characters, or as many as are given. It is one of two:
 *
 * - `Basic` and the base64 of `<username>:<password>` in UTF-8 (RFC 7617), the key as password;
 * - `Bearer` and the key (RFC 6750).
 *
 * The scheme's case does not matter, and one space follows it. Base64 is canonical, with its
 * padding. With `%20` in the place of the space, the whole is percent-encoded.
 *
 * @returns undefined if the header is absent, malformed, too long or of another scheme; never
 * throws
 */
export const parseCredentials = (
  sent: string | undefined,
  maxLength = maxHeaderLength,
): Credentials | undefined => {
  if (sent === undefined || sent.length > maxLength) return undefined;
  const header = decoded(sent);
  if (header === undefined) return undefined;
  const space = header.indexOf(' ');
  if (space < 0) return undefined;
  const value = header.slice(space + 1);
  switch (header.slice(0, space).toLowerCase()) {
    case 'basic':
      return parseBasic(value);
    case 'bearer':
      return bearerToken.test(value) ? { scheme: 'bearer', key: value } : undefined;
    default:
      return undefined;
  }
};

/** The keys of the service. */
export interface KeyStore {
  readonly table: Table;
  /** Remembers what was read of keys, by their ids. @default - each request reads its key */
  readonly memory?: Memory<GrantRecord | undefined>;
  /** The same of members, by the ids of all that a person is. @default - each request reads its members */
  readonly memberMemory?: Memory<readonly GrantRecord[]>;
  /** Finds out whose role signed a token. @default - the setting `iam` is off, so tokens are refused */
  readonly findRole?: FindRole | undefined;
  /** Finds out who has a token of the issuer. @default - the setting `signIn` is off, so they are refused */
  readonly findPerson?: FindPerson | undefined;
}

/** Why a request was refused. Only the log says it; the caller learns no more than that it was. */
export type Refusal =
  | 'no header'
  | 'malformed header'
  | 'wrong scheme'
  | 'malformed key'
  | 'unknown key'
  | 'wrong secret'
  | 'revoked key'
  | 'expired key'
  | 'wrong user'
  | 'iam is off'
  | 'unknown role'
  | 'revoked role'
  | 'expired role'
  | 'role without grants'
  | RoleRefusal
  | PersonRefusal;

/** The caller, or why there is none, with the id of the key or the role once it is known. */
export type Authentication =
  | { readonly caller: Caller; readonly person?: Person }
  | {
      readonly refusal: Refusal;
      readonly keyId?: string;
      /** The ARN of the role, if it was a role that signed. */
      readonly user?: string;
    };

/** The user name that fits every key, for clients that don't know whose key they have. */
const anyUser = 'api';

const findRefusal = (
  record: GrantRecord,
  kind: 'key' | 'role',
  credentials: Credentials,
  now: Micros,
): Refusal | undefined => {
  const state = keyState(record, now);
  if (state !== 'active') return `${state} ${kind}`;
  if (credentials.scheme === 'bearer') return undefined;
  return [record.user, anyUser].includes(credentials.username) ? undefined : 'wrong user';
};

/** What is stored of a key. An unknown one is not remembered, since it may be created any moment. */
const findKey = async ({ table, memory }: KeyStore, id: string, meter?: Meter) => {
  const read = () => getKey(table, id, meter);
  const record = await (memory ? memory.get(id, read) : read());
  if (!record) memory?.forget(id);
  return record;
};

const toCaller = (
  { id: keyId, user, grants, limits, usedOn }: GrantRecord,
  expiresAt: Micros | undefined,
): Authentication => {
  const caller = { user, keyId, grants, ...(usedOn !== undefined && { usedOn }) };
  return { caller: { ...caller, ...(expiresAt !== undefined && { expiresAt }), ...(limits && { limits }) } };
};

/** Finds out whose role signed a token, and what the role is granted. */
const authenticateRole = async (
  credentials: Credentials,
  keys: KeyStore,
  now: Micros,
  meter?: Meter,
): Promise<Authentication> => {
  if (!keys.findRole) return { refusal: 'iam is off' };
  const role = await keys.findRole(credentials.key, now);
  if ('refusal' in role) return role;
  const keyId = toRoleId(role.arn);
  const record = await findKey(keys, keyId, meter);
  const refuse = (refusal: Refusal): Authentication => ({ refusal, keyId, user: role.arn });
  if (record?.user !== role.arn) return refuse('unknown role');
  const refusal = findRefusal(record, 'role', credentials, now);
  if (refusal) return refuse(refusal);
  if (record.grants.length === 0) return refuse('role without grants');
  return toCaller(record, Math.min(role.expiresAt, record.expiresAt ?? Number.POSITIVE_INFINITY));
};

/** How long the records of a person's groups may take, in milliseconds. */
const membersMs = 5000;

/** What is stored of members, in their order. That of none is not remembered, since somebody may set it any moment. */
const findMembers = async (
  { table, memberMemory: memory }: KeyStore,
  members: readonly Member[],
  meter?: Meter,
): Promise<readonly GrantRecord[]> => {
  if (members.length === 0) return [];
  const ids = members.map(toMemberId);
  const read = async () => {
    const budget = requestBudget(membersMs);
    const keys = ids.map((id) => ({ id }));
    const items = await getItems(table, keys, meter ? { ...budget, meter } : budget, { consistent: true });
    const byId = new Map(items.map(fromItem).map((record) => [record.id, record]));
    return ids.map((id) => byId.get(id)).filter((record) => record !== undefined);
  };
  const name = JSON.stringify(ids);
  const records = await (memory ? memory.get(name, read) : read());
  if (records.length === 0) memory?.forget(name);
  return records;
};

const covers = (one: Grant, other: Grant): boolean => allowsAll([one], other.scope, other.role);

/** The scopes that have all of a scope, itself among them. */
const widerScopes = (scope: Scope): Scope[] => ['*', `${entityOf(scope)}/*`, scope];

/** Grants with one of each entity in turn. */
const inTurn = (grants: readonly Grant[]): Grant[] => {
  const entities = [...Map.groupBy(grants, ({ scope }) => entityOf(scope)).values()];
  const most = Math.max(0, ...entities.map(({ length }) => length));
  return Array.from({ length: most }, (_, turn) => entities.flatMap((own) => own[turn] ?? [])).flat();
};

/**
 * Grants without those that others include, as many as a context may hold: the first of each entity count, so that
 * what one entity gives takes no room from another's. Thousands take no longer than it takes to read them, since
 * many groups can have fifty each.
 */
const joinGrants = (all: readonly Grant[]): Grant[] => {
  const grants = distinctGrants(all);
  const byScope = Map.groupBy(grants, ({ scope }) => scope);
  const isNeeded = (grant: Grant): boolean =>
    !widerScopes(grant.scope).some((scope) =>
      byScope.get(scope)?.some((other) => other !== grant && covers(other, grant)),
    );
  const needed = grants.filter(isNeeded);
  let room = maxGrantsLength;
  const fitting = inTurn(needed).filter((grant) => {
    room -= formatGrant(grant).length + 1;
    return room >= -1;
  });
  const kept = new Set(fitting);
  return needed.filter((grant) => kept.has(grant));
};

/** Finds out who has a token, and what the person and the person's groups are granted: perhaps nothing. */
const authenticatePerson = async (
  token: string,
  keys: KeyStore & { readonly findPerson: FindPerson },
  now: Micros,
  meter?: Meter,
): Promise<Authentication> => {
  const person = await keys.findPerson(token, now);
  if ('refusal' in person) return person;
  const { id: keyId, user, name, members, grants, expiresAt } = person;
  const records = await findMembers(keys, members, meter);
  const active = records.filter((record) => keyState(record, now) === 'active');
  const all = joinGrants([...grants, ...active.flatMap((record) => record.grants)]);
  const caller = { user, keyId, grants: all, expiresAt, person: { ...(name !== undefined && { name }) } };
  return { caller, person };
};

/**
 * Finds out who makes a request.
 *
 * @param header the `Authorization` header, or `Bearer` and what is in `x-api-key`; undefined if there
 * is none
 * @param scheme what the route takes
 * @param now microseconds since 1970
 * @param meter counts the look-up of the key
 * @returns the caller, or why there is none
 * @throws the SDK's error when the table does not answer, StsError when STS does not: that says nothing
 * about the key
 */
export const authenticate = async (
  header: string | undefined,
  scheme: AcceptedScheme,
  keys: KeyStore,
  now: Micros,
  meter?: Meter,
): Promise<Authentication> => {
  if (header === undefined) return { refusal: 'no header' };
  const { findRole, findPerson } = keys;
  const credentials = parseCredentials(header, findRole || findPerson ? maxTokenHeaderLength : undefined);
  if (!credentials) return { refusal: 'malformed header' };
  // Every route takes the token of a person, and as Bearer alone: browsers add Basic by themselves.
  if (findPerson && credentials.scheme === 'bearer' && isJwt(credentials.key) && !isToken(credentials.key))
    return authenticatePerson(credentials.key, { ...keys, findPerson }, now, meter);
  if (scheme !== 'any' && credentials.scheme !== scheme) return { refusal: 'wrong scheme' };
  if (isToken(credentials.key)) return authenticateRole(credentials, keys, now, meter);
  const key = parseKey(credentials.key);
  if (!key) return { refusal: 'malformed key' };

  const record = await findKey(keys, key.id, meter);
  // The secret is compared first, even for an unknown id.
  const matches = matchesDigest(key, record?.digest);
  if (!record) return { refusal: 'unknown key', keyId: key.id };
  if (!matches) return { refusal: 'wrong secret', keyId: key.id };
  const refusal = findRefusal(record, 'key', credentials, now);
  return refusal ? { refusal, keyId: key.id } : toCaller(record, record.expiresAt);
};
