import { mapConcurrent, type RequestBudget, type Store } from '../../../foundations/storage/index.ts';
import { qualifiedId, ServiceError } from '../../../foundations/wire/index.ts';
import type { CallEnd, CallReport } from '../model.ts';
import { updateCall } from './update.ts';
import { writeCalls } from './write.ts';

/** How many calls are renamed at once. */
const concurrency = 8;

const isUnknown = (error: unknown): boolean => error instanceof ServiceError && error.status === 404;

/** An end that tells the name to show for its call. */
type NamedEnd = CallEnd & { readonly displayName: string };

const namedEnds = (reports: readonly CallReport[]): NamedEnd[] =>
  reports.flatMap((report) => {
    if (report.kind !== 'end') return [];
    const { displayName } = report.end;
    return displayName ? [{ ...report.end, displayName }] : [];
  });

/** The call that a report starts, if it names one. */
const startedBy = (report: CallReport): string | undefined =>
  report.kind === 'start' && report.start.id !== null
    ? qualifiedId(report.start.projectId, report.start.id)
    : undefined;

/** The reports, with names of ends on the starts of the same calls. */
const withNames = (reports: readonly CallReport[], ends: readonly NamedEnd[]): CallReport[] => {
  const names = new Map(ends.map((end) => [qualifiedId(end.projectId, end.id), end.displayName]));
  return reports.map((report) => {
    const displayName = names.get(startedBy(report) ?? '');
    if (report.kind !== 'start' || displayName === undefined) return report;
    return { kind: 'start', start: { ...report.start, displayName } };
  });
};

/**
 * Stores reports as {@link writeCalls} does, and gives calls the names that their ends tell, as
 * Weave's SDKs may. Names come first, so that a call that has ended has its name. An end that came
 * before its start names nothing: the start will bring a name.
 *
 * @throws ServiceError as {@link writeCalls}; 503 when storage does not accept it in time
 */
export const reportCalls: typeof writeCalls = async (store, reports, userId, budget) => {
  const ends = namedEnds(reports);
  if (ends.length === 0) return writeCalls(store, reports, userId, budget);
  const started = new Set(reports.map(startedBy));
  const alone = ends.filter((end) => !started.has(qualifiedId(end.projectId, end.id)));
  await rename(store, alone, budget);
  return writeCalls(store, withNames(reports, ends), userId, budget);
};

const rename = (store: Store, ends: readonly NamedEnd[], budget: RequestBudget): Promise<unknown> =>
  mapConcurrent(ends, concurrency, ({ projectId, id, displayName }) =>
    updateCall(store, projectId, id, { displayName }, budget).catch((error: unknown) => {
      if (!isUnknown(error)) throw error;
    }),
  );
