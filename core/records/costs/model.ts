import type { Micros, ProjectId } from '../../foundations/wire/index.ts';

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

/** A price as it is answered; times are text. */
export type PriceRow = {
  readonly id: string;
  readonly llm_id: string;
  readonly prompt_token_cost: number;
  readonly completion_token_cost: number;
  readonly prompt_token_cost_unit: string;
  readonly completion_token_cost_unit: string;
  readonly effective_date: string;
  readonly provider_id: string;
  /** Null if it is what other tokens of a prompt cost. Only Weave's dialect has it and the next. */
  readonly cache_read_input_token_cost?: number | null;
  readonly cache_creation_input_token_cost?: number | null;
};

/**
 * What one model cost in a call, as it is answered under `summary.<service>.costs`; null for a
 * field without a value.
 */
export type ModelCost = {
  /** All tokens of the prompts, cached ones included. */
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly requests: number;
  readonly total_tokens: number;
  readonly prompt_token_cost: number;
  readonly completion_token_cost: number;
  readonly prompt_tokens_total_cost: number;
  readonly completion_tokens_total_cost: number;
  readonly prompt_token_cost_unit: string;
  readonly completion_token_cost_unit: string;
  readonly effective_date: string | null;
  readonly provider_id: string;
  readonly pricing_level: 'project' | 'default';
  /** The project's id, or `default`. */
  readonly pricing_level_id: string;
  readonly created_at: string | null;
  readonly created_by: string;
};
