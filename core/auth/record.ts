import { asBytes, asText, type Item, type Value } from '../storage/index.ts';
import { formatTime, type Micros, parseTime } from '../wire/index.ts';
import { formatGrant, formatGrants, type Grant, parseGrant } from './grant.ts';
import { digestKey, type Key } from './key.ts';

/** Whom a key is for, what it allows, and until when. */
export interface Grantee {
  /** 1–128 printable characters without `:`; the user that the key's writes are put down to. */
  readonly user: string;
  /** 1–50 grants. */
  readonly grants: readonly Grant[];
  /**
   * The first moment at which the key is no longer good, in microseconds since 1970; absent for
   * never.
   */
  readonly expiresAt?: Micros;
}

/** What is stored of a key: never its secret. Times are microseconds since 1970. */
export interface KeyRecord extends Grantee {
  readonly id: string;
  /** The SHA-256 of the key, 32 bytes. */
  readonly digest: Uint8Array;
  readonly createdAt: Micros;
  readonly revokedAt?: Micros;
}

/** Whether a key is good, and if not, why. A key that is both is called revoked. */
export type KeyState = 'active' | 'revoked' | 'expired';

const maxUserLength = 128;
const maxGrants = 50;
/**
 * The authorizer hands all grants on in one context value, and API Gateway's contexts have a bound.
 */
const maxGrantsLength = 4096;
const digestBytes = 32;

/**
 * No controls, invisible marks, lone surrogates or line breaks; no colon, which ends the user name
 * in Basic credentials; no quote or backslash, which API Gateway would write into its access log, a
 * JSON line, as they are.
 */
const printable = /^[^\p{C}\p{Zl}\p{Zp}:"\\]+$/u;

/**
 * Whether the text can be a user's name: 1–128 printable characters (code points) without `:`, `"`
 * and `\`.
 */
export const isUser = (text: string): boolean =>
  printable.test(text) && [...text].length <= maxUserLength && text.trim() === text;

const refuse = (grantee: Grantee, now: Micros): string | undefined => {
  if (!isUser(grantee.user))
    return 'the user should be 1 to 128 printable characters, without colon, double quote, backslash and space around them';
  if (grantee.grants.length === 0) return 'a key without a grant can do nothing: give it at least one';
  if (grantee.grants.length > maxGrants || formatGrants(grantee.grants).length > maxGrantsLength)
    return `too many grants: at most ${maxGrants}, and ${maxGrantsLength} characters in all; use <entity>/*`;
  if (grantee.expiresAt !== undefined && grantee.expiresAt <= now)
    return `the expiry should be in the future, ${formatTime(grantee.expiresAt)} is not`;
  return undefined;
};

/**
 * Makes the record of a new key.
 *
 * @param now microseconds since 1970
 * @throws RangeError, its message meant for the operator, when the user, the grants or the expiry
 * are out of bounds
 */
export const newRecord = (key: Key, grantee: Grantee, now: Micros): KeyRecord => {
  const refusal = refuse(grantee, now);
  if (refusal !== undefined) throw new RangeError(refusal);
  return { ...grantee, id: key.id, digest: digestKey(key), createdAt: now };
};

/**
 * The state of a key at the given time. A key has expired from the very microsecond of its expiry
 * on.
 */
export const keyState = (record: KeyRecord, now: Micros): KeyState => {
  if (record.revokedAt !== undefined) return 'revoked';
  return record.expiresAt !== undefined && record.expiresAt <= now ? 'expired' : 'active';
};

/**
 * The record as an item of the keys table, with names and values that an operator can read in the
 * console.
 */
export const toItem = (record: KeyRecord): Item => ({
  id: record.id,
  digest: record.digest,
  user: record.user,
  grants: record.grants.map(formatGrant),
  createdAt: formatTime(record.createdAt),
  ...(record.expiresAt !== undefined && { expiresAt: formatTime(record.expiresAt) }),
  ...(record.revokedAt !== undefined && { revokedAt: formatTime(record.revokedAt) }),
});

/** Reads a time; undefined where the item has none, an error where it has something else. */
const timeOf = (item: Item, name: string): Micros | undefined => {
  if (item[name] === undefined) return undefined;
  const text = asText(item[name]);
  return required(item, name, text === undefined ? undefined : parseTime(text));
};

const required = <T>(item: Item, name: string, value: T | undefined): T => {
  if (value === undefined) throw new Error(`the record of key ${asText(item.id)} is damaged: ${name}`);
  return value;
};

/** The grants of a list of texts; undefined where it is none, or one of them is no grant. */
const grantsOf = (value: Value | undefined): Grant[] | undefined => {
  if (!Array.isArray(value)) return undefined;
  const grants = value.map((grant) => (typeof grant === 'string' ? parseGrant(grant) : undefined));
  return grants.includes(undefined) ? undefined : grants.filter((grant) => grant !== undefined);
};

/**
 * Reads a record back from its item.
 *
 * @throws Error when the item is not what {@link toItem} writes: a damaged record never counts as a
 * valid key, least of all as one that does not expire
 */
export const fromItem = (item: Item): KeyRecord => {
  const digest = asBytes(item.digest);
  const expiresAt = timeOf(item, 'expiresAt');
  const revokedAt = timeOf(item, 'revokedAt');
  return {
    id: required(item, 'id', asText(item.id)),
    digest: required(item, 'digest', digest?.length === digestBytes ? digest : undefined),
    user: required(item, 'user', asText(item.user)),
    grants: required(item, 'grants', grantsOf(item.grants)),
    createdAt: required(item, 'createdAt', timeOf(item, 'createdAt')),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(revokedAt !== undefined && { revokedAt }),
  };
};
