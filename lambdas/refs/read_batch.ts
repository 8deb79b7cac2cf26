import { refsReadBatch } from '../../api/requests.ts';
import type { JsonValue } from '../../core/foundations/wire/index.ts';
import { streamRefs } from '../../core/records/objects/index.ts';
import { jsonList } from '../http/json-list.ts';
import { settings } from '../http/settings.ts';
import { streamJsonEndpoint } from '../http/stream-json.ts';

/**
 * `POST /refs/read_batch`: what refs refer to, in their order, null for a ref to nothing. It is
 * streamed, since values can be large.
 */
export const handler = streamJsonEndpoint(
  {
    ...refsReadBatch(settings.names),
    projects: ({ refs }) => refs.map(({ projectId }, i) => ({ projectId, loc: ['refs', String(i)] })),
  },
  ({ body: { refs }, budget }) => ({
    json: jsonList('vals', toTexts(streamRefs(settings.objects, refs, budget))),
    logged: () => ({ rows: refs.length }),
  }),
);

async function* toTexts(
  batches: AsyncIterable<readonly (JsonValue | undefined)[]>,
): AsyncGenerator<string[]> {
  for await (const batch of batches) yield batch.map((value) => JSON.stringify(value ?? null));
}
