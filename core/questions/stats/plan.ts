import { type CallsFilter, callKind, noIncludes } from '../../../api/queries.ts';
import { type GroupField, isCostMetric, isModelCallMetric, type StatsRequest } from '../../../api/stats.ts';
import { compile, type Expression, pathsIn } from '../../../foundations/expression/index.ts';
import type { JsonValue } from '../../../foundations/wire/index.ts';
import { among, matchesAny } from '../query/index.ts';
import type { Dimensions } from './cells.ts';
import { findHours, type Hours } from './hours.ts';

/** The fields of calls that groups know, by their paths in expressions. */
const makeReaders = (): ReadonlyMap<string, (dimensions: Dimensions) => JsonValue> =>
  new Map([
    ['op_name', ({ opName }: Dimensions) => opName],
    ['svc_user_id', ({ userId }: Dimensions) => userId],
    [`summary.svc.status`, ({ status }: Dimensions) => status],
  ]);

/** The fields to group by that groups know. */
const known: ReadonlySet<GroupField> = new Set(['op_name', 'user', 'status', 'source']);

/** Why groups cannot answer what is asked for; undefined if they can. */
const unknownToGroups = (
  filter: CallsFilter,
  where: Expression | null,
  groupBy: readonly GroupField[],
): string | undefined => {
  const { opNames: _ops, userIds: _users, sources: _sources, ...others } = filter;
  const set = Object.entries(others).find(([, value]) => value !== null && value !== false);
  if (set) return `filter by ${set[0]}`;
  const readers = makeReaders();
  const path = where === null ? undefined : pathsIn(where).find(({ text }) => !readers.has(text));
  if (path) return `query on ${path.text}`;
  const field = groupBy.find((candidate) => !known.has(candidate));
  return field && `groups by ${field}`;
};

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
      isCostMetric(metric) &&
      aggregations.some((aggregation) => aggregation === 'min' || aggregation === 'max'),
  );
  return extreme && `extremes of ${extreme.metric}`;
};

const hasHours = ({ first, last, isCut }: Hours): boolean => {
  for (let hour = first; hour <= last; hour++) if (!isCut(hour)) return true;
  return false;
};

/** Plans statistics. Pure. */
export const planStats = (request: StatsRequest, edges: readonly number[]): StatsPlan => {
  const { start, end, filter, where, groupBy } = request;
  const because =
    unknownToGroups(filter, where, groupBy) ??
    unknownUsage(request) ??
    (hasHours(findHours([start, end], edges)) ? undefined : 'no whole hour in a bucket');
  return {
    source: because === undefined ? 'rollups' : 'scan',
    because: because ?? null,
    buckets: edges.length - 1,
  };
};

/** Makes the test of groups by a filter and a query that groups can tell. */
export const groupTest = (
  { opNames, userIds, sources }: CallsFilter,
  where: Expression | null,
): ((dimensions: Dimensions) => boolean) => {
  const op = matchesAny(opNames);
  const user = among(userIds);
  const source = among(sources);
  const readers = makeReaders();
  const passes =
    where === null
      ? () => true
      : compile<Dimensions>(
          callKind(noIncludes),
          where,
          ({ text }) => readers.get(text) ?? (() => undefined),
        );
  return (dimensions) =>
    op?.(dimensions.opName) !== false &&
    user?.(dimensions.userId) !== false &&
    source?.(dimensions.source) !== false &&
    passes(dimensions);
};
