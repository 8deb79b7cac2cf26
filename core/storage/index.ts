export * from './bucket.ts';
export * from './clients.ts';
export * from './effort.ts';
export { chunked, type Item, type Table } from './table.ts';
export * from './table-reads.ts';
export {
  deleteItem,
  deleteItems,
  type Expectation,
  insertItems,
  putItems,
  replaceItem,
} from './table-writes.ts';
export * from './transaction.ts';
