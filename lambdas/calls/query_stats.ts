import { callsQueryStats } from '../../api/queries.ts';
import { countCalls, type Lookups, noLookups, planSummary } from '../../core/questions/query/index.ts';
import { feedbackOn } from '../../core/records/feedback/index.ts';
import type { Caller } from '../../foundations/auth/index.ts';
import { endpoint } from '../http/endpoint.ts';
import { objectsFor } from '../http/lookups.ts';
import { settings } from '../http/settings.ts';

/**
 * In Weave's dialect queries may name feedback and what refs lead to, so its function has those
 * tables.
 */
const lookupsOf = (caller: Caller): Lookups => ({
  ...noLookups,
  feedback: (projectId, callIds, budget) => feedbackOn(settings.feedback, projectId, callIds, budget),
  objects: objectsFor(caller),
});

/**
 * `POST /calls/query_stats`: how many calls match, and how large they are. It is streamed, since
 * looking at all of them can take minutes.
 */
export const handler = endpoint(callsQueryStats, async ({ body, caller, budget, describe }) => {
  const { query, stats } = countCalls(settings.calls, body, budget, lookupsOf(caller));
  describe(() => {
    const { scanned, hydrated } = query.counts;
    return { plan: planSummary(query.plan), rows: 1, scanned, hydrated };
  });
  const { count, bytes } = await stats();
  return { count, total_storage_size_bytes: body.withBytes ? bytes : null };
});
