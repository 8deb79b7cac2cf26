import { mapConcurrent, type RequestBudget, type Store } from '../storage/index.ts';
import type { ProjectId } from '../wire/index.ts';
import { positionOf } from './model.ts';
import { purgeFeedback } from './purge.ts';
import { callRef, onRef } from './ref.ts';
import { entriesOf } from './source.ts';

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
    for await (const entries of entriesOf(store, projectId, onRef(ref), budget)) {
      const ids = new Set(entries.map((entry) => positionOf(entry).id));
      // Of a record that was replaced, an object in the bucket may be left.
      await purgeFeedback(store, projectId, [...ids], budget, ({ entry }) => entry.header.ref === ref);
    }
  });
};
