import { refsReadBatch } from '../../../api/objects.ts';
import { streamRefs } from '../../../core/records/objects/index.ts';
import type { JsonValue } from '../../../foundations/wire/index.ts';
import { jsonList } from '../../common/http/answer.ts';
import { endpoint, streamJson } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

async function* toTexts(
  batches: AsyncIterable<readonly (JsonValue | undefined)[]>,
): AsyncGenerator<string[]> {
  for await (const batch of batches) yield batch.map((value) => JSON.stringify(value ?? null));
}

/**
 * `POST /refs/read_batch`: what refs refer to, in their order, null for a ref to nothing. It is
 * streamed, since values can be large.
 */
export const handler = endpoint(refsReadBatch, ({ body: { refs }, budget, describe }) => {
  describe(() => ({ rows: refs.length }));
  return streamJson(jsonList('vals', toTexts(streamRefs(stores.objects, refs, budget))));
});
