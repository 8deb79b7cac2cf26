import { callsQueryStats } from '../../api/requests.ts';
import type { Caller } from '../../core/foundations/auth/index.ts';
import { countCalls, type Lookups, noLookups, planSummary } from '../../core/questions/query/index.ts';
import { feedbackOn } from '../../core/records/feedback/index.ts';
import { objectsFor } from '../http/lookups.ts';
import { settings } from '../http/settings.ts';
import { streamJsonEndpoint } from '../http/stream-json.ts';

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
export const handler = streamJsonEndpoint(
  {
    ...callsQueryStats(settings.names),
    projects: ({ selection }) => [{ projectId: selection.projectId, loc: ['project_id'] }],
  },
  ({ body: { selection, withBytes }, caller, budget }) => {
    const { query, stats } = countCalls(settings.calls, selection, budget, lookupsOf(caller));
    return {
      json: async () => {
        const { count, bytes } = await stats();
        return JSON.stringify({ count, total_storage_size_bytes: withBytes ? bytes : null });
      },
      logged: () => {
        const { scanned, hydrated } = query.counts;
        return { plan: planSummary(query.plan), rows: 1, scanned, hydrated };
      },
    };
  },
);
