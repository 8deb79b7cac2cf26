export * from './bucket.ts';
export * from './clients.ts';
export * from './effort.ts';
export { chunked, type Item, type Table } from './table.ts';
export * from './table-reads.ts';
export * from './table-writes.ts';
