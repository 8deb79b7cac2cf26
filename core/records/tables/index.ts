export { createTable, createTableFromDigests, type MadeTable } from './create.ts';
export { queryTable, type ReadRow, rowJson, type TableQuery } from './query.ts';
export { RowReader } from './rows.ts';
export { noTable, readSizes, type TableSize } from './table.ts';
export { type TableChange, updateTable } from './update.ts';
