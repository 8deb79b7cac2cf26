import { auditQuery } from '../../../api/people.ts';
import { queryAudit } from '../../../core/records/audit.ts';
import { requireAdminOf } from '../../../core/records/people.ts';
import { work } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/** `POST /audit/query`: who did what in a project, an entity or the service, the newest first. */
export const handler = work(auditQuery, async ({ body, caller, budget, describe }) => {
  requireAdminOf(caller, body.scope);
  const records = await queryAudit(stores.audit.table, body, budget);
  describe(() => ({ rows: records.length }));
  return { records };
});
