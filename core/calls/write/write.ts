import { HourMarks } from '../../rollups/index.ts';
import {
  asNumber,
  type Item,
  insertItems,
  itemBytes,
  putItems,
  type RequestBudget,
  type Store,
} from '../../storage/index.ts';
import type { StartItem } from '../codec/items.ts';
import type { CallEnd, CallReport, StartAnswer } from '../model.ts';
import { groupReports, qualifiedId, type ReportedCall, resolveTraces } from './group-reports.ts';
import { markFailed } from './mark-failed.ts';
import { dropEnds, type ReportedStart, readStarts, replaceStarts } from './replace-starts.ts';
import { endItem, startItem } from './report-items.ts';
import { type IsShown, type StoredPayload, storePayloads } from './store-payloads.ts';

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
  const traces = resolveTraces(calls, new Map([...stored].map(([name, { start }]) => [name, start.traceId])));
  const itemsOf = itemMaker(store, stored, traces, { userId, idsAreNew });
  const payloads = await storePayloads(store, calls, showing(stored, itemsOf), budget);
  const starts = payloads.flatMap((payload) => itemsOf(payload).start ?? []);
  const ends = payloads.map((payload) => itemsOf(payload).end).filter((item) => item !== undefined);

  const marks = new HourMarks(store, budget);
  await markHours(marks, calls, starts, stored);
  const [inserted, put] = partition(starts, mustNotReplace);
  await putItems(store.table, [...put.map(({ item }) => item), ...ends], budget);
  const existing = await insertStarts(store, inserted, budget);
  for (const [name, trace] of await replaceStarts(store, existing, marks, budget)) traces.set(name, trace);
  const ended = calls.flatMap((call) => (call.start === null ? (stored.get(nameOf(call)) ?? []) : []));
  await dropEnds(store, ended, budget);
  const failed = calls.filter(({ start, end }) => start === null && hasException(end));
  await markFailed(store, failed, ended, budget);

  return reports.map((report, i) => {
    const call = callOfReport[i];
    return report.kind === 'start' && call ? { id: call.id, traceId: traceOf(traces, call) } : null;
  });
};

/** The item of a call that a request reports: of its start, or of an end by itself. */
type Items = { readonly start?: ReportedStart; readonly end?: Item };

/** Makes what makes items of stored payloads. */
const itemMaker =
  (
    store: Store,
    stored: ReadonlyMap<string, StartItem>,
    traces: ReadonlyMap<string, string>,
    { userId, idsAreNew }: { readonly userId: string; readonly idsAreNew: boolean },
  ) =>
  (payload: StoredPayload): Items => {
    const { call } = payload;
    const { start, end, hasClientId } = call;
    if (start === null)
      return end ? { end: endItem(store, payload, end, stored.get(nameOf(call))?.start) } : {};
    const item = startItem(store, payload, start, { traceId: traceOf(traces, call), userId });
    return { start: { ...item, ownTrace: start.traceId !== null, isNew: idsAreNew || !hasClientId } };
  };

const hasException = (end: CallEnd | null): boolean => end !== null && end.exception !== null;

/** An item or row of so many bytes takes one write unit. */
const unitBytes = 1024;

/** Tells which calls lists show with payloads: roots and failed calls whose items take one unit. */
const showing =
  (stored: ReadonlyMap<string, StartItem>, itemsOf: (payload: StoredPayload) => Items): IsShown =>
  (call, payload) => {
    const start = call.start ?? stored.get(nameOf(call))?.start;
    if (start?.parentId !== null && !hasException(call.end)) return false;
    if (!payload) return true;
    const items = itemsOf(payload);
    const item = items.start?.item ?? items.end;
    return item !== undefined && itemBytes(item) <= unitBytes;
  };

/**
 * Marks the hours whose rollups the request makes stale, as far as it is known before its calls
 * are written: those of all starts, and of the stored starts that get another end.
 */
const markHours = async (
  marks: HourMarks,
  calls: readonly ReportedCall[],
  starts: readonly ReportedStart[],
  stored: ReadonlyMap<string, StartItem>,
): Promise<void> => {
  const ended = calls.flatMap((call) => (call.start === null ? (stored.get(nameOf(call)) ?? []) : []));
  for (const [projectId, changing] of Map.groupBy([...starts, ...ended], (each) => each.projectId))
    await marks.mark(
      projectId,
      changing.map(({ start, item }) => ({ startedAt: start.startedAt, expiresAt: asNumber(item.x) })),
    );
};

/**
 * Whether a start may only be inserted. A start by itself must not overwrite an end in the same
 * item. One with a resolved trace must not move a call that has another trace by now. And no start
 * may take a call out of an hour whose rollup nobody has marked. Calls with a new id cannot exist
 * yet.
 */
const mustNotReplace = ({ isNew }: ReportedStart): boolean => !isNew;

/**
 * Inserts starts.
 *
 * @returns the starts whose calls have one already
 */
const insertStarts = async (
  store: Store,
  starts: readonly ReportedStart[],
  budget: RequestBudget,
): Promise<ReportedStart[]> => {
  const items = starts.map(({ item }) => item);
  const existing = new Set(await insertItems(store.table, items, budget));
  return starts.filter(({ item }) => existing.has(item));
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
 * The stored starts that a request depends on, by {@link qualifiedId}. An end needs its start for
 * its index keys. A start without a trace needs its own, in case it is a repetition, and its
 * parent's.
 */
const storedStarts = async (
  store: Store,
  calls: readonly ReportedCall[],
  budget: RequestBudget,
): Promise<Map<string, StartItem>> => {
  const needed = [...neededStarts(calls).values()];
  const found = needed.length > 0 ? await readStarts(store, needed, budget) : [];
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
