import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import type { ProjectId } from '../../../foundations/wire/index.ts';
import { findCall } from './lookup.ts';
import { PayloadReader, type StoredCall } from './payload-reader.ts';

/**
 * Reads a call with its payload by id, strongly consistent.
 *
 * @returns null if there is no call, or no start of it yet
 * @throws ServiceError 503 when storage does not answer in time
 */
export const readCall = async (
  store: Store,
  projectId: ProjectId,
  id: string,
  budget: RequestBudget,
): Promise<StoredCall | null> => {
  const found = await findCall(store, projectId, id, budget);
  if (found === null) return null;
  const [call] = await new PayloadReader(store, projectId, budget).read([found]);
  return call ?? null;
};
