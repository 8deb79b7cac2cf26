import type { Asked, CallMetric, GroupField, StatsRequest, UsageMetric } from '../../../api/stats.ts';
import { getStats as description } from '../../../api/tools.ts';
import { bucketEdges, maxBuckets } from '../../../foundations/wire/buckets.ts';
import { invalidAt } from '../../../foundations/wire/index.ts';
import type { BucketRow } from '../../questions/stats/index.ts';
import { countFailedTraces, readStats, rounded, toTable, wholeRange } from './calls.ts';
import { runs, type ToolContext } from './context.ts';
import { sampleFeedback } from './fields.ts';
import { checkNames, meantPath, readable, unknownFeedback, withKnownOps } from './names.ts';
import { toRange, usualRange } from './range.ts';
import { fitted, type Json, type JsonFields } from './reply.ts';

/** How far statistics without a start look back: seven days. */
const usualSpan = 7 * 86_400e6;

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

const endUser = 'attributes.user.id';

/** Rows as a table. Tables of one range have no times. End users have the name that rows of calls give them. */
const tableOf = (rows: readonly BucketRow[], timed: boolean, count: number): JsonFields => {
  const columns = Object.keys(rows[0] ?? {}).filter((name) => timed || name !== 'timestamp');
  const plain = (value: Json): Json => (typeof value === 'number' ? rounded(value) : value);
  const nameOf = (column: string): string => (column === endUser ? 'end_user' : column);
  return toTable(
    rows.map((row) => Object.fromEntries(columns.map((name) => [nameOf(name), plain(row[name] as Json)]))),
    columns.map(nameOf),
    count,
  );
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

/** Says of fields that no call has a value of, so that one group of all calls is not taken for one. */
const emptyGroups = async (
  context: ToolContext,
  { projectId, start, end, groupBy }: Pick<StatsRequest, 'projectId' | 'start' | 'end' | 'groupBy'>,
  rows: readonly BucketRow[],
): Promise<string[]> => {
  if (rows.length === 0) return [];
  const empty = groupBy
    .map((field) => (field === 'user' ? 'svc_user_id' : field))
    .filter((field) => rows.every((row) => (row[field] ?? null) === null));
  return await Promise.all(
    empty.map(async (field) => {
      const meant = await meantPath(context, projectId, { start, end }, field);
      return `no call of these has a short value at ${field}${meant || ': describe_project has the fields'}`;
    }),
  );
};

/** Says what groups by the user of keys are, where there is but one: mostly end users were meant. */
const oneReporter = (groupBy: readonly GroupField[], rows: readonly BucketRow[]): string[] => {
  const users = new Set(rows.map(({ svc_user_id: user }) => user));
  return groupBy.includes('user') && users.size === 1
    ? [
        'svc_user_id is whose key reported the calls, the same for all of these; end users are group_by end_user',
      ]
    : [];
};

const hasErrors = (rows: readonly BucketRow[]): boolean =>
  rows.some(({ sum_error_count: errors }) => Number(errors ?? 0) > 0);

/** Says what else counts where that is easily taken for something else. */
const whatCounts = (
  { calls, filter, groupBy }: Pick<StatsRequest, 'calls' | 'filter' | 'groupBy'>,
  rows: readonly BucketRow[],
): string[] => {
  const notes: string[] = [];
  const tellsApart = groupBy.some((field) =>
    ['op_name', 'tool', 'display_name', 'exception'].includes(field),
  );
  const isCounted = rows.some((row) => 'failed_traces' in row);
  if (hasErrors(rows) && !filter.traceRootsOnly && !tellsApart && !isCounted)
    notes.push(
      'error_count counts each failed call: a failed tool mostly fails the calls above it, too. filter {"trace_roots_only": true} counts traces that failed',
    );
  if (filter.traceRootsOnly && calls.some(({ metric }) => metric === 'waited_ms'))
    notes.push(
      'waited_ms is what a call waited itself, and calls below the root mostly wait: ask without trace_roots_only',
    );
  return notes;
};

/** Says of a score that no call has, so that one group of all calls is not taken for one. */
const emptyFeedback = async (
  context: ToolContext,
  { projectId, start, groupByFeedback: by }: Pick<StatsRequest, 'projectId' | 'start' | 'groupByFeedback'>,
  rows: readonly BucketRow[],
): Promise<string[]> => {
  if (!by || rows.length === 0 || rows.some(({ feedback }) => (feedback ?? null) !== null)) return [];
  const types = await sampleFeedback(context, projectId, { start, end: null });
  return [unknownFeedback(types, by.feedbackType, by.path) ?? 'no call of these has feedback of that type'];
};

export const getStats = runs(description, async (args, context) => {
  const { projectId, granularity, timezone, where, groupBy, groupByFeedback, limit, maxCharacters } = args;
  const { start, end } = toRange(args, context.now, usualSpan);
  const filter = await withKnownOps(context, projectId, args.filter, { start, end });
  const asksNothing = args.calls.length === 0 && args.usage.length === 0;
  const timed = granularity !== null;
  const seconds = granularity ?? wholeRange;
  if (bucketEdges(start, end, seconds, timezone).length - 1 > maxBuckets)
    throw invalidAt(['body', 'granularity'], `makes more than ${maxBuckets} buckets: write more seconds`);
  const request: StatsRequest = {
    projectId,
    start,
    end,
    granularity: seconds,
    timezone,
    filter,
    where: where && readable(where),
    groupBy,
    groupByFeedback,
    calls: asksNothing ? usualCalls : args.calls,
    usage: asksNothing ? usualUsage : args.usage,
  };
  const answer = await readStats(context, request);
  const order = timed ? (rows: readonly BucketRow[]) => rows : largestFirst;
  const counted = hasErrors(answer.call_buckets) ? await countFailedTraces(context, request) : undefined;
  const calls = order(answer.call_buckets).map((row) =>
    counted ? withFailedTraces(row, counted(row)) : row,
  );
  const usage = order(answer.usage_buckets);
  const isEmpty = calls.length + usage.length === 0;
  const rows = [...calls, ...usage];
  const notes = [
    ...(await checkNames(context, { projectId, filter, where, range: { start, end } }, isEmpty)),
    ...(await emptyGroups(context, { projectId, start, end, groupBy }, rows)),
    ...(await emptyFeedback(context, { projectId, start, groupByFeedback }, rows)),
    ...oneReporter(groupBy, rows),
    ...whatCounts(request, calls),
  ];
  const most = Math.min(limit, Math.max(calls.length, usage.length));
  return fitted(maxCharacters, most, (count) => {
    const left = Math.max(0, calls.length - count) + Math.max(0, usage.length - count);
    const room = count === limit ? 'a larger limit' : 'more max_characters';
    const way = timed ? 'a shorter range or a larger granularity' : 'a filter';
    return {
      ...(answer.price && { price: answer.price }),
      ...(answer.call_buckets.length > 0 && { calls: tableOf(calls, timed, count) }),
      ...(answer.usage_buckets.length > 0 && { usage: tableOf(usage, timed, count) }),
      ...(isEmpty && { calls: { columns: [], rows: [] } }),
      ...(notes.length > 0 && { notes }),
      ...usualRange(args, { start, end }),
      ...(left > 0 && { missing: [`${left} rows: get_stats with ${room}, or ${way}`] }),
    };
  });
});

/** A row that says how many traces its failed calls are of, after how many these are. */
const withFailedTraces = (row: BucketRow, traces: number): BucketRow =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) =>
      name === 'sum_error_count'
        ? [
            [name, value],
            ['failed_traces', traces],
          ]
        : [[name, value]],
    ),
  ) as BucketRow;
