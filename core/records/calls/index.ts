export * from './answer.ts';
export { headerAttributeAt, knownAttributes } from './attributes.ts';
export { type DeleteOthers, deleteCalls } from './delete.ts';
export { foldCall } from './header.ts';
export { fromItem, type StoredPart } from './items.ts';
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
} from './keys.ts';
export { type JoiningRecord, putRecords, readRecords } from './log-records.ts';
export * from './model.ts';
export { hasPreviews, type Payload, type PayloadField } from './payloads.ts';
export { type Preview, previewOfPayload } from './preview.ts';
export {
  PayloadReader,
  type PreviewedCall,
  readCall,
  readHeaders,
  readParts,
  type StoredCall,
} from './read.ts';
export { type CallChanges, putPlaceholders, updateCall } from './replace.ts';
export { maxTurnTraces } from './traces.ts';
export { reportCalls, startCall, writeCalls } from './write.ts';
