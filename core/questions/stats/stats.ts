import { type HeaderAttribute, headerAttributes } from '../../../api/shared/header-fields.ts';
import { type GroupField, isModelCallMetric, type StatsRequest } from '../../../api/stats.ts';
import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import { bucketEdges } from '../../../foundations/wire/buckets.ts';
import type { ProjectId } from '../../../foundations/wire/index.ts';
import type { SteadyPrices } from '../../records/costs/index.ts';
import type { Lookups } from '../query/index.ts';
import { keepingFor, Output, type StatsAnswer, statsAnswer } from './answer.ts';
import { groupTest, planStats, type StatsPlan } from './plan.ts';
import { takeRolledUp } from './rollups.ts';
import { costsFor, scanCalls } from './scan.ts';

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
  const counts = { scanned: 0, hydrated: 0, rollups: 0 };
  const answer = async (): Promise<StatsAnswer> => {
    const output = new Output(request, edges);
    const computeCosts = await costsFor(lookups, projectId, request.usage, budget);
    if (plan.source === 'rollups' && table) {
      const prices = computeCosts && (await lookups.steadyPrices(projectId, budget));
      const passes = groupTest(filter, where);
      await takeRolledUp(
        { store, table, projectId, span, edges, computeCosts, prices, counts, now },
        (group, time) => {
          if (passes(group)) output.cell(time, output.valuesOfGroup(group)).merge(group.cell);
        },
        budget,
      );
    } else {
      const withUsage = keepingFor(request).usage;
      await scanCalls(
        store,
        {
          projectId,
          filter,
          where,
          withUsage,
          withFailed: wantsFailed(request),
          attributes: getAttributes(request),
          withFeedback: request.groupByFeedback !== null,
        },
        span,
        (call, usage, failed) => {
          const { header } = call;
          const { startedAt } = header.start;
          const cell = output.cell(startedAt, output.getValues(call));
          cell.add(header, usage, computeCosts?.(usage, startedAt) ?? {}, failed);
        },
        counts,
        budget,
        lookups,
      );
    }
    return statsAnswer(request, edges, output.all());
  };
  return { plan, counts, answer };
};
