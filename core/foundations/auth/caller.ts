import { formatTime, type Micros, parseTime } from '../wire/index.ts';
import { formatGrants, type Grant, parseGrants } from './grant.ts';

/** Who makes a request with a valid key. */
export interface Caller {
  /** The key's user. Writes carry this name. */
  readonly user: string;
  readonly keyId: string;
  readonly grants: readonly Grant[];
  /** When the key expires, in microseconds since 1970; absent for never. */
  readonly expiresAt?: Micros;
}

/** A caller as the authorizer hands it to the handlers. API Gateway carries strings alone. */
export type CallerContext = { user: string; keyId: string; grants: string; expiresAt?: string };

/** Writes the caller as strings: grants separated by spaces, the expiry in ISO 8601. */
export const toContext = (caller: Caller): CallerContext => ({
  user: caller.user,
  keyId: caller.keyId,
  grants: formatGrants(caller.grants),
  ...(caller.expiresAt !== undefined && { expiresAt: formatTime(caller.expiresAt) }),
});

/**
 * Reads what {@link toContext} wrote. Other values are the gateway's own.
 *
 * @throws Error if it is something else: the route then lacks its authorizer
 */
export const fromContext = (context: Readonly<Record<string, unknown>> | null | undefined): Caller => {
  const { user, keyId, grants: grantsText, expiresAt: expiryText } = context ?? {};
  const grants = typeof grantsText === 'string' ? parseGrants(grantsText) : undefined;
  const expiresAt = typeof expiryText === 'string' ? parseTime(expiryText) : undefined;
  const expiryUnread = expiryText !== undefined && expiresAt === undefined;
  if (typeof user !== 'string' || typeof keyId !== 'string' || !grants || expiryUnread)
    throw new Error('the request carries no caller: is the authorizer attached to its route?');
  return { user, keyId, grants, ...(expiresAt !== undefined && { expiresAt }) };
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
