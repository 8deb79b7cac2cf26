import { threadsStreamQuery } from '../../api/requests.ts';
import { planSummary, queryThreads } from '../../core/questions/threads/index.ts';
import { formatted, recordTypes } from '../http/formats.ts';
import { settings } from '../http/settings.ts';
import { streamEndpoint } from '../http/stream.ts';

/** `POST /threads/stream_query`: the threads of a project, with statistics over their turns. */
export const handler = streamEndpoint(
  {
    ...threadsStreamQuery(),
    projects: ({ projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  recordTypes,
  ({ body, budget }, mediaType) => {
    const { plan, counts, threads, csv } = queryThreads(settings.calls, body, budget);
    return {
      text: formatted(mediaType, { json: threads, csv }),
      offset: body.offset,
      // The rows here are those of turns.
      logged: () => ({ plan: planSummary(plan), rows: counts.sent, scanned: counts.rows }),
    };
  },
);
