import { createHash } from 'node:crypto';
import { UUID } from 'uuidv7';
import { packUuid, unpackUuid } from '../../../foundations/encoding/index.ts';
import {
  asBytes,
  asText,
  deleteItems,
  type Item,
  insertItems,
  type RequestBudget,
  readRange,
  type Store,
} from '../../../foundations/storage/index.ts';
import type { TableKey, TableRange } from '../../../foundations/storage/tables.ts';
import { formatTime, type Micros, type ProjectId, parseTime } from '../../../foundations/wire/index.ts';
import type { CostsCreate, Price, PriceTerms } from './model.ts';

/*
 * The keys of the costs table: k is the project, p the 16 bytes of the price's id. A project's
 * prices are one partition, in order of their ids. That is the order of the milliseconds from which
 * they are in force.
 */

/**
 * The id of a price: a UUIDv7. Its time is that from which the price is in force (1970 for earlier
 * ones). Its other bits are a digest of the project and the terms.
 */
export const priceId = (projectId: ProjectId, terms: PriceTerms): string => {
  const { cacheReadTokenCost, cacheWriteTokenCost } = terms;
  const content = JSON.stringify([
    projectId,
    terms.model,
    terms.promptTokenCost,
    terms.completionTokenCost,
    terms.promptTokenCostUnit,
    terms.completionTokenCostUnit,
    terms.effectiveDate,
    terms.providerId,
    // Other prices have the ids that they always had.
    ...(cacheReadTokenCost !== undefined || cacheWriteTokenCost !== undefined
      ? [cacheReadTokenCost ?? null, cacheWriteTokenCost ?? null]
      : []),
  ]);
  const digest = createHash('sha256').update(content).digest();
  const millis = Math.max(0, Math.floor(terms.effectiveDate / 1000));
  const randA = digest.readUInt16BE(0) & 0xfff;
  const randBHi = digest.readUInt32BE(2) & 0x3fff_ffff;
  return UUID.fromFieldsV7(millis, randA, randBHi, digest.readUInt32BE(6)).toString();
};

const partition = (projectId: ProjectId): Uint8Array => Buffer.from(projectId, 'utf8');

/** The key of a price; undefined for an id that no price can have. */
export const priceKey = (projectId: ProjectId, id: string): TableKey<'costs'> | undefined => {
  const bytes = packUuid(id);
  return bytes && { k: partition(projectId), p: bytes };
};

/** The price's id, out of the table's sort key. */
export const readPriceId = (sortKey: Uint8Array): string => unpackUuid(sortKey);

/** Every price of a project. */
export const pricesRange = (projectId: ProjectId): TableRange<'costs'> => ({
  partition: ['k', partition(projectId)],
});

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

const readText = (item: Item, name: string): string => {
  const text = asText(item[name]);
  if (text === undefined) throw damaged(name);
  return text;
};

const readCost = (item: Item, name: string): number => {
  const cost = Number(readText(item, name));
  if (!Number.isFinite(cost)) throw damaged(name);
  return cost;
};

const readTime = (item: Item, name: string): Micros => {
  const time = parseTime(readText(item, name));
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
    id: readPriceId(key),
    model: readText(item, 'model'),
    promptTokenCost: readCost(item, 'prompt'),
    completionTokenCost: readCost(item, 'completion'),
    promptTokenCostUnit: readText(item, 'promptUnit'),
    completionTokenCostUnit: readText(item, 'completionUnit'),
    effectiveDate: readTime(item, 'effective'),
    providerId: readText(item, 'provider'),
    ...(item.cacheRead !== undefined && { cacheReadTokenCost: readCost(item, 'cacheRead') }),
    ...(item.cacheWrite !== undefined && { cacheWriteTokenCost: readCost(item, 'cacheWrite') }),
    createdAt: readTime(item, 'createdAt'),
    createdBy: readText(item, 'createdBy'),
  };
};

/**
 * Reads all prices of a project, strongly consistent, in the order of their ids.
 *
 * @throws Error when one is damaged
 */
export const readPrices = async (
  { table }: Pick<Store, 'table'>,
  projectId: ProjectId,
  budget: RequestBudget,
): Promise<Price[]> => {
  const options = { toRow: fromItem, consistent: true };
  const pages = await Array.fromAsync(readRange(table, pricesRange(projectId), options, budget));
  return pages.flat();
};

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
