import {
  getItems,
  mapConcurrent,
  queryPage,
  type RequestBudget,
  type Store,
} from '../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../foundations/wire/index.ts';
import { foldCall, foldHeader } from '../codec/fold.ts';
import { fromItem, type StoredPart } from '../codec/items.ts';
import { callKey, endKey, type Part, startKey } from '../codec/keys.ts';
import type { CallHeader } from '../model.ts';

/** The number of calls looked up one by one concurrently. */
const lookupConcurrency = 16;

/**
 * Looks up one call by id with its inline payloads, strongly consistent.
 *
 * @returns null if there is no call, or no start of it yet
 * @throws ServiceError 503 when storage does not answer in time
 */
export const findCall = async (
  store: Store,
  projectId: ProjectId,
  id: string,
  budget: RequestBudget,
): Promise<CallHeader | null> => {
  const range = { partition: ['k', callKey(projectId, id)] } as const;
  const { items } = await queryPage(store.table, range, budget, { consistent: true });
  const parts = items.map((item) => fromItem(store, projectId, item));
  return foldCall({ projectId, id }, parts);
};

/**
 * Looks up calls again whose headers are known, with their inline payloads and in any order. Calls
 * that are gone are left out.
 *
 * @param headers without duplicates; they tell which items to read
 * @throws ServiceError 503 when storage does not answer in time
 */
export const findCalls = async (
  store: Store,
  projectId: ProjectId,
  headers: readonly CallHeader[],
  budget: RequestBudget,
): Promise<CallHeader[]> => {
  const keys = headers.flatMap(({ id, end, endPart }) =>
    end && endPart === 'E' ? [startKey(projectId, id), endKey(projectId, id)] : [startKey(projectId, id)],
  );
  const items = await getItems(store.table, keys, budget, { consistent: false });
  const byId = Map.groupBy(
    items.map((item) => fromItem(store, projectId, item)),
    ({ id }) => id,
  );
  const found = await mapConcurrent(headers, lookupConcurrency, async ({ id, end }) => {
    const call = foldCall({ projectId, id }, byId.get(id) ?? []);
    // An end beside its start may have been replaced by one in an item that was not read.
    const isMissing = end !== null && call !== null && call.end === null;
    return isMissing ? findCall(store, projectId, id, budget) : call;
  });
  return found.filter((call) => call !== null);
};

/**
 * Reads stored parts of calls by their ids, in any order.
 *
 * @param ids without duplicates
 * @throws ServiceError 503 when storage does not answer in time
 */
export const readParts = async (
  store: Store,
  projectId: ProjectId,
  ids: readonly string[],
  parts: readonly Part[],
  budget: RequestBudget,
  options: { consistent: boolean },
): Promise<StoredPart[]> => {
  const keys = ids.flatMap((id) => {
    const k = callKey(projectId, id);
    return parts.map((part) => ({ k, p: part }));
  });
  const items = await getItems(store.table, keys, budget, options);
  return items.map((item) => fromItem(store, projectId, item));
};

/**
 * Reads the headers of calls by their ids, strongly consistent, in any order. Unknown ids are left
 * out.
 *
 * @param ids without duplicates
 * @throws ServiceError 503 when storage does not answer in time
 */
export const readHeaders = async (
  store: Store,
  projectId: ProjectId,
  ids: readonly string[],
  budget: RequestBudget,
): Promise<CallHeader[]> => {
  const parts = await readParts(store, projectId, ids, ['S', 'E'], budget, { consistent: true });
  const byId = Map.groupBy(parts, (part) => part.id);
  return [...byId].flatMap(([id, ofCall]) => foldHeader({ projectId, id }, ofCall) ?? []);
};
