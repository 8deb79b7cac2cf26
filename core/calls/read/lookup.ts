import { getItems, mapConcurrent, queryPage, type RequestBudget, type Store } from '../../storage/index.ts';
import type { ProjectId } from '../../wire/index.ts';
import { foldHeader } from '../codec/header.ts';
import { fromItem, type StoredPart } from '../codec/items.ts';
import { callKey, endKey, type Part, startKey } from '../codec/keys.ts';
import type { CallHeader } from '../model.ts';

/** How many calls are looked up one by one at once. */
const lookupConcurrency = 16;

/**
 * A call as the table has it: its header and the packed payloads that ride in its items, read in
 * one go.
 */
export interface FoundCall {
  readonly header: CallHeader;
  /** By the part in whose item they lie. */
  readonly inline: ReadonlyMap<Part, Uint8Array>;
}

/**
 * Looks one call up by its id, strongly consistent.
 *
 * @returns null where there is none, or no start of it yet
 * @throws ServiceError 503 when storage does not give it in time
 */
export const findCall = async (
  store: Store,
  projectId: ProjectId,
  id: string,
  budget: RequestBudget,
): Promise<FoundCall | null> => {
  const range = { partition: ['k', callKey(projectId, id)] } as const;
  const { items } = await queryPage(store.table, range, budget, { consistent: true });
  return toFound(
    projectId,
    id,
    items.map((item) => fromItem(store, projectId, item)),
  );
};

const toFound = (projectId: ProjectId, id: string, parts: readonly StoredPart[]): FoundCall | null => {
  const header = foldHeader({ projectId, id }, parts);
  if (header === null) return null;
  const inline = new Map(parts.flatMap((part) => (part.inline ? [[part.part, part.inline]] : [])));
  return { header, inline };
};

/**
 * Looks calls up again whose headers are known, in no particular order; those that are gone by now
 * are left out.
 *
 * @param headers of each call once; they say in which items it lay
 * @throws ServiceError 503 when storage does not give them in time
 */
export const findCalls = async (
  store: Store,
  projectId: ProjectId,
  headers: readonly CallHeader[],
  budget: RequestBudget,
): Promise<FoundCall[]> => {
  const keys = headers.flatMap(({ id, end, endPart }) =>
    end && endPart === 'E' ? [startKey(projectId, id), endKey(projectId, id)] : [startKey(projectId, id)],
  );
  const items = await getItems(store.table, keys, budget, { consistent: false });
  const byId = Map.groupBy(
    items.map((item) => fromItem(store, projectId, item)),
    ({ id }) => id,
  );
  const found = await mapConcurrent(headers, lookupConcurrency, async ({ id, end }) => {
    const call = toFound(projectId, id, byId.get(id) ?? []);
    // An end that lay beside its start can have been replaced by one in an item that was not asked
    // for.
    const isMissing = end !== null && call !== null && call.header.end === null;
    return isMissing ? findCall(store, projectId, id, budget) : call;
  });
  return found.filter((call) => call !== null);
};

/**
 * Reads stored parts of calls by their ids, in no particular order.
 *
 * @param ids each once
 * @throws ServiceError 503 when storage does not give them in time
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
 * Reads the headers of calls by their ids, strongly consistent, in no particular order; ids of
 * nothing give nothing.
 *
 * @param ids each once
 * @throws ServiceError 503 when storage does not give them in time
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
