import { callsStreamQuery } from '../../../api/queries.ts';
import { planSummary, queryCalls } from '../../../core/questions/query/index.ts';
import type { AuditedChange } from '../../../core/records/audit.ts';
import { auditing } from '../../common/http/audit.ts';
import { endpoint, streamRecords } from '../../common/http/endpoint.ts';
import { lookupsFor } from '../../common/http/lookups.ts';
import { stores } from '../../common/http/stores.ts';

type Body = Parameters<typeof callsStreamQuery.projects>[0];

/** From so many calls on, a limit is as good as none. */
const manyCalls = 10_000;

/** Whether a request asks for all calls of a project, whatever they are: docs/audit.md. */
const isExport = ({ limit, filter, where }: Body): boolean =>
  (limit === null || limit >= manyCalls) &&
  where === null &&
  Object.values(filter ?? {}).every((value) => value === null || value === false);

const exportOf = ({ projectId, columns, limit, offset }: Body): AuditedChange => ({
  scope: projectId,
  action: 'project.export',
  target: projectId,
  after: { columns, limit, offset },
});

/** `POST /calls/stream_query`: the calls of a project that match, each as soon as it is known. */
export const handler = endpoint(callsStreamQuery, async (request) => {
  const { body, caller, budget, describe, door } = request;
  if (isExport(body)) await auditing(request)(exportOf(body));
  const answer = queryCalls(stores.calls, body, budget, lookupsFor(caller), door.names);
  describe(() => {
    const { scanned, hydrated, sent, text, days } = answer.counts;
    return {
      plan: planSummary(answer.plan, text),
      rows: sent,
      scanned,
      hydrated,
      ...(days > 0 && { days }),
    };
  });
  return streamRecords(answer, body.offset);
});
