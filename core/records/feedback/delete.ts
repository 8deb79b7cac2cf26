import {
  asBytes,
  type Item,
  mapConcurrent,
  type RequestBudget,
  readRange,
  type Store,
} from '../../foundations/storage/index.ts';
import { callRef, type ProjectId } from '../../foundations/wire/index.ts';
import { recordIdOf, refRange } from './keys.ts';
import { purgeFeedback } from './purge.ts';

const none = new Uint8Array();

/** How many calls are looked up at once. */
const concurrency = 16;

/**
 * Deletes the feedback on calls, with its payloads, for good: the records whose ref is the call's.
 * Those that name a call elsewhere stay. It takes one query for each call. The index that it reads
 * normally lags some milliseconds.
 *
 * @param callIds each once; the calls need not be there
 * @throws ServiceError 503 when some could not be deleted in time; others may have been, and the
 * same request may be sent again
 */
export const deleteFeedbackOn = async (
  store: Store,
  projectId: ProjectId,
  callIds: readonly string[],
  budget: RequestBudget,
): Promise<void> => {
  await mapConcurrent(callIds, concurrency, async (callId) => {
    const ref = callRef(store.names, projectId, callId);
    // Of a record that was replaced or purged, an object in the bucket may be left.
    const options = { toRow: (item: Item) => ({ id: recordIdOf(projectId, asBytes(item.k) ?? none) }) };
    for await (const rows of readRange(store.table, refRange(projectId, ref, {}), options, budget)) {
      const ids = rows.map(({ id }) => id);
      await purgeFeedback(store, projectId, ids, budget, ref);
    }
  });
};
