import type { Effort } from '../storage/index.ts';
import { formatTime, type ProjectId } from '../wire/index.ts';
import type { Price, PriceRow } from './model.ts';
import { type CostStore, readPrices } from './store.ts';

/** The fields of a price as it is answered, in order. */
export const priceFields = [
  'id',
  'llm_id',
  'prompt_token_cost',
  'completion_token_cost',
  'prompt_token_cost_unit',
  'completion_token_cost_unit',
  'effective_date',
  'provider_id',
] as const satisfies readonly (keyof PriceRow)[];

/** One key to sort by. */
export interface PriceSortKey {
  readonly field: keyof PriceRow;
  readonly direction: 'asc' | 'desc';
}

/** A query over the prices of one project, checked. */
export interface CostsQuery {
  readonly projectId: ProjectId;
  /** The fields to answer; null for all. */
  readonly fields: readonly (keyof PriceRow)[] | null;
  readonly matches: (row: PriceRow) => boolean;
  readonly sortBy: readonly PriceSortKey[];
  /** The most prices to answer; null for all. */
  readonly limit: number | null;
  /** Prices to skip first. */
  readonly offset: number;
}

/** Matches every price. */
export const everyPrice = (): boolean => true;

const rowOf = (price: Price): PriceRow => ({
  id: price.id,
  llm_id: price.model,
  prompt_token_cost: price.promptTokenCost,
  completion_token_cost: price.completionTokenCost,
  prompt_token_cost_unit: price.promptTokenCostUnit,
  completion_token_cost_unit: price.completionTokenCostUnit,
  effective_date: formatTime(price.effectiveDate),
  provider_id: price.providerId,
});

/** Compares numbers as numbers and texts by code point. */
const compareValues = (a: string | number, b: string | number): number =>
  typeof a === 'number' && typeof b === 'number'
    ? a - b
    : Buffer.compare(Buffer.from(`${a}`), Buffer.from(`${b}`));

/** Compares prices by the keys, and by id where these leave them equal. No field is ever missing. */
export const comparePrices =
  (keys: readonly PriceSortKey[]) =>
  (a: PriceRow, b: PriceRow): number => {
    for (const { field, direction } of keys) {
      const order = compareValues(a[field], b[field]);
      if (order !== 0) return direction === 'asc' ? order : -order;
    }
    return compareValues(a.id, b.id);
  };

const select = (row: PriceRow, fields: CostsQuery['fields']): Partial<PriceRow> =>
  fields
    ? Object.fromEntries(
        priceFields.filter((field) => fields.includes(field)).map((field) => [field, row[field]]),
      )
    : row;

/**
 * Answers a query over a project's prices: those that match, sorted, cut, each with the fields that were asked for.
 *
 * @throws ServiceError 503 when storage does not give them in time
 */
export const queryPrices = async (
  store: CostStore,
  { projectId, fields, matches, sortBy, limit, offset }: CostsQuery,
  effort: Effort,
): Promise<Partial<PriceRow>[]> => {
  const prices = await readPrices(store, projectId, effort);
  const rows = prices.map(rowOf).filter(matches).sort(comparePrices(sortBy));
  return rows.slice(offset, limit === null ? undefined : offset + limit).map((row) => select(row, fields));
};
