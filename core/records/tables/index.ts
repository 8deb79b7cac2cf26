export { queryTable, type ReadRow, RowReader, rowJson, type TableQuery } from './query.ts';
export {
  createTable,
  createTableFromDigests,
  type MadeTable,
  noTable,
  readSizes,
  type TableChange,
  type TableSize,
  tableDigest,
  updateTable,
} from './table.ts';
