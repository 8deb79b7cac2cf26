export * from './answer.ts';
export { deleteCalls } from './delete.ts';
export { foldHeader } from './header.ts';
export {
  orderedByDigest,
  type Part,
  shardOf,
  sortKeyOf,
  type TimeBounds,
  threadRange,
  timeRange,
  traceRange,
  turnsRange,
} from './keys.ts';
export { readHeaders, readParts } from './lookup.ts';
export * from './model.ts';
export type { Payload, PayloadField } from './payload.ts';
export { PayloadReader, type StoredCall } from './payload-reader.ts';
export * from './read.ts';
export * from './schema.ts';
export { type CallStore, everyShard, fromItem, type StoredPart, shardsOf } from './store.ts';
export { type CallChanges, updateCall } from './update.ts';
export { writeCalls } from './write.ts';
export { pack, unpack } from './zstd.ts';
