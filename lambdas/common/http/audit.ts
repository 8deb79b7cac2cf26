import type { Actor, AuditEntry } from '../../../core/records/audit.ts';
import { type Caller, parseRoleArn } from '../../../foundations/auth/index.ts';
import { recordAudit } from '../audit-trail.ts';
import type { ServiceRequest } from './request.ts';
import { stores } from './stores.ts';

/** A change, as whoever makes it says it. */
export type Change = Omit<AuditEntry, 'actor' | 'address'>;

/**
 * Puts changes on the audit trail, before they are made.
 *
 * @throws ServiceError 503 if one cannot be stored in time: the change must not be made then
 */
export type Audit = (...changes: readonly Change[]) => Promise<void>;

/** No key's user has the form of an ARN. */
const toActor = ({ user, keyId, person }: Caller): Actor => ({
  kind: person ? 'person' : parseRoleArn(user) === undefined ? 'key' : 'role',
  user,
  keyId,
});

type Audited = Pick<ServiceRequest<unknown>, 'caller' | 'address' | 'budget'>;

/**
 * What puts the changes of a request on the audit trail. A change that is said again, since another write came in
 * between, is one entry.
 */
export const auditing = ({ caller, address, budget }: Audited): Audit => {
  const said = new Set<string>();
  return async (...changes) => {
    const fresh = new Map(changes.map((change) => [JSON.stringify(change), change]));
    for (const text of said) fresh.delete(text);
    if (fresh.size === 0) return;
    const actor = toActor(caller);
    const entries = [...fresh.values()].map((change): AuditEntry => ({ ...change, actor, address }));
    await recordAudit(stores.audit, entries, budget);
    // What failed is said again, and so is what is not stored yet.
    for (const text of fresh.keys()) said.add(text);
  };
};

/** How many of a request's ids an entry names. */
const namedIds = 50;

/** The deletion of what ids name in a project. */
export const deletionOf = (action: string, scope: AuditEntry['scope'], ids: readonly string[]): Change => ({
  scope,
  action,
  target: ids.length === 1 ? (ids[0] ?? '') : `${ids.length} ids`,
  before: { count: ids.length, ids: ids.slice(0, namedIds) },
});
