export * from './columns.ts';
export { compacted } from './compact.ts';
export { toParquet } from './parquet.ts';
export { fromParquet, type ReadCells } from './read-parquet.ts';
export { type RowWriter, writeRows } from './write.ts';
