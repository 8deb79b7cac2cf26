import { callsQueryBody, planSummary, type QueryAnswer, queryCalls } from '../../core/query/index.ts';
import { lookupsFor } from '../http/lookups.ts';
import { settings } from '../http/settings.ts';
import { streamEndpoint } from '../http/stream.ts';

type Format = (answer: QueryAnswer) => AsyncIterable<string>;

const lines = (end: string, of: (answer: QueryAnswer) => AsyncIterable<string[]>): Format =>
  async function* (answer) {
    for await (const batch of of(answer)) if (batch.length > 0) yield batch.join(end) + end;
  };

const jsonLines = lines('\n', ({ calls }) => calls);

async function* jsonArray({ calls }: QueryAnswer): AsyncGenerator<string> {
  let lead = '[';
  for await (const batch of calls) {
    if (batch.length === 0) continue;
    yield lead + batch.join(',\n');
    lead = ',\n';
  }
  yield lead === '[' ? '[]\n' : ']\n';
}

/** How calls are written as each of the media types, the default first. */
const formats = new Map<string, Format>([
  ['application/jsonl', jsonLines],
  ['application/x-ndjson', jsonLines],
  ['application/json', jsonArray],
  ['text/csv', lines('\r\n', ({ csv }) => csv)],
]);

/** `POST /calls/stream_query`: the calls of a project that match, each as soon as it is known. */
export const handler = streamEndpoint(
  {
    path: '/calls/stream_query',
    body: callsQueryBody(settings.names),
    projects: ({ projectId }) => [{ projectId, loc: ['project_id'] }],
  },
  [...formats.keys()],
  ({ body, caller, effort }, mediaType) => {
    const answer = queryCalls(settings.calls, body, effort, lookupsFor(caller));
    const format = formats.get(mediaType) ?? jsonLines;
    return { text: format(answer), logged: () => ({ plan: planSummary(answer.plan), ...answer.counts }) };
  },
);
