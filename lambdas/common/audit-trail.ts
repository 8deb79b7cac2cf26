import { createHash } from 'node:crypto';
import { type AuditEntry, type AuditRecord, type AuditStore, appendAudit } from '../../core/records/audit.ts';
import { putEvent } from '../../foundations/aws/index.ts';
import { type RequestBudget, requestBudget } from '../../foundations/storage/index.ts';
import { logFailure } from './log/request-log.ts';

/*
 * The way onto the audit trail, and onto the bus for events.
 */

/** The longest that an event may take, in milliseconds: a request waits for it. */
const eventMs = 2000;

const eventId = ({ id, at, project_id, entity }: AuditRecord): string =>
  createHash('sha256')
    .update(JSON.stringify(['AuditRecorded', id, at, project_id, entity]))
    .digest('hex')
    .slice(0, 32);

/** Tells the bus of an entry, if there is one for events. What it does not take is in the log and on the trail. */
const tell = async (record: AuditRecord, budget: RequestBudget): Promise<void> => {
  const { EVENT_BUS } = process.env;
  if (!EVENT_BUS) return;
  const { deadline } = requestBudget(eventMs);
  try {
    await putEvent(
      EVENT_BUS,
      {
        kind: 'AuditRecorded',
        detail: { event_id: eventId(record), ...record },
        time: Date.parse(record.at),
      },
      { deadline: Math.min(deadline, budget.deadline) },
    );
  } catch (error) {
    logFailure('audit', error);
  }
};

/**
 * Appends entries, and tells the bus of those that are new.
 *
 * @throws ServiceError 503 if one cannot be stored in time
 */
export const recordAudit = async (
  store: AuditStore,
  entries: readonly AuditEntry[],
  budget: RequestBudget,
): Promise<void> => {
  const records = await appendAudit(store, entries, budget);
  await Promise.all(records.map((record) => tell(record, budget)));
};
