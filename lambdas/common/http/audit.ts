import type { Actor, Audit, AuditEntry, AuditedChange } from '../../../core/records/audit.ts';
import { type Caller, parseRoleArn } from '../../../foundations/auth/index.ts';
import { recordAudit } from '../audit-trail.ts';
import type { ServiceRequest } from './request.ts';
import { stores } from './stores.ts';

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
export const deletionOf = (
  action: string,
  scope: AuditEntry['scope'],
  ids: readonly string[],
): AuditedChange => ({
  scope,
  action,
  target: ids.length === 1 ? (ids[0] ?? '') : `${ids.length} ids`,
  before: { count: ids.length, ids: ids.slice(0, namedIds) },
});
