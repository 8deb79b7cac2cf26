import { mapConcurrent, type RequestBudget, type Store } from '../../storage/index.ts';
import { ServiceError } from '../../wire/index.ts';
import type { CallEnd, CallReport } from '../model.ts';
import { updateCall } from './update.ts';
import { writeCalls } from './write.ts';

/** How many calls are renamed at once. */
const concurrency = 8;

const isUnknown = (error: unknown): boolean => error instanceof ServiceError && error.status === 404;

const placeOf = ({ projectId, id }: Pick<CallEnd, 'projectId' | 'id'>): string => `${projectId}\n${id}`;

/** An end that tells the name to show for its call. */
type NamedEnd = CallEnd & { readonly displayName: string };

const namedEnds = (reports: readonly CallReport[]): NamedEnd[] =>
  reports.flatMap((report) => {
    if (report.kind !== 'end') return [];
    const { displayName } = report.end;
    return displayName ? [{ ...report.end, displayName }] : [];
  });

/** The reports, with names of ends on the starts of the same calls. */
const withNames = (reports: readonly CallReport[], ends: readonly NamedEnd[]): CallReport[] => {
  const names = new Map(ends.map((end) => [placeOf(end), end.displayName]));
  return reports.map((report) => {
    if (report.kind !== 'start' || report.start.id === null) return report;
    const { projectId, id, displayName } = report.start;
    return {
      kind: 'start',
      start: { ...report.start, displayName: names.get(placeOf({ projectId, id })) ?? displayName },
    };
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
  const started = new Set(
    reports.flatMap(({ kind, ...report }) =>
      'start' in report && report.start.id !== null
        ? [placeOf({ projectId: report.start.projectId, id: report.start.id })]
        : [],
    ),
  );
  await rename(
    store,
    ends.filter((end) => !started.has(placeOf(end))),
    budget,
  );
  return writeCalls(store, withNames(reports, ends), userId, budget);
};

const rename = (store: Store, ends: readonly NamedEnd[], budget: RequestBudget): Promise<unknown> =>
  mapConcurrent(ends, concurrency, ({ projectId, id, displayName }) =>
    updateCall(store, projectId, id, { displayName }, budget).catch((error: unknown) => {
      if (!isUnknown(error)) throw error;
    }),
  );
