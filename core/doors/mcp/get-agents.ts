import type { Asked, CallMetric, StatsRequest, UsageMetric } from '../../../api/stats.ts';
import { getAgents as description } from '../../../api/tools.ts';
import type { TraceAgents } from '../../../api/traces.ts';
import type { BucketRow } from '../../questions/stats/index.ts';
import { readTraceAgents } from '../../questions/traces/index.ts';
import { countFailedTraces, readStats, rounded, saying, toTable, wholeRange } from './calls.ts';
import { runs, type ToolContext } from './context.ts';
import { checkNames, readable, withKnownOps } from './names.ts';
import { type Range, toRange, usualRange } from './range.ts';
import { fitted, type JsonFields } from './reply.ts';

/** How far figures without a start look back: seven days. */
const usualSpan = 7 * 86_400e6;

const sum = <M extends CallMetric | UsageMetric>(metric: M): Asked<M> => ({
  metric,
  aggregations: ['sum'],
  percentiles: [],
});

const callMetrics: Asked<CallMetric>[] = [
  sum('call_count'),
  sum('error_count'),
  sum('trace_count'),
  sum('waited_ms'),
  { metric: 'latency_ms', aggregations: ['sum'], percentiles: [50, 95] },
];

const usageMetrics: Asked<UsageMetric>[] = [
  { metric: 'input_tokens', aggregations: ['sum', 'count'], percentiles: [] },
  sum('cache_read_input_tokens'),
  sum('cache_creation_input_tokens'),
  sum('output_tokens'),
  sum('reasoning_tokens'),
  sum('total_cost'),
];

type Figures = Record<string, number>;

/** Figures by name, added up. */
const add = (all: Map<string | null, Figures>, name: string | null, figures: Figures): void => {
  const own = all.get(name) ?? {};
  all.set(name, own);
  for (const [figure, value] of Object.entries(figures)) own[figure] = (own[figure] ?? 0) + value;
};

/** Rows with the dearest or commonest first. Figures that are 0 for all say nothing. */
const toRows = (all: ReadonlyMap<string | null, Figures>, name: 'agent' | 'tool', by: string): JsonFields[] =>
  [...all]
    .sort(([, a], [, b]) => (b[by] ?? 0) - (a[by] ?? 0) || (b.calls ?? 0) - (a.calls ?? 0))
    .map(([value, figures]) => ({
      [name]: value ?? '(none)',
      ...Object.fromEntries(
        Object.entries(figures).map(([figure, count]) => [figure, count === 0 ? null : rounded(count)]),
      ),
    }));

const number = (row: BucketRow, name: string): number => Number(row[name] ?? 0);

const ofCalls = (row: BucketRow, failedTraces: (row: BucketRow) => number = () => 0): Figures => ({
  calls: number(row, 'sum_call_count'),
  traces: number(row, 'sum_trace_count'),
  errors: number(row, 'sum_error_count'),
  failed_traces: failedTraces(row),
  p50_ms: number(row, 'p50_latency_ms'),
  p95_ms: number(row, 'p95_latency_ms'),
  total_ms: number(row, 'sum_latency_ms'),
  waited_ms: number(row, 'sum_waited_ms'),
});

const ofUsage = (row: BucketRow): Figures => ({
  requests: number(row, 'count_input_tokens'),
  tokens_in: number(row, 'sum_input_tokens'),
  cache_read: number(row, 'sum_cache_read_input_tokens'),
  cache_written: number(row, 'sum_cache_creation_input_tokens'),
  tokens_out: number(row, 'sum_output_tokens'),
  reasoning: number(row, 'sum_reasoning_tokens'),
  cost_usd: number(row, 'sum_total_cost'),
});

const agentColumns = [
  'agent',
  'traces',
  'calls',
  'requests',
  'tool_calls',
  'errors',
  'failed_traces',
  'tokens_in',
  'cache_read',
  'cache_written',
  'tokens_out',
  'reasoning',
  'cost_usd',
  'own_ms',
  'p50_ms',
  'p95_ms',
  'waited_ms',
  'called_by',
];
const toolColumns = [
  'tool',
  'traces',
  'calls',
  'errors',
  'failed_traces',
  'total_ms',
  'p50_ms',
  'p95_ms',
  'waited_ms',
];

/** Agents and tools of a range, out of statistics. */
const ofRange = async (
  context: ToolContext,
  request: Pick<StatsRequest, 'projectId' | 'start' | 'end' | 'filter' | 'where'>,
): Promise<readonly [agents: JsonFields[], tools: JsonFields[]]> => {
  const common = { ...request, granularity: wholeRange, timezone: 'UTC', groupByFeedback: null };
  const [byAgent, byTool] = await Promise.all([
    readStats(context, { ...common, groupBy: ['agent'], calls: callMetrics, usage: usageMetrics }),
    readStats(context, { ...common, groupBy: ['tool'], calls: callMetrics, usage: [] }),
  ]);
  const counted = async (field: 'agent' | 'tool', rows: readonly BucketRow[]) =>
    rows.some((row) => number(row, 'sum_error_count') > 0)
      ? await countFailedTraces(context, { ...common, groupBy: [field], calls: [], usage: [] })
      : undefined;
  const [failedOfAgent, failedOfTool] = await Promise.all([
    counted('agent', byAgent.call_buckets),
    counted('tool', byTool.call_buckets),
  ]);
  const agents = new Map<string | null, Figures>();
  const tools = new Map<string | null, Figures>();
  const nameOf = (row: BucketRow, field: 'agent' | 'tool') => (row[field] as string | null) ?? null;
  for (const row of byAgent.call_buckets) add(agents, nameOf(row, 'agent'), ofCalls(row, failedOfAgent));
  for (const row of byAgent.usage_buckets) add(agents, nameOf(row, 'agent'), ofUsage(row));
  for (const row of byTool.call_buckets) add(tools, nameOf(row, 'tool'), ofCalls(row, failedOfTool));
  return [toRows(agents, 'agent', 'cost_usd'), toRows(tools, 'tool', 'errors')];
};

const ofAgent = (agent: TraceAgents['agents'][number]): Figures => ({
  traces: 1,
  calls: agent.calls,
  requests: agent.model_requests,
  tool_calls: agent.tool_calls,
  errors: agent.errors,
  failed_traces: Math.min(1, agent.errors),
  tokens_in: agent.usage.input_tokens,
  cache_read: agent.usage.cache_read_tokens,
  cache_written: agent.usage.cache_write_tokens,
  tokens_out: agent.usage.output_tokens,
  reasoning: agent.usage.reasoning_tokens,
  cost_usd: agent.cost_usd ?? 0,
  own_ms: agent.own_ms,
  waited_ms: agent.waited_ms,
});

/** Agents and tools of traces, and who called each. */
const ofTraces = (traces: readonly TraceAgents[]): readonly [agents: JsonFields[], tools: JsonFields[]] => {
  const agents = new Map<string | null, Figures>();
  const tools = new Map<string | null, Figures>();
  const callers = new Map<string | null, Figures>();
  for (const trace of traces) {
    for (const agent of trace.agents) {
      add(agents, agent.name, ofAgent(agent));
      for (const { name, count } of agent.called_by) add(callers, agent.name, { [name ?? '(none)']: count });
    }
    for (const { name, ...figures } of trace.tools)
      add(tools, name, { traces: 1, failed_traces: Math.min(1, figures.errors), ...figures });
  }
  const calledBy = (agent: unknown): string | null => {
    const counts = Object.entries(callers.get(agent === '(none)' ? null : (agent as string)) ?? {});
    return counts.length === 0 ? null : counts.map(([name, count]) => `${name} ${count}×`).join(', ');
  };
  return [
    toRows(agents, 'agent', 'cost_usd').map((row) => ({ ...row, called_by: calledBy(row.agent) })),
    toRows(tools, 'tool', 'errors'),
  ];
};

export const getAgents = runs(description, async (args, context) => {
  const { projectId, traceIds, maxCharacters } = args;
  const { stores, budget, lookups } = context;
  const range: Range = traceIds === null ? toRange(args, context.now, usualSpan) : { start: null, end: null };
  const { start, end } = range;
  let notes: string[] = [];
  let rows: readonly [agents: JsonFields[], tools: JsonFields[]];
  if (traceIds === null && start !== null && end !== null) {
    const filter = await withKnownOps(context, projectId, args.filter, range);
    const where = args.where && readable(args.where);
    rows = await ofRange(context, { projectId, start, end, filter, where });
    const isEmpty = rows.every((table) => table.length === 0);
    notes = await checkNames(context, { projectId, filter, where: args.where, range }, isEmpty);
  } else {
    const asked = [...new Set(traceIds)];
    const found = await readTraceAgents(stores.calls, projectId, asked, budget, lookups);
    const unknown = asked.filter((id) => !found.some(({ trace_id }) => trace_id === id));
    if (unknown.length > 0)
      notes = [`there are no traces ${unknown.slice(0, 5).join(', ')}; query_calls finds traces`];
    rows = ofTraces(found);
  }
  const [agents, tools] = rows;
  const most = Math.max(agents.length, tools.length);
  return fitted(maxCharacters, most, (count) => ({
    agents: toTable(agents, saying(agentColumns, agents), count),
    tools: toTable(tools, saying(toolColumns, tools), count),
    ...usualRange(args, { start, end }),
    ...(notes.length > 0 && { notes }),
    ...(most > count && {
      missing: [`${most - count} rows: get_agents with more max_characters, or get_stats`],
    }),
  }));
});
