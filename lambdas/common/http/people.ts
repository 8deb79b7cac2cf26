import type { Asking } from '../../../core/records/people.ts';
import {
  formatGrant,
  type Grant,
  type GrantRecord,
  signInFromEnvironment,
} from '../../../foundations/auth/index.ts';
import { formatTime, type Micros } from '../../../foundations/wire/index.ts';
import { auditing } from './audit.ts';
import type { ServiceRequest } from './request.ts';
import { stores } from './stores.ts';

/*
 * What the endpoints of members and keys share.
 */

const peopleSignIn = signInFromEnvironment(process.env) !== undefined;

/** Who asks for members or keys, and how it is audited. */
export const asking = (request: ServiceRequest<unknown>): Asking => ({
  keys: stores.keys,
  caller: request.caller,
  peopleSignIn,
  audit: auditing(request),
  budget: request.budget,
});

/** A time as it is answered; null if there is none. */
export const toTime = (micros: Micros | undefined): string | null =>
  micros === undefined ? null : formatTime(micros);

/** What is answered of a key, but for the key itself. */
export const toKeyFields = (
  { id, user, createdAt, expiresAt, limits = {} }: GrantRecord,
  grants: readonly Grant[],
) => ({
  key_id: id,
  user,
  grants: grants.map(formatGrant),
  created_at: formatTime(createdAt),
  expires_at: toTime(expiresAt),
  usd_per_day: limits.usdPerDay ?? null,
  usd_per_month: limits.usdPerMonth ?? null,
});
