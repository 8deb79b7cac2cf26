import type { FeedbackQuery } from '../../../api/feedback.ts';
import { everyCall } from '../../../api/queries.ts';
import { headerAttributes, readSource } from '../../../api/shared/header-fields.ts';
import { describeProject as description } from '../../../api/tools.ts';
import { isDuring, toPath } from '../../../foundations/expression/index.ts';
import { asString, type Micros, type ProjectId } from '../../../foundations/wire/index.ts';
import { queryFeedback } from '../../records/feedback/index.ts';
import { type Call, compact, newestFirst, readCalls, rounded } from './calls.ts';
import { runs, type ToolContext } from './context.ts';
import { readStats, wholeRange } from './get-stats.ts';
import { shownRange, toRange, within } from './range.ts';
import { fitted, isFields, type Json, type JsonFields } from './reply.ts';
import { valueIn } from './values.ts';

/** How far a description without a start looks back: seven days. */
const usualSpan = 7 * 86_400e6;

/** How many of the newest calls are looked at for what no statistics have, and for attributes. */
const looked = { headers: 2000, attributes: 100, feedback: 1000 } as const;

/** How many values a list has at most, and how long each may be. */
const maxValues = 30;
const maxText = 80;

const shortened = (text: string): string => (text.length > maxText ? `${text.slice(0, maxText)}…` : text);

/** Counts of values, the commonest first. */
const countValues = (values: readonly (string | undefined)[]): readonly (readonly [string, number])[] =>
  [
    ...Map.groupBy(
      values.filter((value) => value !== undefined),
      (value) => value,
    ),
  ]
    .map(([value, all]) => [shortened(value), all.length] as const)
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));

const toTable = (counts: readonly (readonly [string, number])[], most: number): JsonFields | undefined =>
  counts.length === 0 ? undefined : Object.fromEntries(counts.slice(0, most));

/** Every path to a plain value below attributes, with the value as text. */
const collectLeaves = (value: Json | undefined, path: string, depth: number): [string, string][] => {
  if (value === undefined || value === null || depth < 0) return [];
  if (Array.isArray(value)) return value.slice(0, 20).flatMap((item) => collectLeaves(item, path, depth - 1));
  if (isFields(value))
    return Object.entries(value)
      .slice(0, 100)
      .flatMap(([name, child]) => collectLeaves(child, `${path}.${name}`, depth - 1));
  return [[path, String(value)]];
};

/** What the newest calls say of their attributes: each field with its commonest values. */
const summarizeAttributes = (calls: readonly Call[]): readonly (readonly [string, JsonFields])[] => {
  const leaves = calls.flatMap(({ attributes }) => collectLeaves(attributes, 'attributes', 4));
  return [...Map.groupBy(leaves, ([path]) => path)]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([path, all]) => {
      const counts = countValues(all.map(([, value]) => value));
      return [path, { calls: all.length, values: toTable(counts, 5), distinct: counts.length }] as const;
    });
};

/** The tool that a call is of. Tools that do not say their names go by their operation. */
const getTool = (call: Call): string | undefined =>
  asString(valueIn(call, 'attributes.tool.name')) ||
  (valueIn(call, 'attributes.kind') === 'tool' ? asString(call.op_name) : undefined);

const feedbackTypes = async (
  { stores, budget }: ToolContext,
  projectId: ProjectId,
  { start, end }: { readonly start: Micros; readonly end: Micros },
) => {
  const query: FeedbackQuery = {
    projectId,
    offset: 0,
    limit: looked.feedback,
    fields: ['feedback_type'],
    where: { kind: 'and', operands: isDuring('created_at', start, end) },
    sort: [{ path: toPath('created_at'), descending: true }],
  };
  const batches = await Array.fromAsync(queryFeedback(stores.feedback, query, budget).records);
  return countValues(batches.flat().map((json) => asString((JSON.parse(json) as JsonFields).feedback_type)));
};

export const describeProject = runs(description, async (args, context) => {
  const { projectId, maxCharacters } = args;
  const range = toRange(args, context.now, usualSpan);
  const where = within(range, null);
  const counted = {
    projectId,
    ...range,
    granularity: wholeRange,
    timezone: 'UTC',
    filter: everyCall,
    where: null,
    groupBy: ['op_name' as const],
  };
  const newest = { projectId, where, sort: newestFirst };
  const headers = headerAttributes.map((name) => `attributes.${name}`);
  const [ops, models, calls, attributed, feedback] = await Promise.all([
    readStats(context, {
      ...counted,
      calls: [
        { metric: 'call_count', aggregations: ['sum'], percentiles: [] },
        { metric: 'error_count', aggregations: ['sum'], percentiles: [] },
        { metric: 'latency_ms', aggregations: [], percentiles: [95] },
      ],
      usage: [],
    }),
    readStats(context, {
      ...counted,
      groupBy: [],
      calls: [],
      usage: [
        { metric: 'total_tokens', aggregations: ['sum', 'count'], percentiles: [] },
        { metric: 'total_cost', aggregations: ['sum'], percentiles: [] },
      ],
    }),
    readCalls(context, { ...newest, limit: looked.headers, columns: [...headers, 'thread_id'] }),
    readCalls(context, { ...newest, limit: looked.attributes, columns: ['attributes'] }),
    feedbackTypes(context, projectId, range),
  ]);
  const operations = ops.call_buckets
    .toSorted((a, b) => Number(b.sum_call_count) - Number(a.sum_call_count))
    .map((row) =>
      compact({
        op_name: asString(row.op_name as Json),
        calls: Number(row.sum_call_count),
        errors: Number(row.sum_error_count) || undefined,
        p95_ms: typeof row.p95_latency_ms === 'number' ? rounded(row.p95_latency_ms) : undefined,
      }),
    );
  const usedModels = models.usage_buckets
    .toSorted((a, b) => Number(b.sum_total_tokens) - Number(a.sum_total_tokens))
    .map((row) =>
      compact({
        model: asString(row.model as Json),
        requests: Number(row.count_total_tokens),
        tokens: Number(row.sum_total_tokens),
        cost_usd: typeof row.sum_total_cost === 'number' ? rounded(row.sum_total_cost) : undefined,
      }),
    );
  const countAt = (path: string) => countValues(calls.map((call) => asString(valueIn(call, path))));
  const attributes = summarizeAttributes(attributed);
  const shown = shownRange(range);
  return fitted(maxCharacters, maxValues, (most) => ({
    operations: operations.slice(0, most),
    ...compact({ more_operations: operations.length > most ? operations.length - most : undefined }),
    models: usedModels.slice(0, most),
    of_newest_calls: compact({
      looked_at: calls.length,
      kinds: toTable(countAt('attributes.kind'), most),
      tools: toTable(countValues(calls.map(getTool)), most),
      agents: toTable(countAt('attributes.agent.name'), most),
      prompts: toTable(countAt('attributes.prompt.name'), most),
      sources: toTable(
        countValues(calls.map((call) => readSource(valueIn(call, 'attributes.source')) ?? 'production')),
        most,
      ),
      end_users: toTable(countAt('attributes.user.id'), most),
      environments: toTable(countAt('attributes.environment'), most),
      releases: toTable(countAt('attributes.release'), most),
      threads: new Set(calls.flatMap(({ thread_id }) => asString(thread_id) ?? [])).size || undefined,
    }),
    attributes: Object.fromEntries(attributes.slice(0, most)),
    ...compact({ feedback_types: toTable(feedback, most) }),
    range: shown,
    url: context.links.overview(projectId, shown.start, shown.end),
    ...(Math.max(operations.length, attributes.length) > most && {
      missing: [
        'rarer values: describe_project with a shorter range or more max_characters; get_stats counts groups exactly',
      ],
    }),
  }));
});
