import { getItems, type RequestBudget, type Store } from '../../../foundations/storage/index.ts';
import { invalid, type ProjectId, qualifiedId } from '../../../foundations/wire/index.ts';
import { endKey, keyText, type StartEntry, startKey, toCallKey } from './items.ts';
import type { CallReport } from './model.ts';
import type { ReportedCall } from './reports.ts';
import { resolveTraces } from './traces.ts';

/*
 * Reports of a key that may only add, and that anybody may have, since it is in a page. What is stored is
 * not changed by them, and their answers come of the request alone: docs/decisions/0281.
 */

/**
 * The traces of reported starts, out of the request alone: a start's own, else that of its parent in the
 * request, else one that derives from the topmost of them.
 *
 * @param reports those of the calls
 * @param getPlace where each report stands in the body of the request
 * @returns the traces by {@link toCallKey}
 * @throws ServiceError 422 for a start without a trace whose parent is not in the request
 */
export const ownTraces = (
  reports: readonly CallReport[],
  calls: readonly ReportedCall[],
  getPlace: (index: number) => readonly string[] = () => [],
): ReadonlyMap<string, string> => {
  const started = new Set(calls.filter(({ start }) => start).map(toCallKey));
  const isKnown = (projectId: ProjectId, id: string): boolean => started.has(qualifiedId(projectId, id));
  const problems = reports.flatMap((report, i) => {
    if (report.kind === 'end') return [];
    const { projectId, traceId, parentId } = report.start;
    if (traceId !== null || parentId === null || isKnown(projectId, parentId)) return [];
    const msg =
      "should be the trace of the parent, which is not in this request: a key with the role report does not learn a stored call's trace";
    return [{ loc: ['body', ...getPlace(i), 'trace_id'], msg, type: 'missing' }];
  });
  if (problems.length > 0) throw invalid(...problems);
  return resolveTraces(calls, new Map());
};

/**
 * The ends that are stored by themselves, of calls whose ends are reported. One that came before its start would no
 * longer count if an end were stored beside the start, and one that came later stays as it is.
 *
 * @returns the keys of their items, by {@link keyText}
 */
const findEnds = async (
  store: Store,
  calls: readonly ReportedCall[],
  budget: RequestBudget,
): Promise<ReadonlySet<string>> => {
  const ended = calls.filter(({ end, hasClientId }) => hasClientId && end);
  const keys = ended.map(({ projectId, id }) => endKey(projectId, id));
  const items = keys.length > 0 ? await getItems(store.table, keys, budget, { consistent: true }) : [];
  return new Set(items.map(keyText));
};

/**
 * What is to be stored of calls, beside what is stored already: what is missing of those that are not there, in
 * their own traces; of those that the same user has started, the end if there is none; and nothing of others.
 *
 * @param traces as {@link ownTraces} gives them
 * @param stored what is stored under the keys of the calls' starts, by {@link toCallKey}
 * @param userId the user of the reporting key
 * @throws ServiceError 503 when storage does not answer in time
 */
export const toAdded = async (
  store: Store,
  calls: readonly ReportedCall[],
  {
    traces,
    stored,
  }: {
    readonly traces: ReadonlyMap<string, string>;
    readonly stored: ReadonlyMap<string, StartEntry>;
  },
  userId: string,
  budget: RequestBudget,
): Promise<ReportedCall[]> => {
  const ends = await findEnds(store, calls, budget);
  return calls.flatMap((call): ReportedCall[] => {
    const { projectId, id, start, end } = call;
    const before = stored.get(toCallKey(call));
    const hasEnd = ends.has(keyText(startKey(projectId, id)));
    if (!before?.start) {
      if (start === null && hasEnd) return [];
      const traceId = traces.get(toCallKey(call)) ?? null;
      return [{ ...call, start: start && { ...start, traceId }, end: hasEnd ? null : end }];
    }
    const mayEnd = before.start.userId === userId && !before.end && !hasEnd && end !== null;
    return mayEnd ? [{ ...call, start: null }] : [];
  });
};
