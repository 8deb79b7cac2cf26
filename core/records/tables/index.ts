export { queryTable, type ReadRow, RowReader, rowJson } from './query.ts';
export {
  createTable,
  createTableFromDigests,
  type MadeTable,
  noTable,
  readSizes,
  type TableSize,
  tableDigest,
  updateTable,
} from './table.ts';
