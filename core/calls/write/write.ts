import { insertItems, putItems, type RequestBudget, type Store } from '../../storage/index.ts';
import type { StartItem } from '../codec/items.ts';
import type { CallReport, StartAnswer } from '../model.ts';
import { groupReports, qualifiedId, type ReportedCall, resolveTraces } from './group-reports.ts';
import { dropEnds, type ReportedStart, readStarts, replaceStarts } from './replace-starts.ts';
import { endItem, startItem } from './report-items.ts';
import { storePayloads } from './store-payloads.ts';

/**
 * Stores the starts and ends of one request and answers them in order: starts with their ids, ends
 * with null. When it returns, everything is durable. When it throws, some of it may be, and the
 * same request may be sent again.
 *
 * @param userId the user of the reporting key
 * @throws ServiceError 503 when storage does not accept it in time
 */
export const writeCalls = async (
  store: Store,
  reports: readonly CallReport[],
  userId: string,
  budget: RequestBudget,
): Promise<(StartAnswer | null)[]> => {
  const { calls, callOfReport } = groupReports(reports);
  const stored = await storedStarts(store, calls, budget);
  const traces = resolveTraces(calls, new Map([...stored].map(([name, { start }]) => [name, start.traceId])));
  const payloads = await storePayloads(store, calls, budget);

  const starts = payloads.flatMap((payload): ReportedStart[] => {
    const { start } = payload.call;
    if (start === null) return [];
    const item = startItem(store, payload, start, { traceId: traceOf(traces, payload.call), userId });
    return [{ ...item, ownTrace: start.traceId !== null, isNew: !payload.call.hasClientId }];
  });
  const ends = payloads.flatMap((payload) => {
    const { start, end } = payload.call;
    return start === null && end
      ? [endItem(store, payload, end, stored.get(nameOf(payload.call))?.start)]
      : [];
  });

  const [inserted, put] = partition(starts, mustNotReplace);
  await putItems(store.table, [...put.map(({ item }) => item), ...ends], budget);
  const existing = await insertStarts(store, inserted, budget);
  for (const [name, trace] of await replaceStarts(store, existing, budget)) traces.set(name, trace);
  const ended = calls.flatMap((call) => (call.start === null ? (stored.get(nameOf(call)) ?? []) : []));
  await dropEnds(store, ended, budget);

  return reports.map((report, i) => {
    const call = callOfReport[i];
    return report.kind === 'start' && call ? { id: call.id, traceId: traceOf(traces, call) } : null;
  });
};

/**
 * Whether a start may only be inserted. A start by itself must not overwrite an end in the same
 * item. One with a resolved trace must not move a call that has another trace by now. Calls with a
 * new id cannot exist yet.
 */
const mustNotReplace = ({ end, ownTrace, isNew }: ReportedStart): boolean =>
  !isNew && (end === null || !ownTrace);

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
