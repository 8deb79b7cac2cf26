export * from './bucket.ts';
export * from './clients.ts';
export * from './compare-and-swap.ts';
export * from './documents.ts';
export * from './item.ts';
export { itemBytes } from './item-size.ts';
export * from './map-concurrent.ts';
export * from './raise-number.ts';
export { itemFromWire, type WireItem } from './raw-items.ts';
export * from './read-range.ts';
export * from './request-budget.ts';
export * from './retries.ts';
export * from './scan.ts';
export * from './store.ts';
export { chunked, type Table } from './table.ts';
export * from './table-reads.ts';
export {
  type Condition,
  deleteItem,
  deleteItems,
  insertItems,
  putItems,
  replaceItem,
} from './table-writes.ts';
export * from './transaction.ts';
