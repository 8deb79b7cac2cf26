export * from './bucket.ts';
export * from './clients.ts';
export * from './effort.ts';
export type { Item, Table } from './table.ts';
export * from './table-reads.ts';
export * from './table-writes.ts';
