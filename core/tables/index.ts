export { createTable, createTableFromDigests, type MadeTable } from './create.ts';
export { queryTable, type ReadRow, readRow, rowJson, type TableQuery } from './query.ts';
export { findTable, noTable, readSizes, type TableSize } from './table.ts';
export { type TableChange, updateTable } from './update.ts';
