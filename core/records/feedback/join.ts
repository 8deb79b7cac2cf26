import { mapConcurrent, type RequestBudget, type Store } from '../../foundations/storage/index.ts';
import { callRef, type JsonValue, type ProjectId, parseJson } from '../../foundations/wire/index.ts';
import { encoder, FeedbackReader, joinedFields } from './answer.ts';
import { recordsOf } from './records.ts';
import { onRef } from './ref.ts';

/** How many calls are looked up at once. */
const concurrency = 32;

/**
 * The feedback on calls by call id, oldest first; calls without any are missing. It takes one query
 * for each call, the smallest there is if a call has no feedback.
 *
 * @param callIds each once
 * @throws ServiceError 503 when storage does not give it in time
 */
export const feedbackOn = async (
  store: Store,
  projectId: ProjectId,
  callIds: readonly string[],
  budget: RequestBudget,
): Promise<ReadonlyMap<string, JsonValue[]>> => {
  const encode = encoder(store.names, new FeedbackReader(store.names), joinedFields(store.names));
  const found = await mapConcurrent(callIds, concurrency, async (callId): Promise<[string, JsonValue[]]> => {
    const ref = callRef(store.names, projectId, callId);
    const records = await Array.fromAsync(recordsOf(store, projectId, onRef(ref), () => true, budget));
    const onCall = records.flat().filter(({ header }) => header.ref === ref);
    return [callId, onCall.map((record) => parseJson(encode(record)) as JsonValue)];
  });
  return new Map(found.filter(([, records]) => records.length > 0));
};
