import { planSummary, queryThreads } from '../../core/threads/index.ts';
import { formatted, recordTypes } from '../http/formats.ts';
import { settings } from '../http/settings.ts';
import { streamEndpoint } from '../http/stream.ts';
import { threadsStreamQuery } from '../requests.ts';

/** `POST /threads/stream_query`: the threads of a project, with statistics over their turns. */
export const handler = streamEndpoint(
  {
    ...threadsStreamQuery(),
    projects: ({ projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  recordTypes,
  ({ body, effort }, mediaType) => {
    const answer = queryThreads(settings.calls, body, effort);
    return {
      text: formatted(mediaType, { json: answer.threads, csv: answer.csv }),
      logged: () => ({ plan: planSummary(answer.plan), ...answer.counts }),
    };
  },
);
