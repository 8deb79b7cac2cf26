import { asBytes, asText, type Item, type Value } from '../storage/index.ts';
import { formatTime, type Micros, parseTime } from '../wire/index.ts';
import { formatGrant, formatGrants, type Grant, parseGrant } from './grant.ts';
import { digestKey, type Key } from './key.ts';

/** Whom a key is for, what it allows, and until when. */
export interface Grantee {
  /** 1–128 printable characters without `:`. The key's writes carry this name. */
  readonly user: string;
  /** 1–50 grants. */
  readonly grants: readonly Grant[];
  /** When the key expires, in microseconds since 1970; absent for never. */
  readonly expiresAt?: Micros;
}

/** The record of a key, without its secret. Times are microseconds since 1970. */
export interface KeyRecord extends Grantee {
  readonly id: string;
  /** The SHA-256 of the key, 32 bytes. */
  readonly digest: Uint8Array;
  readonly createdAt: Micros;
  readonly revokedAt?: Micros;
}

/** Whether a key is valid, and if not, why. A key that is both counts as revoked. */
export type KeyState = 'active' | 'revoked' | 'expired';

const maxUserLength = 128;
const maxGrants = 50;
/** The authorizer passes all grants in one context value, whose length API Gateway bounds. */
const maxGrantsLength = 4096;
const digestBytes = 32;

/**
 * The characters of a user's name. Not among them:
 *
 * - controls, invisible marks, lone surrogates and line breaks;
 * - the colon, which ends the user name in Basic credentials;
 * - quotes and backslashes, since API Gateway writes them raw into its access log, a JSON line.
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
 * @throws RangeError if the user, the grants or the expiry are out of bounds; its message is for
 * the operator
 */
export const newRecord = (key: Key, grantee: Grantee, now: Micros): KeyRecord => {
  const refusal = refuse(grantee, now);
  if (refusal !== undefined) throw new RangeError(refusal);
  return { ...grantee, id: key.id, digest: digestKey(key), createdAt: now };
};

/**
 * The state of a key at a time in microseconds since 1970. A key expires with the very microsecond
 * of its expiry.
 */
export const keyState = (record: KeyRecord, now: Micros): KeyState => {
  if (record.revokedAt !== undefined) return 'revoked';
  return record.expiresAt !== undefined && record.expiresAt <= now ? 'expired' : 'active';
};

/**
 * The record as an item of the keys table. An operator can read its names and values in the
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

/**
 * Reads a time; undefined if the item has none.
 *
 * @throws Error if it is no time
 */
const timeOf = (item: Item, name: string): Micros | undefined => {
  if (item[name] === undefined) return undefined;
  const text = asText(item[name]);
  return required(item, name, text === undefined ? undefined : parseTime(text));
};

const required = <T>(item: Item, name: string, value: T | undefined): T => {
  if (value === undefined) throw new Error(`the record of key ${asText(item.id)} is damaged: ${name}`);
  return value;
};

/** The grants of a list of texts; undefined if it is no list, or one of them is no grant. */
const grantsOf = (value: Value | undefined): Grant[] | undefined => {
  if (!Array.isArray(value)) return undefined;
  const grants = value.map((grant) => (typeof grant === 'string' ? parseGrant(grant) : undefined));
  return grants.includes(undefined) ? undefined : grants.filter((grant) => grant !== undefined);
};

/**
 * Reads a record back from its item.
 *
 * @throws Error if {@link toItem} did not write the item. A damaged record never counts as a valid
 * key, least of all as one without an expiry
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
