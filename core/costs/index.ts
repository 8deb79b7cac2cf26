export { type Costs, costsOf } from './costs.ts';
export * from './create.ts';
export { defaultPricesSource, loadDefaultPrices } from './default-prices.ts';
export type * from './model.ts';
export { type PriceBook, type PriceInForce, priceBook } from './price-book.ts';
export * from './purge.ts';
export { type CostsQuery, queryPrices } from './query.ts';
export { readPrices } from './store.ts';
