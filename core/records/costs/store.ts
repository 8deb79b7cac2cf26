import {
  asBytes,
  asText,
  type Item,
  type RequestBudget,
  readRange,
  type Table,
} from '../../foundations/storage/index.ts';
import { formatTime, type Micros, type ProjectId, parseTime } from '../../foundations/wire/index.ts';
import { priceIdOf, priceKey, pricesRange } from './keys.ts';
import type { Price } from './model.ts';

/** Where prices are stored. */
export interface CostStore {
  readonly table: Table;
}

/**
 * The price as an item of the costs table, with names and values that an operator can read in the
 * console. Costs are text: the smallest doubles are too small for DynamoDB's numbers.
 */
export const toItem = (projectId: ProjectId, price: Price): Item => ({
  ...priceKey(projectId, price.id),
  model: price.model,
  prompt: String(price.promptTokenCost),
  completion: String(price.completionTokenCost),
  promptUnit: price.promptTokenCostUnit,
  completionUnit: price.completionTokenCostUnit,
  effective: formatTime(price.effectiveDate),
  provider: price.providerId,
  ...(price.cacheReadTokenCost !== undefined && { cacheRead: String(price.cacheReadTokenCost) }),
  ...(price.cacheWriteTokenCost !== undefined && { cacheWrite: String(price.cacheWriteTokenCost) }),
  createdAt: formatTime(price.createdAt),
  createdBy: price.createdBy,
});

const damaged = (name: string): Error => new Error(`an item of the costs table is damaged: ${name}`);

const textOf = (item: Item, name: string): string => {
  const text = asText(item[name]);
  if (text === undefined) throw damaged(name);
  return text;
};

const costOf = (item: Item, name: string): number => {
  const cost = Number(textOf(item, name));
  if (!Number.isFinite(cost)) throw damaged(name);
  return cost;
};

const timeOf = (item: Item, name: string): Micros => {
  const time = parseTime(textOf(item, name));
  if (time === undefined) throw damaged(name);
  return time;
};

/**
 * Reads a price back from its item.
 *
 * @throws Error when the item is not what {@link toItem} writes: a damaged price must not count as
 * a free model
 */
export const fromItem = (item: Item): Price => {
  const key = asBytes(item.p);
  if (!key) throw damaged('p');
  return {
    id: priceIdOf(key),
    model: textOf(item, 'model'),
    promptTokenCost: costOf(item, 'prompt'),
    completionTokenCost: costOf(item, 'completion'),
    promptTokenCostUnit: textOf(item, 'promptUnit'),
    completionTokenCostUnit: textOf(item, 'completionUnit'),
    effectiveDate: timeOf(item, 'effective'),
    providerId: textOf(item, 'provider'),
    ...(item.cacheRead !== undefined && { cacheReadTokenCost: costOf(item, 'cacheRead') }),
    ...(item.cacheWrite !== undefined && { cacheWriteTokenCost: costOf(item, 'cacheWrite') }),
    createdAt: timeOf(item, 'createdAt'),
    createdBy: textOf(item, 'createdBy'),
  };
};

/**
 * Reads all prices of a project, strongly consistent, in the order of their ids.
 *
 * @throws ServiceError 503 when storage does not give them in time; Error when one is damaged
 */
export const readPrices = async (
  { table }: CostStore,
  projectId: ProjectId,
  budget: RequestBudget,
): Promise<Price[]> => {
  const options = { toRow: fromItem, consistent: true };
  const pages = await Array.fromAsync(readRange(table, pricesRange(projectId), options, budget));
  return pages.flat();
};
