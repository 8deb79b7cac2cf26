import type { CostsCreate, Price, PriceBook, PriceTerms } from '../../../core/records/costs/index.ts';
import { type Micros, type ProjectId, parseTime } from '../../../foundations/wire/index.ts';

/** The project of these tests. */
export const project = 'acme/shop' as ProjectId;

/** Microseconds of a time that is known to be one. */
export const micros = (text: string): Micros => parseTime(text) ?? Number.NaN;

/** What a model costs, where a test does not say. */
export const makeTerms = (changes: Partial<PriceTerms> = {}): PriceTerms => ({
  model: 'gpt-x',
  promptTokenCost: 2,
  completionTokenCost: 3,
  promptTokenCostUnit: 'USD',
  completionTokenCostUnit: 'USD',
  effectiveDate: micros('2026-01-01'),
  providerId: 'default',
  ...changes,
});

/** A stored price. */
export const makePrice = (changes: Partial<Price> = {}): Price => ({
  id: 'a',
  ...makeTerms(),
  createdAt: micros('2026-01-02'),
  createdBy: 'ada',
  ...changes,
});

/** A request for prices. */
export const makeCreate = (...terms: Partial<PriceTerms>[]): CostsCreate => ({
  projectId: project,
  terms: terms.map(makeTerms),
});

/** Default prices of a provider that has none. */
export const noDefaults: PriceBook = () => undefined;
