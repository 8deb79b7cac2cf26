import type { WireNames } from '../../foundations/wire/index.ts';
import { unknownToGroups } from './group.ts';
import { isCostMetric, isModelCallMetric, type StatsRequest } from './request.ts';
import { type Hours, hoursOf } from './span.ts';

/** How statistics are made: plain data, logged with the request. */
export interface StatsPlan {
  /** Rollups of finished hours and headers of the rest, or headers alone. */
  readonly source: 'rollups' | 'scan';
  /** Why it is not rollups. */
  readonly because: string | null;
  readonly buckets: number;
}

/** Why rollups cannot tell the metrics of usage that are asked for; undefined if they can. */
const unknownUsage = ({ usage }: StatsRequest): string | undefined => {
  const ofCalls = usage.find(({ metric }) => isModelCallMetric(metric));
  if (ofCalls) return `${ofCalls.metric} by model`;
  const withPercentiles = usage.find(({ percentiles }) => percentiles.length > 0);
  if (withPercentiles) return `percentiles of ${withPercentiles.metric}`;
  const extreme = usage.find(
    ({ metric, aggregations }) =>
      isCostMetric(metric) && aggregations.some((each) => each === 'min' || each === 'max'),
  );
  return extreme && `extremes of ${extreme.metric}`;
};

const hasHours = ({ first, last, isCut }: Hours): boolean => {
  for (let hour = first; hour <= last; hour++) if (!isCut(hour)) return true;
  return false;
};

/** Plans statistics. Pure. */
export const planStats = (names: WireNames, request: StatsRequest, edges: readonly number[]): StatsPlan => {
  const { start, end, filter, where, groupBy } = request;
  const because =
    unknownToGroups(names, filter, where, groupBy) ??
    unknownUsage(request) ??
    (hasHours(hoursOf([start, end], edges)) ? undefined : 'no whole hour in a bucket');
  return {
    source: because === undefined ? 'rollups' : 'scan',
    because: because ?? null,
    buckets: edges.length - 1,
  };
};
