import { insertItems, putItems, type RequestBudget, type Store } from '../../storage/index.ts';
import type { StartItem } from '../codec/items.ts';
import type { CallReport, StartAnswer } from '../model.ts';
import { callName, groupReports, type ReportedCall, resolveTraces } from './group-reports.ts';
import { dropEnds, type ReportedStart, readStarts, replaceStarts } from './replace-starts.ts';
import { endItem, startItem } from './report-items.ts';
import { storePayloads } from './store-payloads.ts';

/**
 * Stores the starts and ends of one request, and answers each in order: a start with its ids, an
 * end with null. When it returns all of it is durable; when it throws, some of it may be, and the
 * same request may be sent again.
 *
 * @param userId whose key reports them
 * @throws ServiceError 503 when storage does not take it in time
 */
export const writeCalls = async (
  store: Store,
  reports: readonly CallReport[],
  userId: string,
  budget: RequestBudget,
): Promise<(StartAnswer | null)[]> => {
  const { calls, ofReport } = groupReports(reports);
  const stored = await storedStarts(store, calls, budget);
  const traces = resolveTraces(calls, new Map([...stored].map(([name, { start }]) => [name, start.traceId])));
  const payloads = await storePayloads(store, calls, budget);

  const starts = payloads.flatMap((payload): ReportedStart[] => {
    const { start } = payload.call;
    if (start === null) return [];
    const item = startItem(store, payload, start, { traceId: traceOf(traces, payload.call), userId });
    return [{ ...item, ownTrace: start.traceId !== null, isNew: !payload.call.known }];
  });
  const ends = payloads.flatMap((payload) => {
    const { start, end } = payload.call;
    return start === null && end
      ? [endItem(store, payload, end, stored.get(nameOf(payload.call))?.start)]
      : [];
  });

  const [inserted, put] = partition(starts, mustNotReplace);
  await putItems(store.table, [...put.map(({ item }) => item), ...ends], budget);
  const taken = await insertStarts(store, inserted, budget);
  for (const [name, trace] of await replaceStarts(store, taken, budget)) traces.set(name, trace);
  const ended = calls.flatMap((call) => (call.start === null ? (stored.get(nameOf(call)) ?? []) : []));
  await dropEnds(store, ended, budget);

  return reports.map((report, i) => {
    const call = ofReport[i];
    return report.kind === 'start' && call ? { id: call.id, traceId: traceOf(traces, call) } : null;
  });
};

/**
 * Whether a start may only go where none is: one that comes alone must not wipe out an end that
 * lies in the same item, and one that was given a trace must not take it from a call that has
 * another by now. Where the id was just made there can be none.
 */
const mustNotReplace = ({ end, ownTrace, isNew }: ReportedStart): boolean =>
  !isNew && (end === null || !ownTrace);

/** Inserts starts; gives back those whose calls have a start already. */
const insertStarts = async (
  store: Store,
  starts: readonly ReportedStart[],
  budget: RequestBudget,
): Promise<ReportedStart[]> => {
  const items = starts.map(({ item }) => item);
  const taken = new Set(await insertItems(store.table, items, budget));
  return starts.filter(({ item }) => taken.has(item));
};

const nameOf = ({ projectId, id }: Pick<ReportedCall, 'projectId' | 'id'>): string => callName(projectId, id);

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
 * The stored starts that a request depends on, by {@link callName}: an end's, for its place in the
 * indexes, and for starts without a trace their own (they may be a repetition) and their parents'.
 */
const storedStarts = async (
  store: Store,
  calls: readonly ReportedCall[],
  budget: RequestBudget,
): Promise<Map<string, StartItem>> => {
  const wanted = [...wantedStarts(calls).values()];
  const found = wanted.length > 0 ? await readStarts(store, wanted, budget) : [];
  return new Map(found.map((start) => [nameOf(start), start]));
};

const wantedStarts = (
  calls: readonly ReportedCall[],
): Map<string, Pick<ReportedCall, 'projectId' | 'id'>> => {
  const wanted = new Map<string, Pick<ReportedCall, 'projectId' | 'id'>>();
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
