export {
  type Costs,
  computeCosts,
  readCosts,
  sumCost,
  totalCost,
} from './costs.ts';
export { type LimitPrices, limitPrices, readLimitPrices } from './limit-prices.ts';
export type * from './model.ts';
export {
  dearestDefault,
  defaultPricesSource,
  loadDefaultPrices,
  loadModelFacts,
  type ModelFacts,
  type PriceBook,
  type PriceInForce,
  priceBook,
  type SteadyPrices,
  steadyPrices,
} from './price-book.ts';
export { queryPrices } from './query.ts';
export { createPrices, pricesRange, purgePrices, readPrices } from './store.ts';
