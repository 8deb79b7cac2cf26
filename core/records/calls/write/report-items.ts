import type { Store } from '../../../foundations/storage/index.ts';
import { isJsonObject, isNumber } from '../../../foundations/wire/index.ts';
import { indexedFieldsOf, isFailed, type StartItem, toItem, withInline } from '../codec/items.ts';
import type { CallEnd, CallStart, EndHeader, EndStatus, PayloadPointer, StartHeader } from '../model.ts';
import { smallUsage } from '../payloads/blocks.ts';
import type { ReportedEnd } from './replace-ends.ts';
import type { StoredPayload } from './store-payloads.ts';

/**
 * Makes the item of a reported start, with the end if it was reported too.
 *
 * @param assigned what the service adds: the call's trace, and the user of the reporting key
 */
export const startItem = (
  store: Store,
  payload: StoredPayload,
  reported: CallStart,
  assigned: Pick<StartHeader, 'traceId' | 'userId'>,
): StartItem => {
  const { projectId, id } = payload.call;
  const start = toStart(reported, assigned, payload);
  const end = payload.call.end && toEnd(payload.call.end, payload);
  const item = toItem(
    store,
    { projectId, id, part: 'S' },
    { start, end },
    indexedFieldsOf(projectId, id, start),
  );
  const isListed = start.parentId === null || isFailed(end);
  return { item: withInline(item, payload.inline, isListed), projectId, id, start, end };
};

/**
 * Makes the item of an end that was reported by itself.
 *
 * @param start the call's start, for the index keys; null if it is not known yet
 */
export const reportedEnd = (
  store: Store,
  payload: StoredPayload,
  reported: CallEnd,
  start: StartHeader | null,
): ReportedEnd => {
  const { projectId, id } = payload.call;
  const indexed = start && indexedFieldsOf(projectId, id, start);
  const end = toEnd(reported, payload);
  const item = toItem(store, { projectId, id, part: 'E' }, { start: null, end }, indexed);
  const isListed = start?.parentId === null || isFailed(end);
  return { item: withInline(item, payload.inline, isListed), projectId, id, end };
};

const toStart = (
  start: CallStart,
  assigned: Pick<StartHeader, 'traceId' | 'userId'>,
  payload: StoredPayload,
): StartHeader => ({
  ...assigned,
  opName: start.opName,
  displayName: start.displayName,
  parentId: start.parentId,
  threadId: start.threadId,
  turnId: start.turnId,
  startedAt: start.startedAt,
  runId: start.runId,
  runStep: start.runStep,
  ...sized(start.envelopeBytes, payload.start),
});

const toEnd = (end: CallEnd, payload: StoredPayload): EndHeader => ({
  endedAt: end.endedAt,
  status: endStatus(end),
  runStepEnd: end.runStepEnd,
  usage: smallUsage(end.summary),
  ...sized(end.envelopeBytes, payload.end),
});

/** The block's line breaks, one per field, were not received. */
const sized = (
  envelopeBytes: number,
  block: StoredPayload['start'],
): { bytes: number; payload: PayloadPointer } => ({
  bytes: envelopeBytes + block.pointer.length - block.fields,
  payload: block.pointer,
});

/** How a call ended: by its exception, else by the error count in the client's summary. */
const endStatus = ({ exception, summary }: CallEnd): EndStatus => {
  if (exception !== null) return 'error';
  const counts = Object.hasOwn(summary, 'status_counts') ? summary.status_counts : null;
  const errors = isJsonObject(counts) ? counts.error : 0;
  return isNumber(errors) && Number(errors) > 0 ? 'descendant_error' : 'success';
};
