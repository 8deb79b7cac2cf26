import { createHash } from 'node:crypto';
import type { AuditStore } from '../../core/records/audit.ts';
import { type Caller, formatGrant, type Person } from '../../foundations/auth/index.ts';
import { type Meter, requestBudget, type Table } from '../../foundations/storage/index.ts';
import { recordAudit } from './audit-trail.ts';

/*
 * The audit of people who sign in. Tokens are all that the service sees of that.
 */

/** How many sessions a container remembers to have recorded. */
const maxRecorded = 10_000;

/** How long an entry may take, in milliseconds: the first request of a session waits for it. */
const entryMs = 3000;

/** How many grants an entry names. */
const namedGrants = 20;

/**
 * Records each session of a person once: an entry has the time of the session and an id that follows from it, so
 * that other containers change nothing.
 */
class SignIns {
  readonly #store: AuditStore;
  readonly #recorded = new Set<string>();

  constructor(store: AuditStore) {
    this.#store = store;
  }

  /**
   * Records that somebody has signed in, or was let in without any rights.
   *
   * @param meter counts the entry
   * @throws ServiceError 503 if the entry cannot be stored in time
   */
  async record(
    { id: personId, user, session: { mark, at } }: Person,
    { grants }: Pick<Caller, 'grants'>,
    address: string | null,
    meter: Meter,
  ): Promise<void> {
    const action = grants.length > 0 ? 'session.begin' : 'session.refuse';
    const id = createHash('sha256')
      .update(JSON.stringify([action, personId, mark]))
      .digest('hex')
      .slice(0, 32);
    if (this.#recorded.has(id)) return;
    const entry = {
      scope: '*',
      actor: { kind: 'person', user, keyId: personId },
      address,
      action,
      target: user,
      after: { grants: grants.slice(0, namedGrants).map(formatGrant) },
      id,
      at,
    } as const;
    await recordAudit(this.#store, [entry], { ...requestBudget(entryMs), meter });
    if (this.#recorded.size >= maxRecorded) this.#recorded.clear();
    this.#recorded.add(id);
  }
}

/** What records on the trail that the environment of a function names; undefined if it names none. */
export const signInsFromEnvironment = (
  { AUDIT_TABLE, AUDIT_DAYS }: NodeJS.ProcessEnv,
  client: Table['client'],
): SignIns | undefined =>
  AUDIT_TABLE ? new SignIns({ table: { client, name: AUDIT_TABLE }, days: Number(AUDIT_DAYS) }) : undefined;
