import type { Asked, CallMetric, StatsRequest, UsageMetric } from '../../../api/stats.ts';
import { getStats as description } from '../../../api/tools.ts';
import { bucketEdges, maxBuckets } from '../../../foundations/wire/buckets.ts';
import { invalidAt } from '../../../foundations/wire/index.ts';
import { type BucketRow, computeStats } from '../../questions/stats/index.ts';
import { rounded } from './calls.ts';
import { runs, type ToolContext } from './context.ts';
import { shownRange, toRange } from './range.ts';
import { fitted, type Json, type JsonFields } from './reply.ts';

/** How far statistics without a start look back: a day. */
const usualSpan = 86_400e6;

/** One bucket of a century holds every range. */
export const wholeRange = 36_500 * 86_400;

const toSum = <M extends CallMetric | UsageMetric>(metric: M): Asked<M> => ({
  metric,
  aggregations: ['sum'],
  percentiles: [],
});

/** What is counted if nothing is asked for. */
const usualCalls: Asked<CallMetric>[] = [
  toSum('call_count'),
  toSum('error_count'),
  { metric: 'latency_ms', aggregations: ['avg'], percentiles: [50, 95] },
];
const usualUsage: Asked<UsageMetric>[] = [toSum('input_tokens'), toSum('output_tokens'), toSum('total_cost')];

/** Rows as a table: names once, and values in their order. Tables of one range have no times. */
const toTable = (rows: readonly BucketRow[], timed: boolean, count: number): JsonFields => {
  const columns = Object.keys(rows[0] ?? {}).filter((name) => timed || name !== 'timestamp');
  const plain = (value: Json | undefined): Json =>
    typeof value === 'number' ? rounded(value) : (value ?? null);
  return {
    columns,
    rows: rows.slice(0, count).map((row) => columns.map((name) => plain(row[name] as Json))),
  };
};

/** Rows of one range with the largest first, by the first figure. */
const largestFirst = (rows: readonly BucketRow[]): readonly BucketRow[] => {
  const figure = (row: BucketRow): number =>
    Number(
      Object.entries(row).find(([name, value]) => typeof value === 'number' && name !== 'timestamp')?.[1] ??
        0,
    );
  return rows.toSorted((a, b) => figure(b) - figure(a));
};

/** The statistics of a request. */
export const readStats = ({ stores, lookups, budget }: ToolContext, request: StatsRequest) =>
  computeStats(stores.calls, request, budget, lookups).answer();

export const getStats = runs(description, async (args, context) => {
  const { projectId, granularity, timezone, filter, where, groupBy, groupByFeedback, maxCharacters } = args;
  const { start, end } = toRange(args, context.now, usualSpan);
  const asksNothing = args.calls.length === 0 && args.usage.length === 0;
  const timed = granularity !== null;
  const seconds = granularity ?? wholeRange;
  if (bucketEdges(start, end, seconds, timezone).length - 1 > maxBuckets)
    throw invalidAt(['body', 'granularity'], `makes more than ${maxBuckets} buckets: write more seconds`);
  const answer = await readStats(context, {
    projectId,
    start,
    end,
    granularity: seconds,
    timezone,
    filter,
    where,
    groupBy,
    groupByFeedback,
    calls: asksNothing ? usualCalls : args.calls,
    usage: asksNothing ? usualUsage : args.usage,
  });
  const order = timed ? (rows: readonly BucketRow[]) => rows : largestFirst;
  const calls = order(answer.call_buckets);
  const usage = order(answer.usage_buckets);
  const range = shownRange({ start, end });
  const url = context.links.overview(projectId, range.start, range.end);
  return fitted(maxCharacters, Math.max(calls.length, usage.length), (count) => {
    const left = Math.max(0, calls.length - count) + Math.max(0, usage.length - count);
    const way = timed ? 'a shorter range or a larger granularity' : 'a filter, or ask for fewer metrics';
    return {
      ...(answer.call_buckets.length > 0 && { calls: toTable(calls, timed, count) }),
      ...(answer.usage_buckets.length > 0 && { usage: toTable(usage, timed, count) }),
      ...(calls.length + usage.length === 0 && { calls: { columns: [], rows: [] } }),
      range,
      url,
      ...(left > 0 && { missing: [`${left} rows: get_stats with ${way}, or with more max_characters`] }),
    };
  });
});
