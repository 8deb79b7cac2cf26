import { deleteItems, type RequestBudget, type Store } from '../../foundations/storage/index.ts';
import type { ProjectId } from '../../foundations/wire/index.ts';
import { priceKey } from './keys.ts';

/**
 * Deletes prices of a project. An id of nothing counts as deleted.
 *
 * @param ids each once
 * @throws ServiceError 503 when some could not be deleted in time; others may have been
 */
export const purgePrices = async (
  { table }: Pick<Store, 'table'>,
  projectId: ProjectId,
  ids: readonly string[],
  budget: RequestBudget,
): Promise<void> => {
  const keys = ids.map((id) => priceKey(projectId, id)).filter((key) => key !== undefined);
  await deleteItems(table, keys, budget);
};
