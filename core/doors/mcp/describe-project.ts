import { everyCall } from '../../../api/queries.ts';
import { headerAttributes, readSource } from '../../../api/shared/header-fields.ts';
import { describeProject as description } from '../../../api/tools.ts';
import { asString } from '../../../foundations/wire/index.ts';
import {
  type Call,
  compact,
  newestFirst,
  readCalls,
  readStats,
  rounded,
  toTable,
  wholeRange,
} from './calls.ts';
import { runs } from './context.ts';
import { countValues, type FieldSummary, sampleFeedback, summarizeFields } from './fields.ts';
import { whyEmpty } from './names.ts';
import { shownRange, toRange, usualRange, within } from './range.ts';
import { fitted, type Json, type JsonFields } from './reply.ts';
import { valueIn } from './values.ts';

/** How far a description without a start looks back: seven days. */
const usualSpan = 7 * 86_400e6;

/** How many of the newest calls are looked at for what no statistics have, and for their fields. */
const looked = { headers: 2000, fields: 60 } as const;

/** What is counted of the newest calls, and the paths that lead to it. Fields do not say it again. */
const countedPaths = {
  kinds: 'attributes.kind',
  tools: 'attributes.tool.name',
  agents: 'attributes.agent.name',
  prompts: 'attributes.prompt.name',
  sources: 'attributes.source',
  end_users: 'attributes.user.id',
  environments: 'attributes.environment',
  releases: 'attributes.release',
} as const;

/** How many values a list has at most. */
const maxValues = 30;

const toCounts = (counts: readonly (readonly [string, number])[], most: number): JsonFields | undefined =>
  counts.length === 0 ? undefined : Object.fromEntries(counts.slice(0, most));

/** The tool that a call is of. Tools that do not say their names go by their operation. */
const getTool = (call: Call): string | undefined =>
  asString(valueIn(call, countedPaths.tools)) ||
  (valueIn(call, 'attributes.kind') === 'tool' ? asString(call.op_name) : undefined);

/** How many examples a field has. */
const maxExamples = 3;

/** A field in a row: its path, its types, how many of the calls have it, and its commonest values. */
const toFieldRow = ([path, { count, types, values }]: readonly [string, FieldSummary]): JsonFields => ({
  path,
  types: types.join(' or '),
  count,
  distinct: values.length,
  examples: values.slice(0, maxExamples).map(([value]) => value),
});

/** Types of feedback, with the fields of their payloads as queries reach them. */
const toFeedbackRows = (types: Awaited<ReturnType<typeof sampleFeedback>>): JsonFields[] =>
  [...types].flatMap(([type, fields]) =>
    [...fields].map(([path, summary]) =>
      path === ''
        ? { path: `feedback.[${type}]`, types: 'feedback', count: summary.count }
        : toFieldRow([`feedback.[${type}].payload.${path}`, summary]),
    ),
  );

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
    groupByFeedback: null,
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
    readCalls(context, { ...newest, limit: looked.fields, columns: ['attributes', 'inputs', 'output'] }),
    sampleFeedback(context, projectId, range),
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
  const of = (name: string, depth: number) =>
    summarizeFields(
      attributed.map((call) => call[name]),
      name,
      depth,
    ).map(toFieldRow);
  const inCounts: ReadonlySet<unknown> = new Set(Object.values(countedPaths));
  const ofAttributes = of('attributes', 4).filter(({ path }) => !inCounts.has(path));
  const fields = [...toFeedbackRows(feedback), ...ofAttributes];
  const payloads = [...of('inputs', 2), ...of('output', 2)];
  const shown = shownRange(range);
  const notes = operations.length === 0 ? await whyEmpty(context, projectId, range) : [];
  const fieldColumns = ['path', 'types', 'count', 'distinct', 'examples'];
  return fitted(maxCharacters, maxValues, (most) => ({
    operations: toTable(operations.slice(0, most), ['op_name', 'calls', 'errors', 'p95_ms']),
    ...compact({ more_operations: operations.length > most ? operations.length - most : undefined }),
    models: toTable(usedModels.slice(0, most), ['model', 'requests', 'tokens', 'cost_usd']),
    of_newest_calls: compact({
      looked_at: calls.length,
      kinds: toCounts(countAt(countedPaths.kinds), most),
      tools: toCounts(countValues(calls.map(getTool)), most),
      agents: toCounts(countAt(countedPaths.agents), most),
      prompts: toCounts(countAt(countedPaths.prompts), most),
      sources: toCounts(
        countValues(calls.map((call) => readSource(valueIn(call, countedPaths.sources)) ?? 'production')),
        most,
      ),
      end_users: toCounts(countAt(countedPaths.end_users), most),
      environments: toCounts(countAt(countedPaths.environments), most),
      releases: toCounts(countAt(countedPaths.releases), most),
      threads: new Set(calls.flatMap(({ thread_id }) => asString(thread_id) ?? [])).size || undefined,
    }),
    paths: compact(countedPaths),
    fields_of: `examples of the newest ${attributed.length} calls, not all values`,
    fields: toTable([...fields.slice(0, most), ...payloads.slice(0, Math.floor(most / 2))], fieldColumns),
    ...(notes.length > 0 && { notes }),
    ...usualRange(args, range),
    url: context.links.overview(projectId, shown.start, shown.end),
    ...(Math.max(operations.length, fields.length, payloads.length * 2) > most && {
      missing: [
        'rarer values: describe_project with a shorter range or more max_characters; get_stats counts groups exactly',
      ],
    }),
  }));
});
