import {
  compareText,
  type Reader,
  type SortKey,
  sortable,
  valueAt,
} from '../../foundations/expression/index.ts';
import { type Slice, sliceOf, sortByKeys } from '../../foundations/listing/index.ts';
import type { RequestBudget, Store } from '../../foundations/storage/index.ts';
import { formatTime, type ProjectId, type WireNames } from '../../foundations/wire/index.ts';
import type { Price, PriceRow } from './model.ts';
import { readPrices } from './store.ts';

const commonFields = [
  'id',
  'llm_id',
  'prompt_token_cost',
  'completion_token_cost',
  'prompt_token_cost_unit',
  'completion_token_cost_unit',
  'effective_date',
  'provider_id',
] as const satisfies readonly (keyof PriceRow)[];

/** The fields of a price as it is answered, in order. */
export const priceFields = ({ dialect }: Pick<WireNames, 'dialect'>): readonly (keyof PriceRow)[] =>
  dialect === 'weave'
    ? [...commonFields, 'cache_read_input_token_cost', 'cache_creation_input_token_cost']
    : commonFields;

/** A query over the prices of one project, checked. */
export interface CostsQuery extends Slice {
  readonly projectId: ProjectId;
  /** The fields to answer; null for all. */
  readonly fields: readonly (keyof PriceRow)[] | null;
  readonly matches: (row: PriceRow) => boolean;
  readonly sort: readonly SortKey[];
}

/** Matches every price. */
export const everyPrice = (): boolean => true;

const rowOf = (price: Price, { dialect }: WireNames): PriceRow => ({
  id: price.id,
  llm_id: price.model,
  prompt_token_cost: price.promptTokenCost,
  completion_token_cost: price.completionTokenCost,
  prompt_token_cost_unit: price.promptTokenCostUnit,
  completion_token_cost_unit: price.completionTokenCostUnit,
  effective_date: formatTime(price.effectiveDate),
  provider_id: price.providerId,
  ...(dialect === 'weave' && {
    cache_read_input_token_cost: price.cacheReadTokenCost ?? null,
    cache_creation_input_token_cost: price.cacheWriteTokenCost ?? null,
  }),
});

/** Gives what a path leads to in a price. */
export const readField: Reader<PriceRow> =
  ({ field, steps }) =>
  (row) =>
    valueAt((row as Readonly<Record<string, string | number | null>>)[field], steps);

/** Puts prices in the order of the keys, and by id where these leave them equal. */
export const sortPrices = (rows: readonly PriceRow[], sort: readonly SortKey[]): PriceRow[] => {
  const readers = sort.map(({ path }) => readField(path));
  return sortByKeys(rows, {
    sort,
    keyOf: (row) => readers.map((read) => sortable(read(row))),
    ties: (a, b) => compareText(a.id, b.id),
  });
};

const select = (row: PriceRow, fields: CostsQuery['fields']): Partial<PriceRow> =>
  fields
    ? Object.fromEntries(Object.entries(row).filter(([field]) => fields.includes(field as keyof PriceRow)))
    : row;

/**
 * Answers a query over a project's prices: a slice of those that match, in order, each with the
 * fields that were asked for.
 *
 * @throws ServiceError 503 when storage does not give them in time
 */
export const queryPrices = async (
  store: Pick<Store, 'table' | 'names'>,
  { projectId, fields, matches, sort, ...slice }: CostsQuery,
  budget: RequestBudget,
): Promise<Partial<PriceRow>[]> => {
  const prices = await readPrices(store, projectId, budget);
  const rows = sortPrices(prices.map((price) => rowOf(price, store.names)).filter(matches), sort);
  return sliceOf(rows, slice).map((row) => select(row, fields));
};
