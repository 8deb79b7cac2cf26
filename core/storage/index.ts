export * from './bucket.ts';
export * from './clients.ts';
export * from './retries.ts';
export * from './store.ts';
export { chunked, type Item, type Table } from './table.ts';
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
