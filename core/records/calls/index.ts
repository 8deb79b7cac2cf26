export { foldCall } from './codec/fold.ts';
export { fromItem, type StoredPart } from './codec/items.ts';
export {
  callIdOf,
  endKey,
  errorRange,
  isTurn,
  type Level,
  type Part,
  sortKeyOf,
  startKey,
  type TimeBounds,
  threadRange,
  timeRange,
  traceRange,
  turnsRange,
} from './codec/keys.ts';
export { type DeleteOthers, deleteCalls } from './delete/delete.ts';
export * from './model.ts';
export type { Payload, PayloadField } from './payloads/blocks.ts';
export * from './read/answer.ts';
export { readHeaders, readParts } from './read/lookup.ts';
export { PayloadReader, type StoredCall } from './read/payload-reader.ts';
export * from './read/read.ts';
export { keepPlaces } from './write/keep-places.ts';
export { reportCalls } from './write/named-ends.ts';
export { maxTurnTraces } from './write/reserve-traces.ts';
export { type CallChanges, updateCall } from './write/update.ts';
export { writeCalls } from './write/write.ts';
