export * from './bucket.ts';
export { chunked, mapConcurrent } from './concurrency.ts';
export {
  asBytes,
  asMap,
  asNumber,
  asText,
  type Item,
  itemBytes,
  itemFromWire,
  type Value,
  type WireItem,
  writeUnitBytes,
} from './items.ts';
export {
  type Attempt,
  compareAndSwap,
  compareAndSwapAll,
  isThrottling,
  type Meter,
  newMeter,
  type RequestBudget,
  type Round,
  requestBudget,
  withRetries,
} from './retries.ts';
export * from './store.ts';
export {
  getItems,
  type KeyRange,
  type Page,
  type PageOptions,
  queryPage,
  type RangeOptions,
  readRange,
  type ScanOptions,
  scanTable,
} from './table-reads.ts';
export {
  type Condition,
  deleteItem,
  deleteItems,
  insertItems,
  putItems,
  type Raise,
  raiseNumber,
  replaceItem,
  type Transaction,
  transact,
} from './table-writes.ts';
