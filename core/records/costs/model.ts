import type { Micros, ProjectId } from '../../../foundations/wire/index.ts';

/**
 * What a project says that a model costs from some time on. Costs are per token, in their units
 * (`USD`).
 */
export interface PriceTerms {
  /** The model's name as it stands in `summary.usage`. */
  readonly model: string;
  readonly promptTokenCost: number;
  readonly completionTokenCost: number;
  readonly promptTokenCostUnit: string;
  readonly completionTokenCostUnit: string;
  /** Calls that started then or later cost this; microseconds since 1970. */
  readonly effectiveDate: Micros;
  readonly providerId: string;
  /** Of prompt tokens read from the provider's cache. @default - what others cost */
  readonly cacheReadTokenCost?: number | undefined;
  /** Of prompt tokens written to the provider's cache. @default - what others cost */
  readonly cacheWriteTokenCost?: number | undefined;
}

/** A project's price, as it is stored. */
export interface Price extends PriceTerms {
  /** A UUIDv7, made of the project and the terms: the same again is the same price. */
  readonly id: string;
  /** When it was first stored, in microseconds since 1970. */
  readonly createdAt: Micros;
  /** Whose key stored it. */
  readonly createdBy: string;
}

/** A request for prices, checked; its terms name each model once. */
export interface CostsCreate {
  readonly projectId: ProjectId;
  readonly terms: readonly PriceTerms[];
}
