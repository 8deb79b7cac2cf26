import { type Effort, getItems, type Item, insertItems, putItems } from '../storage/index.ts';
import type { Micros } from '../wire/index.ts';
import { callName, type GatheredCall, gather, resolveTraces } from './gather.ts';
import { startKey } from './keys.ts';
import type {
  CallEnd,
  CallReport,
  CallStart,
  EndHeader,
  EndStatus,
  PayloadPointer,
  StartAnswer,
  StartHeader,
} from './model.ts';
import { smallUsage } from './payload.ts';
import { dropEnds, keyText, repeatStarts, type StoredStart } from './repeat.ts';
import { type CallStore, fromItem, placeOf, toItem } from './store.ts';
import { type StoredPayload, storePayloads } from './store-payloads.ts';

/**
 * Stores the starts and ends of one request, and answers each in order: a start with its ids, an end with null. When it
 * returns all of it is durable; when it throws, some of it may be, and the same request may be sent again.
 *
 * @param userId whose key reports them
 * @throws ServiceError 503 when storage does not take it in time
 */
export const writeCalls = async (
  store: CallStore,
  reports: readonly CallReport[],
  userId: string,
  effort: Effort,
): Promise<(StartAnswer | null)[]> => {
  const { calls, ofReport } = gather(reports);
  const stored = await storedStarts(store, calls, effort);
  const traces = resolveTraces(calls, new Map([...stored].map(([name, { start }]) => [name, start.traceId])));
  const traceOf = (call: GatheredCall): string => traces.get(callName(call.projectId, call.id)) ?? '';

  const writtenAt = writeTime();
  const items = (await storePayloads(store, calls, effort)).map((payload) => {
    const { call } = payload;
    const start = call.start && toStart(call.start, { traceId: traceOf(call), userId, writtenAt }, payload);
    const before = stored.get(callName(call.projectId, call.id));
    return start
      ? startItem(store, payload, start, writtenAt)
      : endItem(store, payload, before?.start, writtenAt);
  });

  // A start alone must not wipe out an end that lies in the same item, so it goes where no item is yet. Where its id was just
  // made there can be none.
  const [inserted, put] = partition(items, (_, i) => isStartAlone(calls[i]) && calls[i]?.known === true);
  await putItems(store.table, put, effort);
  const repeated = await insertItems(store.table, inserted, effort);
  await repeatStarts(store, repeated, effort);
  await dropEnds(
    store,
    calls.flatMap((call) => (call.start ? [] : (stored.get(callName(call.projectId, call.id)) ?? []))),
    effort,
  );

  return reports.map((report, i) => {
    const call = ofReport[i];
    return report.kind === 'start' && call ? { id: call.id, traceId: traceOf(call) } : null;
  });
};

const isStartAlone = (call: GatheredCall | undefined): boolean => call?.start != null && call.end === null;

const partition = <T>(list: readonly T[], test: (item: T, index: number) => boolean): [yes: T[], no: T[]] => [
  list.filter(test),
  list.filter((item, i) => !test(item, i)),
];

let lastWriteTime = 0;
/** Now, in microseconds; later than at any call before in this process. */
const writeTime = (): Micros => {
  lastWriteTime = Math.max(lastWriteTime + 1, Date.now() * 1000);
  return lastWriteTime;
};

/**
 * The stored starts that a request depends on, by {@link callName}: an end's, for its place in the indexes, and for starts
 * without a trace their own (they may be a repetition) and their parents'.
 */
const storedStarts = async (
  store: CallStore,
  calls: readonly GatheredCall[],
  effort: Effort,
): Promise<Map<string, StoredStart>> => {
  const wanted = wantedStarts(calls);
  if (wanted.size === 0) return new Map();
  const keys = [...wanted.values()].map(({ projectId, id }) => startKey(projectId, id));
  const items = await getItems(store.table, keys, effort, { consistent: true });
  const byKey = new Map(items.map((item) => [keyText(item), item]));
  const found = new Map<string, StoredStart>();
  for (const [name, { projectId, id }] of wanted) {
    const item = byKey.get(keyText(startKey(projectId, id)));
    const { start, end } = item ? fromItem(store, projectId, item) : { start: null, end: null };
    if (item && start) found.set(name, { item, projectId, id, start, end });
  }
  return found;
};

const wantedStarts = (
  calls: readonly GatheredCall[],
): Map<string, Pick<GatheredCall, 'projectId' | 'id'>> => {
  const wanted = new Map<string, Pick<GatheredCall, 'projectId' | 'id'>>();
  const inRequest = new Set(
    calls.filter((call) => call.start).map((call) => callName(call.projectId, call.id)),
  );
  for (const call of calls) {
    const { projectId, id, start } = call;
    if (start === null || (start.traceId === null && call.known)) wanted.set(callName(projectId, id), call);
    if (start === null || start.traceId !== null || start.parentId === null) continue;
    const parent = callName(projectId, start.parentId);
    if (!inRequest.has(parent)) wanted.set(parent, { projectId, id: start.parentId });
  }
  return wanted;
};

const toStart = (
  start: CallStart,
  served: Pick<StartHeader, 'traceId' | 'userId' | 'writtenAt'>,
  payload: StoredPayload,
): StartHeader => ({
  ...served,
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

const toEnd = (end: CallEnd, payload: StoredPayload, writtenAt: Micros): EndHeader => ({
  writtenAt,
  endedAt: end.endedAt,
  status: statusOf(end),
  runStepEnd: end.runStepEnd,
  usage: smallUsage(end.summary),
  ...sized(end.envelopeBytes, payload.end),
});

/** Line breaks, one a field, are the block's and were not received. */
const sized = (
  envelopeBytes: number,
  block: StoredPayload['start'],
): { bytes: number; payload: PayloadPointer } => ({
  bytes: envelopeBytes + block.pointer.length - block.fields,
  payload: block.pointer,
});

/** How a call ended: its exception decides, then what the client's summary says of its descendants. */
const statusOf = ({ exception, summary }: CallEnd): EndStatus => {
  if (exception !== null) return 'error';
  const counts = Object.hasOwn(summary, 'status_counts') ? summary.status_counts : null;
  const errors = typeof counts === 'object' && counts !== null && !Array.isArray(counts) ? counts.error : 0;
  return typeof errors === 'number' && errors > 0 ? 'descendant_error' : 'success';
};

const withInline = (item: Item, payload: StoredPayload): Item =>
  payload.inline ? { ...item, b: { B: payload.inline } } : item;

const startItem = (store: CallStore, payload: StoredPayload, start: StartHeader, writtenAt: Micros): Item => {
  const { call } = payload;
  const end = call.end && toEnd(call.end, payload, writtenAt);
  const place = placeOf(call.projectId, call.id, start);
  return withInline(toItem(store, { ...call, part: 'S' }, { start, end }, place), payload);
};

const endItem = (
  store: CallStore,
  payload: StoredPayload,
  start: StartHeader | undefined,
  writtenAt: Micros,
): Item => {
  const { call } = payload;
  if (call.end === null) throw new Error('a report with neither start nor end');
  // An end that finds no start has no place in the indexes, and must not outdo one that does: see EndHeader.
  const end = toEnd(call.end, payload, start ? writtenAt : 0);
  const place = start ? placeOf(call.projectId, call.id, start) : null;
  return withInline(toItem(store, { ...call, part: 'E' }, { start: null, end }, place), payload);
};
