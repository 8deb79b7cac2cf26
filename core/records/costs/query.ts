import type { PriceRow } from '../../../api/costs.ts';
import { type CostsQuery, priceKind } from '../../../api/costs.ts';
import {
  compareText,
  compile,
  type Reader,
  type SortKey,
  sortable,
  valueAt,
} from '../../../foundations/expression/index.ts';
import { cutSlice, sortByKeys } from '../../../foundations/listing/index.ts';
import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import { formatTime } from '../../../foundations/wire/index.ts';
import type { Price } from './model.ts';
import { readPrices } from './store.ts';

/** A price as it is answered. */
const toRow = (price: Price): PriceRow => ({
  id: price.id,
  llm_id: price.model,
  prompt_token_cost: price.promptTokenCost,
  completion_token_cost: price.completionTokenCost,
  prompt_token_cost_unit: price.promptTokenCostUnit,
  completion_token_cost_unit: price.completionTokenCostUnit,
  effective_date: formatTime(price.effectiveDate),
  provider_id: price.providerId,
  cache_read_input_token_cost: price.cacheReadTokenCost ?? null,
  cache_creation_input_token_cost: price.cacheWriteTokenCost ?? null,
});

/** Gives what a path leads to in a price. */
const readField: Reader<PriceRow> =
  ({ field, steps }) =>
  (row) =>
    valueAt((row as Readonly<Record<string, string | number | null>>)[field], steps);

/** Puts prices in the order of the keys, and by id where these leave them equal. */
export const sortPrices = (rows: readonly PriceRow[], sort: readonly SortKey[]): PriceRow[] => {
  const readers = sort.map(({ path }) => readField(path));
  return sortByKeys(rows, {
    sort,
    toKey: (row) => readers.map((read) => sortable(read(row))),
    ties: (a, b) => compareText(a.id, b.id),
  });
};

/** The fields that were asked for; without such, all that a price has. */
const select = (row: PriceRow, fields: readonly string[] | null): Partial<PriceRow> =>
  Object.fromEntries(
    Object.entries(row).filter(([field, value]) => (fields ? fields.includes(field) : value !== null)),
  );

/**
 * Answers a query over a project's prices: a slice of those that match, in order, each with the
 * fields that were asked for.
 */
export const queryPrices = async (
  store: Pick<Store, 'table'>,
  { projectId, fields, where, sort, ...slice }: CostsQuery,
  budget: RequestBudget,
): Promise<Partial<PriceRow>[]> => {
  const prices = await readPrices(store, projectId, budget);
  const kind = priceKind();
  const matches = where ? compile<PriceRow>(kind, where, readField) : () => true;
  const rows = sortPrices(prices.map(toRow).filter(matches), sort);
  return cutSlice(rows, slice).map((row) => select(row, fields));
};
