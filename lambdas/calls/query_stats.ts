import { callsQueryStats } from '../../api/requests.ts';
import { feedbackOn } from '../../core/feedback/index.ts';
import { countCalls, type Lookups, noLookups, planSummary } from '../../core/query/index.ts';
import { settings } from '../http/settings.ts';
import { streamJsonEndpoint } from '../http/stream-json.ts';

/** Queries in Weave's dialect may name feedback, so its function alone has that table. */
const lookups: Lookups = {
  ...noLookups,
  feedback: (projectId, callIds, budget) => feedbackOn(settings.feedback, projectId, callIds, budget),
};

/**
 * `POST /calls/query_stats`: how many calls match, and how large they are. It is streamed, since
 * looking at all of them can take minutes.
 */
export const handler = streamJsonEndpoint(
  {
    ...callsQueryStats(settings.names),
    projects: ({ selection }) => [{ projectId: selection.projectId, loc: ['project_id'] }],
  },
  ({ body: { selection, withBytes }, budget }) => {
    const { query, stats } = countCalls(settings.calls, selection, budget, lookups);
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
