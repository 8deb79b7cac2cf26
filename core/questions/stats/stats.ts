import { type HeaderAttribute, headerAttributes } from '../../../api/shared/header-fields.ts';
import { type GroupField, isModelCallMetric, type StatsRequest } from '../../../api/stats.ts';
import { toPath } from '../../../foundations/expression/index.ts';
import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import { bucketEdges } from '../../../foundations/wire/buckets.ts';
import type { JsonValue, Micros, ProjectId } from '../../../foundations/wire/index.ts';
import type { SteadyPrices } from '../../records/costs/index.ts';
import type { Lookups, QueriedCall } from '../query/index.ts';
import { toolOf } from '../traces/agents.ts';
import { AgentFinder, maxHeld, tooManyCalls } from './agents.ts';
import { keepingFor, Output, type StatsAnswer, statsAnswer } from './answer.ts';
import { groupTest, planStats, type StatsPlan } from './plan.ts';
import { takeRolledUp } from './rollups.ts';
import { type ComputeCosts, costsFor, scanCalls } from './scan.ts';

/** What statistics look up elsewhere. */
export interface StatsLookups extends Lookups {
  /** The prices that are the same throughout a span of time. */
  readonly steadyPrices: (projectId: ProjectId, budget: RequestBudget) => Promise<SteadyPrices>;
}

/** Statistics under way: their plan, counts as they grow, and the answer, to be asked for once. */
export interface StatsUnderWay {
  readonly plan: StatsPlan;
  readonly counts: {
    /** Calls whose headers were read. */
    scanned: number;
    /** Calls whose payloads were read. */
    hydrated: number;
    /** Rollups that were used. */
    rollups: number;
    /** Traces that were read by their index, for the agents of calls. */
    traces: number;
  };
  readonly answer: () => Promise<StatsAnswer>;
}

const wantsFailed = ({ usage }: StatsRequest): boolean =>
  usage.some(({ metric }) => isModelCallMetric(metric));

/** The attributes by which calls are grouped. */
const getAttributes = ({ groupBy }: StatsRequest): HeaderAttribute[] => {
  const fields: ReadonlySet<GroupField> = new Set(groupBy);
  return headerAttributes.filter((name) => fields.has(`attributes.${name}`));
};

/** How many calls wait together for their agents. */
const waitingAtOnce = 1000;

/** Scans the calls of a request one by one, and counts them. */
const countScanned = async (
  store: Store,
  request: StatsRequest,
  edges: readonly Micros[],
  computeCosts: ComputeCosts | undefined,
  counts: StatsUnderWay['counts'],
  budget: RequestBudget,
  lookups: Lookups,
): Promise<Output> => {
  const { projectId, start, end, filter, where, groupBy } = request;
  const keeping = keepingFor(request);
  const paths = groupBy.map(toPath);
  const finder = groupBy.some((field) => field === 'agent')
    ? new AgentFinder(store, projectId, budget)
    : undefined;
  const output = new Output(request, edges, ({ header }) => finder?.find(header) ?? null);
  const ofTools = groupBy.some((field) => field === 'tool');
  type Taken = readonly [call: QueriedCall, usage: JsonValue, failed: string | undefined];
  let taken = 0;
  const add = ([call, usage, failed]: Taken): void => {
    const { header } = call;
    const { startedAt } = header.start;
    if (keeping.traces && ++taken > maxHeld) throw tooManyCalls('call_metrics', 'the traces');
    const cell = output.cell(startedAt, output.getValues(call));
    cell.add(header, usage, computeCosts?.(usage, startedAt) ?? {}, failed);
  };
  let waiting: Taken[] = [];
  const addWaiting = async (): Promise<void> => {
    const some = waiting;
    waiting = [];
    await finder?.settle(some.map(([{ header }]) => header));
    for (const one of some) add(one);
  };
  await scanCalls(
    store,
    {
      projectId,
      filter,
      where,
      withUsage: keeping.usage,
      withFailed: wantsFailed(request),
      attributes: getAttributes(request),
      paths,
      meet: finder && ((calls) => finder.meet(calls)),
      withFeedback: request.groupByFeedback !== null || paths.some(({ field }) => field === 'feedback'),
    },
    [start, end],
    (call, usage, failed) => {
      if (ofTools && toolOf(call.header) === null) return undefined;
      if (finder?.find(call.header) !== undefined || !finder) return add([call, usage, failed]);
      waiting.push([call, usage, failed]);
      return waiting.length === waitingAtOnce ? addWaiting() : undefined;
    },
    counts,
    budget,
    lookups,
  );
  await addWaiting();
  counts.traces += finder?.readTraces ?? 0;
  return output;
};

/**
 * Computes statistics of a project's calls over time.
 *
 * @param now the time, in milliseconds since 1970
 * @throws ServiceError when the answer is asked for: 503 when storage does not give something in
 * time; 422 when there are too many groups
 */
export const computeStats = (
  store: Store,
  request: StatsRequest,
  budget: RequestBudget,
  lookups: StatsLookups,
  now: () => number = Date.now,
): StatsUnderWay => {
  const { bookkeeping: table } = store;
  const { projectId, start, end, filter, where } = request;
  const span = [start, end] as const;
  const edges = bucketEdges(start, end, request.granularity, request.timezone);
  const plan = planStats(request, edges);
  const counts = { scanned: 0, hydrated: 0, rollups: 0, traces: 0 };
  const answer = async (): Promise<StatsAnswer> => {
    const computeCosts = await costsFor(lookups, projectId, request.usage, budget);
    if (plan.source === 'rollups' && table) {
      const output = new Output(request, edges);
      const prices = computeCosts && (await lookups.steadyPrices(projectId, budget));
      const passes = groupTest(filter, where);
      await takeRolledUp(
        { store, table, projectId, span, edges, computeCosts, prices, counts, now },
        (group, time) => {
          if (passes(group)) output.cell(time, output.valuesOfGroup(group)).merge(group.cell);
        },
        budget,
      );
      return statsAnswer(request, edges, output.all());
    }
    const output = await countScanned(store, request, edges, computeCosts, counts, budget, lookups);
    const hasPrice = plan.payloads.length > 0 || request.groupBy.some((field) => field === 'agent');
    const price = { calls: counts.scanned, payloads: counts.hydrated, traces: counts.traces };
    return statsAnswer(request, edges, output.all(), hasPrice ? price : undefined);
  };
  return { plan, counts, answer };
};
