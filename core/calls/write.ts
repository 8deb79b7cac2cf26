import { type Effort, type Item, insertItems, putItems } from '../storage/index.ts';
import type { Micros } from '../wire/index.ts';
import { callName, type GatheredCall, gather, resolveTraces } from './gather.ts';
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
import { dropEnds, readStarts, repeatStarts, type StartItem } from './repeat.ts';
import { type CallStore, placeOf, toItem } from './store.ts';
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
  const payloads = await storePayloads(store, calls, effort);
  const writtenAt = writeTime();

  const starts = payloads.flatMap((payload) => {
    const { call } = payload;
    if (call.start === null) return [];
    const start = toStart(call.start, { traceId: traceOf(traces, call), userId, writtenAt }, payload);
    return [startItem(store, payload, start, writtenAt)];
  });
  const ends = payloads.flatMap((payload) =>
    payload.call.start === null
      ? [endItem(store, payload, stored.get(nameOf(payload.call))?.start, writtenAt)]
      : [],
  );

  // A start alone must not wipe out an end that lies in the same item, so it goes where no item is yet. Where its id was just
  // made there can be none.
  const known = new Set(calls.filter((call) => call.known).map(nameOf));
  const [alone, others] = partition(starts, (start) => start.end === null && known.has(nameOf(start)));
  await putItems(store.table, [...others.map(({ item }) => item), ...ends], effort);
  const taken = new Set(
    await insertItems(
      store.table,
      alone.map(({ item }) => item),
      effort,
    ),
  );
  await repeatStarts(
    store,
    alone.filter(({ item }) => taken.has(item)),
    effort,
  );
  await dropEnds(
    store,
    calls.flatMap((call) => (call.start === null ? (stored.get(nameOf(call)) ?? []) : [])),
    effort,
  );

  return reports.map((report, i) => {
    const call = ofReport[i];
    return report.kind === 'start' && call ? { id: call.id, traceId: traceOf(traces, call) } : null;
  });
};

const nameOf = ({ projectId, id }: Pick<GatheredCall, 'projectId' | 'id'>): string => callName(projectId, id);

const traceOf = (traces: ReadonlyMap<string, string>, call: GatheredCall): string => {
  const trace = traces.get(nameOf(call));
  if (trace === undefined) throw new Error(`no trace was resolved for call ${call.id}`);
  return trace;
};

const partition = <T>(list: readonly T[], test: (item: T) => boolean): [yes: T[], no: T[]] => [
  list.filter(test),
  list.filter((item) => !test(item)),
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
): Promise<Map<string, StartItem>> => {
  const wanted = [...wantedStarts(calls).values()];
  const found = wanted.length > 0 ? await readStarts(store, wanted, effort) : [];
  return new Map(found.map((start) => [nameOf(start), start]));
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
  status: endStatus(end),
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
const endStatus = ({ exception, summary }: CallEnd): EndStatus => {
  if (exception !== null) return 'error';
  const counts = Object.hasOwn(summary, 'status_counts') ? summary.status_counts : null;
  const errors = typeof counts === 'object' && counts !== null && !Array.isArray(counts) ? counts.error : 0;
  return typeof errors === 'number' && errors > 0 ? 'descendant_error' : 'success';
};

const withInline = (item: Item, payload: StoredPayload): Item =>
  payload.inline ? { ...item, b: { B: payload.inline } } : item;

const startItem = (
  store: CallStore,
  payload: StoredPayload,
  start: StartHeader,
  writtenAt: Micros,
): StartItem => {
  const { projectId, id, end: reported } = payload.call;
  const end = reported && toEnd(reported, payload, writtenAt);
  const item = toItem(store, { projectId, id, part: 'S' }, { start, end }, placeOf(projectId, id, start));
  return { item: withInline(item, payload), projectId, id, start, end };
};

const endItem = (
  store: CallStore,
  payload: StoredPayload,
  start: StartHeader | undefined,
  writtenAt: Micros,
): Item => {
  const { projectId, id, end: reported } = payload.call;
  if (reported === null) throw new Error('a call with neither start nor end');
  // An end that finds no start has no place in the indexes, and must not outdo one that does: see EndHeader.
  const end = toEnd(reported, payload, start ? writtenAt : 0);
  const place = start ? placeOf(projectId, id, start) : null;
  return withInline(toItem(store, { projectId, id, part: 'E' }, { start: null, end }, place), payload);
};
