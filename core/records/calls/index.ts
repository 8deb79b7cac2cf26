export * from './answer.ts';
export { type DeleteOthers, deleteCalls, removeCalls } from './delete.ts';
export { type Place, type PlacedFacts, placeOfThread, putFacts, readFacts } from './facts.ts';
export { fitsHeader, foldCall, headerAttributeAt, knownAttributes } from './header.ts';
export {
  type CallName,
  endKey,
  errorRange,
  fromItem,
  getSortKey,
  isTurn,
  type Level,
  readCallId,
  type StoredPart,
  startKey,
  type TimeBounds,
  threadRange,
  timeRange,
  traceRange,
  turnsRange,
} from './items.ts';
export { type JoiningRecord, putRecords, readRecords } from './log-records.ts';
export {
  awaitStarts,
  type CallPlace,
  leaveSpans,
  placeCalls,
  readLeftSpans,
  readStoredSpans,
  type SpanOfTrace,
  spanOfStart,
  type TraceName,
} from './meeting.ts';
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
export {
  deleteWaiting,
  findByResponse,
  putWaiting,
  readWaiting,
  responseIdIn,
  type Waiting,
} from './responses.ts';
export { getSource } from './sources.ts';
export { maxTurnTraces } from './traces.ts';
export { startCall, writeCalls } from './write.ts';
