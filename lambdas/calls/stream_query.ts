import { callsQueryBody, planSummary, queryCalls } from '../../core/query/index.ts';
import { settings } from '../http/settings.ts';
import { streamEndpoint } from '../http/stream.ts';

/** `POST /calls/stream_query`: the calls of a project that match, one JSON line each, the first as soon as it is known. */
export const handler = streamEndpoint(
  {
    path: '/calls/stream_query',
    body: callsQueryBody(settings.names),
    projects: ({ projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  ['application/jsonl', 'application/x-ndjson'],
  ({ body, effort }) => {
    const { plan, counts, calls } = queryCalls(settings.calls, body, effort);
    return { text: toLines(calls), logged: () => ({ plan: planSummary(plan), ...counts }) };
  },
);

async function* toLines(batches: AsyncIterable<string[]>): AsyncGenerator<string> {
  for await (const batch of batches) if (batch.length > 0) yield `${batch.join('\n')}\n`;
}
