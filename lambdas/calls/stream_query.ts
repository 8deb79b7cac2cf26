import { callsStreamQuery } from '../../api/requests.ts';
import { planSummary, queryCalls } from '../../core/questions/query/index.ts';
import { formatted, recordTypes } from '../http/formats.ts';
import { lookupsFor } from '../http/lookups.ts';
import { settings } from '../http/settings.ts';
import { streamEndpoint } from '../http/stream.ts';

/** `POST /calls/stream_query`: the calls of a project that match, each as soon as it is known. */
export const handler = streamEndpoint(
  {
    ...callsStreamQuery(settings.names),
    projects: ({ projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  recordTypes,
  ({ body, caller, budget }, mediaType) => {
    const { plan, counts, calls, csv } = queryCalls(settings.calls, body, budget, lookupsFor(caller));
    return {
      text: formatted(mediaType, { json: calls, csv }),
      offset: body.offset,
      logged: () => {
        const { scanned, hydrated, sent } = counts;
        return { plan: planSummary(plan), rows: sent, scanned, hydrated };
      },
    };
  },
);
