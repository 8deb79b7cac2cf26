import { type CallsQuery, everyCall, type Includes, noIncludes } from '../../../api/queries.ts';
import { headerAttributes } from '../../../api/shared/header-fields.ts';
import { readTokens } from '../../../api/shared/usage.ts';
import type { GroupField, StatsRequest } from '../../../api/stats.ts';
import { compare, type SortKey, toPath } from '../../../foundations/expression/index.ts';
import { type ProjectId, serviceName } from '../../../foundations/wire/index.ts';
import { queryCalls } from '../../questions/query/index.ts';
import { type BucketRow, computeStats } from '../../questions/stats/index.ts';
import type { ToolContext } from './context.ts';
import { isFields, type Json, type JsonFields } from './reply.ts';
import { isOfFeedback, valueIn } from './values.ts';

/** A call as the queries answer it. */
export type Call = JsonFields;

/** What headers alone can say of a call, and what it used. */
export const headerColumns: readonly string[] = [
  'op_name',
  'display_name',
  'trace_id',
  'parent_id',
  'thread_id',
  'turn_id',
  'started_at',
  'ended_at',
  'summary.svc',
  'summary.usage',
  'svc_user_id',
  ...headerAttributes.map((name) => `attributes.${name}`),
];

export const withCosts: Includes = { ...noIncludes, costs: true };

export const newestFirst: SortKey[] = [{ path: toPath('started_at'), descending: true }];

/**
 * Reads the calls of a query. What it leaves out is as for an endpoint.
 *
 * @param take makes what is kept of each call, so that large values need not stay
 */
export const readCalls = async <T = Call>(
  { stores, budget, lookups }: ToolContext,
  query: Partial<CallsQuery> & { readonly projectId: ProjectId },
  take: (call: Call) => T = (call) => call as T,
): Promise<T[]> => {
  const includes = query.includes ?? withCosts;
  const whole: CallsQuery = {
    filter: everyCall,
    where: null,
    limit: null,
    offset: 0,
    sort: [],
    columns: null,
    expand: [],
    returnExpanded: false,
    ...query,
    includes: { ...includes, feedback: includes.feedback || query.columns?.some(isOfFeedback) === true },
  };
  const taken: T[] = [];
  for await (const batch of queryCalls(stores.calls, whole, budget, lookups).json())
    for (const json of batch) taken.push(take(JSON.parse(json) as Call));
  return taken;
};

/** One bucket of a century holds every range. */
export const wholeRange = 36_500 * 86_400;

/** The statistics of a request. */
export const readStats = ({ stores, lookups, budget }: ToolContext, request: StatsRequest) =>
  computeStats(stores.calls, request, budget, lookups).answer();

/** The groups that rollups count by. Others have the headers of calls read. */
const inRollups: readonly GroupField[] = ['op_name', 'user', 'status', 'source'];

/** More groups than this are not told apart. */
export const maxGroups = 1000;

/**
 * Counts the traces that have failed calls, for each row of an answer that has them read one by one anyway:
 * failed calls are listed by themselves.
 *
 * @returns nothing where it would take more than that, or would say the same as how many calls failed
 */
export const countFailedTraces = async (
  context: ToolContext,
  request: StatsRequest,
): Promise<((row: BucketRow) => number) | undefined> => {
  const { filter, where, groupBy, groupByFeedback } = request;
  const isRead = groupBy.some((field) => !inRollups.includes(field));
  if (!isRead || filter.traceRootsOnly || groupByFeedback) return undefined;
  if (groupBy.some((field) => !isHeaderGroup(field))) return undefined;
  const failed = compare(`summary.${serviceName}.status`, '$eq', 'error');
  const { call_buckets: rows } = await readStats(context, {
    ...request,
    where: where ? { kind: 'and', operands: [where, failed] } : failed,
    calls: [{ metric: 'trace_count', aggregations: ['sum'], percentiles: [] }],
    usage: [],
  });
  // Of more groups the rarest are told together, and which these are differs.
  if (rows.length >= maxGroups) return undefined;
  const names = ['timestamp', ...groupBy.map((field) => (field === 'user' ? 'svc_user_id' : field))];
  const keyOf = (row: BucketRow): string => JSON.stringify(names.map((name) => row[name] ?? null));
  const byGroup = new Map(rows.map((row) => [keyOf(row), Number(row.sum_trace_count)]));
  return (row) => byGroup.get(keyOf(row)) ?? 0;
};

/** Whether groups are told by headers alone. */
const isHeaderGroup = (field: GroupField): boolean =>
  inRollups.includes(field) ||
  ['agent', 'tool', 'thread_id', 'display_name'].includes(field) ||
  headerAttributes.some((name) => field === `attributes.${name}`);

export const toFields = (value: Json | undefined): JsonFields => (isFields(value) ? value : {});

/** What the service says of a call in its summary. */
export const getServiceSummary = (call: Call): JsonFields => toFields(toFields(call.summary).svc);

/** Tokens and costs in USD, if there are any. */
export interface Used {
  readonly input: number;
  readonly output: number;
  readonly cost: number | null;
  readonly models: readonly string[];
}

/** What a call used itself; null if it says nothing of it. */
export const usedBy = (call: Call): Used | null => {
  const usage = Object.entries(toFields(toFields(call.summary).usage));
  if (usage.length === 0) return null;
  const tokens = usage.map(([, modelUsage]) => readTokens(toFields(modelUsage)));
  const costs = Object.values(toFields(getServiceSummary(call).costs)).map(toFields);
  const toNumber = (value: Json | undefined): number => (typeof value === 'number' ? value : 0);
  return {
    input: tokens.reduce((sum, { prompt }) => sum + prompt, 0),
    output: tokens.reduce((sum, { completion }) => sum + completion, 0),
    cost:
      costs.length === 0
        ? null
        : costs.reduce(
            (sum, cost) =>
              sum + toNumber(cost.prompt_tokens_total_cost) + toNumber(cost.completion_tokens_total_cost),
            0,
          ),
    models: usage.map(([model]) => model),
  };
};

/** Sums up what calls used; null if none says anything. */
export const sumUsed = (all: readonly (Used | null)[]): Used | null => {
  const known = all.filter((used) => used !== null);
  if (known.length === 0) return null;
  const costs = known.flatMap(({ cost }) => cost ?? []);
  return {
    input: known.reduce((sum, { input }) => sum + input, 0),
    output: known.reduce((sum, { output }) => sum + output, 0),
    cost: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
    models: [...new Set(known.flatMap(({ models }) => models))],
  };
};

/** Six digits tell prices of tokens apart. Counts are exact: no digit before the point is lost. */
export const rounded = (value: number): number =>
  Math.abs(value) < 100_000 ? Number(value.toPrecision(6)) : Math.round(value);

export const usedFields = (used: Used | null): JsonFields => ({
  ...(used && { tokens_in: used.input, tokens_out: used.output }),
  ...(used?.cost != null && { cost_usd: rounded(used.cost) }),
});

/** Fields without those that say nothing. */
export const compact = (fields: JsonFields): JsonFields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));

/** What every row says of a call, in few characters. */
export const toRow = (call: Call): JsonFields => {
  const { status, latency_ms, waited_ms, waiting, trace_name } = getServiceSummary(call);
  const used = usedBy(call);
  const attributes = toFields(call.attributes);
  const preview = toFields(call.preview);
  return compact({
    id: call.id,
    op_name: call.op_name,
    name: trace_name === call.op_name ? undefined : trace_name,
    kind: attributes.kind,
    tool: valueIn(call, 'attributes.tool.name'),
    agent: valueIn(call, 'attributes.agent.name'),
    started_at: call.started_at,
    status,
    ms: latency_ms,
    waited_ms,
    waiting,
    models: used?.models.length ? used.models : undefined,
    ...usedFields(used),
    input: preview.input,
    output: preview.output,
  });
};

/** What the columns of rows say of a call, beside what they say of its whole trace. */
export const toColumns = (call: Call): JsonFields => {
  const { input, output, models, ...row } = toRow(call);
  return {
    ...row,
    models: Array.isArray(models) ? models.join(', ') : undefined,
    end_user: valueIn(call, 'attributes.user.id'),
    trace_id: call.trace_id,
    parent_id: call.parent_id,
    thread_id: call.thread_id,
    input_preview: input,
    output_preview: output,
  };
};

/** Rows as a table: names once, and values in their order. */
export const toTable = (
  rows: readonly JsonFields[],
  columns: readonly string[],
  count = rows.length,
): JsonFields => ({
  columns,
  rows: rows.slice(0, count).map((row) => columns.map((name) => row[name] ?? null)),
});

/** Those columns of which some row says something. */
export const saying = (columns: readonly string[], rows: readonly JsonFields[]): string[] =>
  columns.filter((name) => rows.some((row) => (row[name] ?? null) !== null));
