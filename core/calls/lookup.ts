import { type Effort, getItems, queryPage } from '../storage/index.ts';
import type { ProjectId } from '../wire/index.ts';
import { foldHeader } from './header.ts';
import { callKey, type Part } from './keys.ts';
import type { CallHeader } from './model.ts';
import { type CallStore, fromItem, type StoredPart } from './store.ts';

/** A call as the table has it: its header and the packed payloads that ride in its items, read in one go. */
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
  store: CallStore,
  projectId: ProjectId,
  id: string,
  effort: Effort,
): Promise<FoundCall | null> => {
  const range = { partition: ['k', callKey(projectId, id)] } as const;
  const { items } = await queryPage(store.table, range, effort, { consistent: true });
  const parts = items.map((item) => fromItem(store, projectId, item));
  const header = foldHeader({ projectId, id }, parts);
  if (header === null) return null;
  const inline = new Map(parts.flatMap((part) => (part.inline ? [[part.part, part.inline]] : [])));
  return { header, inline };
};

/**
 * Reads stored parts of calls by their ids, in no particular order.
 *
 * @param ids each once
 * @throws ServiceError 503 when storage does not give them in time
 */
export const readParts = async (
  store: CallStore,
  projectId: ProjectId,
  ids: readonly string[],
  parts: readonly Part[],
  effort: Effort,
  options: { consistent: boolean },
): Promise<StoredPart[]> => {
  const keys = ids.flatMap((id) => {
    const k = { B: callKey(projectId, id) };
    return parts.map((part) => ({ k, p: { S: part } }));
  });
  const items = await getItems(store.table, keys, effort, options);
  return items.map((item) => fromItem(store, projectId, item));
};

/**
 * Reads the headers of calls by their ids, strongly consistent, in no particular order; ids of nothing give nothing.
 *
 * @param ids each once
 * @throws ServiceError 503 when storage does not give them in time
 */
export const readHeaders = async (
  store: CallStore,
  projectId: ProjectId,
  ids: readonly string[],
  effort: Effort,
): Promise<CallHeader[]> => {
  const parts = await readParts(store, projectId, ids, ['S', 'E'], effort, { consistent: true });
  const byId = Map.groupBy(parts, (part) => part.id);
  return [...byId].flatMap(([id, ofCall]) => foldHeader({ projectId, id }, ofCall) ?? []);
};
