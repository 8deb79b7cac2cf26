import { callsQueryStats } from '../../api/requests.ts';
import { countCalls, planSummary } from '../../core/query/index.ts';
import { settings } from '../http/settings.ts';
import { streamEndpoint } from '../http/stream.ts';

/**
 * `POST /calls/query_stats`: how many calls match, and how large they are. It is streamed, since
 * looking at all of them can take minutes.
 */
export const handler = streamEndpoint(
  {
    ...callsQueryStats(settings.names),
    projects: ({ selection }) => [{ projectId: selection.projectId, loc: ['project_id'] }],
  },
  ['application/json'],
  ({ body: { selection, withBytes }, budget }) => {
    const { query, stats } = countCalls(settings.calls, selection, budget);
    return {
      text: (async function* () {
        const { count, bytes } = await stats();
        yield `${JSON.stringify({ count, total_storage_size_bytes: withBytes ? bytes : null })}\n`;
      })(),
      logged: () => {
        const { scanned, hydrated } = query.counts;
        return { plan: planSummary(query.plan), rows: 1, scanned, hydrated };
      },
    };
  },
);
