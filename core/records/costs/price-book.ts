import type { Micros, ProjectId } from '../../foundations/wire/index.ts';
import type { Price } from './model.ts';

/** A price that is in force for some call. Costs are per token, in their units. */
export interface PriceInForce {
  readonly promptTokenCost: number;
  /** Of prompt tokens read from the provider's cache. */
  readonly cacheReadTokenCost: number;
  /** Of prompt tokens written to the provider's cache. */
  readonly cacheWriteTokenCost: number;
  readonly completionTokenCost: number;
  readonly promptTokenCostUnit: string;
  readonly completionTokenCostUnit: string;
  /** Since when it is in force, in microseconds since 1970; null for ever. */
  readonly effectiveDate: Micros | null;
  readonly providerId: string;
  readonly level: 'project' | 'default';
  /** The project's id, or `default`. */
  readonly levelId: string;
  /** When it was stored, in microseconds since 1970; null for one that was not. */
  readonly createdAt: Micros | null;
  readonly createdBy: string;
}

/**
 * Finds the price of a model.
 *
 * @param promptTokens of one request: some providers charge more for long prompts
 * @returns undefined if there is none
 */
export type PriceBook = (model: string, startedAt: Micros, promptTokens: number) => PriceInForce | undefined;

/**
 * The newest first: by the time from which they are in force, then by the time when they were
 * stored, then by id.
 */
const newestFirst = (a: Price, b: Price): number =>
  b.effectiveDate - a.effectiveDate || b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);

const inForce = (projectId: ProjectId, price: Price): PriceInForce => ({
  ...price,
  cacheReadTokenCost: price.cacheReadTokenCost ?? price.promptTokenCost,
  cacheWriteTokenCost: price.cacheWriteTokenCost ?? price.promptTokenCost,
  level: 'project',
  levelId: projectId,
});

/**
 * Puts a project's own prices before the default ones. The newest counts that was in force when the
 * call started, by the model's exact name. Cached tokens cost what other tokens of the prompt do if
 * it has no price of them.
 *
 * @param prices all prices of the project, in any order
 */
export const priceBook = (projectId: ProjectId, prices: readonly Price[], defaults: PriceBook): PriceBook => {
  const byModel = Map.groupBy([...prices].sort(newestFirst), ({ model }) => model);
  return (model, startedAt, promptTokens) => {
    const own = byModel.get(model)?.find(({ effectiveDate }) => effectiveDate <= startedAt);
    return own ? inForce(projectId, own) : defaults(model, startedAt, promptTokens);
  };
};
