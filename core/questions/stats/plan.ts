import { type CallsFilter, callKind, maxTotalsIds, noIncludes } from '../../../api/queries.ts';
import {
  type GroupField,
  isCostMetric,
  isModelCallMetric,
  maxPayloadDays,
  type StatsRequest,
} from '../../../api/stats.ts';
import { compile, type Expression, pathsIn, toPath } from '../../../foundations/expression/index.ts';
import { invalid, type JsonValue } from '../../../foundations/wire/index.ts';
import { among, matchesAny } from '../query/index.ts';
import type { Dimensions } from './cells.ts';
import { findHours, type Hours } from './hours.ts';
import { isInPayload } from './scan.ts';

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
  /** The paths whose values take the payloads of calls. */
  readonly payloads: readonly string[];
  readonly buckets: number;
}

const maxPayloadMicros = maxPayloadDays * 86_400_000_000;

const needsRange = (path: string) =>
  invalid({
    loc: ['body', 'group_by'],
    msg: `reads the payloads of calls for ${path}: ask for at most ${maxPayloadDays} days, or name at most ${maxTotalsIds} call_ids or trace_ids in filter`,
    type: 'value_error',
  });

/** Whether a filter names calls, and not too many. */
const namesCalls = ({ callIds, traceIds }: CallsFilter): boolean =>
  [callIds, traceIds].some((ids) => ids !== null && ids.length <= maxTotalsIds);

/** Why rollups cannot tell the metrics that are asked for; undefined if they can. */
const unknownMetrics = ({ calls, usage }: StatsRequest): string | undefined => {
  const beyond = calls.find(({ metric }) => metric === 'trace_count' || metric === 'waited_ms');
  if (beyond) return beyond.metric;
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

/**
 * Plans statistics. Pure.
 *
 * @throws ServiceError 422 if the payloads of too long a time would be read
 */
export const planStats = (request: StatsRequest, edges: readonly number[]): StatsPlan => {
  const { start, end, filter, where, groupBy, groupByFeedback } = request;
  const payloads = groupBy.filter((field) => isInPayload(toPath(field)));
  const [first] = payloads;
  if (first !== undefined && end - start > maxPayloadMicros && !namesCalls(filter)) throw needsRange(first);
  const because =
    unknownToGroups(filter, where, groupBy) ??
    (groupByFeedback ? 'groups by feedback' : undefined) ??
    unknownMetrics(request) ??
    (hasHours(findHours([start, end], edges)) ? undefined : 'no whole hour in a bucket');
  return {
    source: because === undefined ? 'rollups' : 'scan',
    because: because ?? null,
    payloads,
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
