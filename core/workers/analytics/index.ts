export * from './columns.ts';
export { compacted, fromParquet, type ReadCells, toParquet } from './files.ts';
export { type RowWriter, writeRows } from './rows.ts';
