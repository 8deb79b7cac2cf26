import { insertItems, type RequestBudget, type Store } from '../../foundations/storage/index.ts';
import { priceId } from './keys.ts';
import type { CostsCreate } from './model.ts';
import { toItem } from './store.ts';

/**
 * Stores prices. A price with the same terms that is there already stays as it was first stored. So
 * a request may be repeated, however late, and no price overtakes another.
 *
 * @param user whose key stores them
 * @returns each model with the id of its price, in the order of the terms
 * @throws ServiceError 503 when some could not be stored in time; others may have been
 */
export const createPrices = async (
  { table }: Pick<Store, 'table'>,
  { projectId, terms }: CostsCreate,
  user: string,
  budget: RequestBudget,
): Promise<[model: string, id: string][]> => {
  const createdAt = Date.now() * 1000;
  const prices = terms.map((term) => ({
    ...term,
    id: priceId(projectId, term),
    createdAt,
    createdBy: user,
  }));
  await insertItems(
    table,
    prices.map((price) => toItem(projectId, price)),
    budget,
  );
  return prices.map(({ model, id }) => [model, id]);
};
