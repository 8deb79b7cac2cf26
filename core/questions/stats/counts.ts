import type { CallsFilter, CallsSelection } from '../../../api/queries.ts';
import { type Expression, isDuring, pathsIn } from '../../../foundations/expression/index.ts';
import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import type { Micros, ProjectId } from '../../../foundations/wire/index.ts';
import type { CallHeader, EndStatus } from '../../records/calls/index.ts';
import { hourMicros, toHour } from '../../records/rollups.ts';
import { compileTests, countCalls, type Lookups, type Planned, plan, QueriedCall } from '../query/index.ts';
import type { Dimensions } from './cells.ts';
import { countGroups } from './rollups.ts';

/** The fields of the filter, and of calls, that groups of rollups decide. */
const filtered: ReadonlySet<keyof CallsFilter> = new Set(['opNames', 'userIds', 'sources']);
const compared: ReadonlySet<string> = new Set(['op_name', 'svc_user_id', 'summary.svc.status']);

/** A shorter range than this is counted as it is, in microseconds. */
const shortest = 6 * hourMicros;

/** What a call of a group is like, as far as its dimensions go. */
const toHeader = (projectId: ProjectId, { opName, userId, status, source }: Dimensions): CallHeader => ({
  projectId,
  id: '',
  start: {
    opName,
    userId,
    attributes: { source },
    displayName: null,
    traceId: '',
    parentId: null,
    threadId: null,
    turnId: null,
    startedAt: 0,
    runId: null,
    runStep: null,
    bytes: 0,
    payload: { segment: null, offset: 0, length: 0 },
  },
  end:
    status === 'running'
      ? null
      : {
          endedAt: 0,
          status: status as EndStatus,
          runStepEnd: null,
          usage: null,
          waited: null,
          bytes: 0,
          payload: { segment: null, offset: 0, length: 0 },
        },
  endPart: 'S',
});

/** The span of time whose rollups can count a selection; undefined if none can. */
const spanToCount = (
  { filter, limit }: CallsSelection,
  { plan: { source, bounds }, deciding, later }: Planned,
  now: Micros,
): readonly [from: Micros, to: Micros] | undefined => {
  const { from, to } = bounds;
  if (source.kind !== 'project' || source.levels.length < 2 || limit !== null || later.length > 0)
    return undefined;
  const set = Object.entries(filter).filter(([, value]) => value !== null && value !== false);
  if (!set.every(([field]) => filtered.has(field as keyof CallsFilter))) return undefined;
  if (!deciding.flatMap((expression) => pathsIn(expression)).every(({ text }) => compared.has(text)))
    return undefined;
  const end = to === undefined ? (toHour(now) + 1) * hourMicros : to + 1;
  return from === undefined || end - from < shortest ? undefined : [from, end];
};

/**
 * Counts calls: by rollups of finished hours as far as they are there and decide which calls are meant, else as
 * {@link countCalls} does. It makes no rollups.
 *
 * @param withBytes as there
 * @throws ServiceError 503 when storage does not give something in time
 */
export const countSelection = (
  store: Store,
  selection: CallsSelection & { readonly withBytes: boolean },
  budget: RequestBudget,
  lookups?: Lookups,
): ReturnType<typeof countCalls> & { readonly rollups: () => number } => {
  const whole = countCalls(store, selection, budget, lookups);
  const { projectId, where, withBytes } = selection;
  const query = {
    ...selection,
    expand: selection.expand ?? [],
    offset: 0,
    sort: [],
    columns: [],
    returnExpanded: false,
  };
  const planned = plan(query, Date.now() * 1000);
  const span = spanToCount(selection, planned, Date.now() * 1000);
  const { bookkeeping: table } = store;
  if (!table || !span || withBytes) return { ...whole, rollups: () => 0 };
  const tests = compileTests(query, { ...planned, onHeaders: planned.deciding });
  const isCounted = (dimensions: Dimensions): boolean =>
    tests.onHeader(new QueriedCall(toHeader(projectId, dimensions)));
  let rollups = 0;
  const stats = async () => {
    const reading = { store, table, projectId, span, now: Date.now };
    const counted = await countGroups(reading, isCounted, budget);
    rollups = counted.rollups;
    let { count } = counted;
    for (const [from, to] of counted.gaps) {
      const isOpen = planned.plan.bounds.to === undefined && to === span[1];
      const operands: Expression[] = [
        ...(where ? [where] : []),
        ...isDuring('started_at', from, isOpen ? null : to),
      ];
      const gap = countCalls(store, { ...selection, where: { kind: 'and', operands } }, budget, lookups);
      count += (await gap.stats()).count;
      whole.query.counts.scanned += gap.query.counts.scanned;
    }
    return { count, bytes: 0 };
  };
  return { query: whole.query, stats, rollups: () => rollups };
};
