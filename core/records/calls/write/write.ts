import {
  asNumber,
  insertItems,
  itemBytes,
  putItems,
  type RequestBudget,
  type Store,
} from '../../../foundations/storage/index.ts';
import { qualifiedId } from '../../../foundations/wire/index.ts';
import { HourMarks } from '../../rollups.ts';
import type { StartEntry, StartItem } from '../codec/items.ts';
import type { CallEnd, CallReport, StartAnswer } from '../model.ts';
import { groupReports, type ReportedCall } from './group-reports.ts';
import { markFailed } from './mark-failed.ts';
import { dropEnds, type ReportedEnd, replaceEnds } from './replace-ends.ts';
import { type ReportedStart, replaceStarts } from './replace-starts.ts';
import { reportedEnd, startItem } from './report-items.ts';
import { reservationsOf, reserveTraces } from './reserve-traces.ts';
import { settleTraces } from './settle-traces.ts';
import { type IsShown, type StoredPayload, storePayloads } from './store-payloads.ts';
import { hasStart, readStartEntries } from './stored-starts.ts';

/**
 * Stores the starts and ends of one request and answers them in order: starts with their ids, ends
 * with null. When it returns, everything is durable. When it throws, some of it may be, and the
 * same request may be sent again.
 *
 * @param userId the user of the reporting key
 * @param options whether the service made all ids for this request, so that no call exists yet
 * @throws ServiceError 503 when storage does not accept it in time
 */
export const writeCalls = async (
  store: Store,
  reports: readonly CallReport[],
  userId: string,
  budget: RequestBudget,
  { idsAreNew = false }: { readonly idsAreNew?: boolean } = {},
): Promise<(StartAnswer | null)[]> => {
  const { calls, callOfReport } = groupReports(reports);
  const stored = await storedStarts(store, calls, budget);
  const traces = await settleTraces(store, calls, stored, budget);
  const itemsOf = itemMaker(store, stored, traces, { userId, idsAreNew });
  const payloads = await storePayloads(store, calls, showing(stored, itemsOf), budget);
  const starts = payloads.flatMap((payload) => itemsOf(payload).start ?? []);
  const ends = payloads.flatMap((payload) => itemsOf(payload).end ?? []);

  const ended = calls
    .flatMap((call) => (call.start === null ? (stored.get(nameOf(call)) ?? []) : []))
    .filter(hasStart);

  const marks = new HourMarks(store, budget);
  await markHours(marks, [...starts, ...ended]);
  const existing = await insertNew(store, starts, ends, budget);
  const kept = await replaceStarts(store, existing.starts, marks, budget);
  if ([...kept].some(([name, trace]) => traces.get(name) !== trace)) {
    // Calls and their parents may now be in different traces, as no look before the write showed.
    for (const [name, trace] of kept) traces.set(name, trace);
    await reserveTraces(store, reservationsOf(calls, stored, traces), budget);
  }
  await replaceEnds(store, existing.ends, budget);
  await dropEnds(store, ended, budget);
  const failed = calls.filter(({ start, end }) => start === null && hasException(end));
  await markFailed(store, failed, ended, budget);

  return reports.map((report, i) => {
    const call = callOfReport[i];
    return report.kind === 'start' && call ? { id: call.id, traceId: traceOf(traces, call) } : null;
  });
};

/** The item of a call that a request reports: of its start, or of an end by itself. */
type Items = { readonly start?: ReportedStart; readonly end?: ReportedEnd };

/** Makes what makes items of stored payloads. */
const itemMaker = (
  store: Store,
  stored: ReadonlyMap<string, StartEntry>,
  traces: ReadonlyMap<string, string>,
  { userId, idsAreNew }: { readonly userId: string; readonly idsAreNew: boolean },
): ((payload: StoredPayload) => Items) => {
  const sharing = Map.groupBy(traces.values(), (trace) => trace);
  return (payload) => {
    const { call } = payload;
    const { start, end, hasClientId } = call;
    if (start === null)
      return end ? { end: reportedEnd(store, payload, end, stored.get(nameOf(call))?.start ?? null) } : {};
    const traceId = traceOf(traces, call);
    const item = startItem(store, payload, start, { traceId, userId });
    const ownTrace = start.traceId !== null;
    const takesReserved = !ownTrace && start.parentId === null && sharing.get(traceId)?.length === 1;
    return { start: { ...item, ownTrace, takesReserved, isNew: idsAreNew || !hasClientId } };
  };
};

const hasException = (end: CallEnd | null): boolean => end !== null && end.exception !== null;

/** An item or row of so many bytes takes one write unit. */
const unitBytes = 1024;

/** Tells which calls lists show with payloads: roots and failed calls whose items take one unit. */
const showing =
  (stored: ReadonlyMap<string, StartEntry>, itemsOf: (payload: StoredPayload) => Items): IsShown =>
  (call, payload) => {
    const start = call.start ?? stored.get(nameOf(call))?.start;
    if (start?.parentId !== null && !hasException(call.end)) return false;
    if (!payload) return true;
    const items = itemsOf(payload);
    const { item } = items.start ?? items.end ?? {};
    return item !== undefined && itemBytes(item) <= unitBytes;
  };

/**
 * Marks the hours whose rollups the request makes stale, as far as it is known before its calls
 * are written. They are those of all starts, and of the stored starts that get another end.
 */
const markHours = async (marks: HourMarks, changing: readonly StartItem[]): Promise<void> => {
  for (const [projectId, starts] of Map.groupBy(changing, (each) => each.projectId))
    await marks.mark(
      projectId,
      starts.map(({ start, item }) => ({ startedAt: start.startedAt, expiresAt: asNumber(item.x) })),
    );
};

/**
 * Stores the starts and ends that are new. Calls with a new id cannot exist yet and are put. All
 * others are inserted: whoever replaces one must know its payload, and mark the hour that it was
 * in.
 *
 * @returns the starts and ends in whose places something is stored already
 */
const insertNew = async (
  store: Store,
  starts: readonly ReportedStart[],
  ends: readonly ReportedEnd[],
  budget: RequestBudget,
): Promise<{ starts: ReportedStart[]; ends: ReportedEnd[] }> => {
  const [put, inserted] = partition(starts, ({ isNew }) => isNew);
  const itemsOf = (reports: readonly (ReportedStart | ReportedEnd)[]) => reports.map(({ item }) => item);
  await putItems(store.table, itemsOf(put), budget);
  const existing = new Set(await insertItems(store.table, itemsOf([...inserted, ...ends]), budget));
  return {
    starts: inserted.filter(({ item }) => existing.has(item)),
    ends: ends.filter(({ item }) => existing.has(item)),
  };
};

const nameOf = ({ projectId, id }: Pick<ReportedCall, 'projectId' | 'id'>): string =>
  qualifiedId(projectId, id);

const traceOf = (traces: ReadonlyMap<string, string>, call: ReportedCall): string => {
  const trace = traces.get(nameOf(call));
  if (trace === undefined) throw new Error(`no trace was resolved for call ${call.id}`);
  return trace;
};

const partition = <T>(list: readonly T[], test: (item: T) => boolean): [yes: T[], no: T[]] => [
  list.filter(test),
  list.filter((item) => !test(item)),
];

/**
 * The stored starts that a request depends on, and what is reserved for them, by
 * {@link qualifiedId}. An end needs its start for its index keys. A start without a trace needs its
 * own, in case it is a repetition, and its parent's.
 */
const storedStarts = async (
  store: Store,
  calls: readonly ReportedCall[],
  budget: RequestBudget,
): Promise<Map<string, StartEntry>> => {
  const needed = [...neededStarts(calls).values()];
  const found = needed.length > 0 ? await readStartEntries(store, needed, budget) : [];
  return new Map(found.map((start) => [nameOf(start), start]));
};

const neededStarts = (
  calls: readonly ReportedCall[],
): Map<string, Pick<ReportedCall, 'projectId' | 'id'>> => {
  const needed = new Map<string, Pick<ReportedCall, 'projectId' | 'id'>>();
  const inRequest = new Set(
    calls.filter((call) => call.start).map((call) => qualifiedId(call.projectId, call.id)),
  );
  for (const call of calls) {
    const { projectId, id, start } = call;
    if (start === null || (start.traceId === null && call.hasClientId))
      needed.set(qualifiedId(projectId, id), call);
    if (start === null || start.traceId !== null || start.parentId === null) continue;
    const parent = qualifiedId(projectId, start.parentId);
    if (!inRequest.has(parent)) needed.set(parent, { projectId, id: start.parentId });
  }
  return needed;
};
