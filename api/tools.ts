import * as z from 'zod/mini';
import { optionalQuery, type RecordKind, sortSchema } from '../foundations/expression/index.ts';
import { isId, parseTime } from '../foundations/wire/index.ts';
import {
  displayText,
  documented,
  field,
  freeValue,
  id,
  integerWith,
  listSchema,
  nullish,
  projectId as project,
  record,
  rule,
  withDefault,
} from '../foundations/wire/schema.ts';
import { everyIssue, issuesFilter, issuesSort, wantedStates } from './issues.ts';
import { alias, objectId } from './objects.ts';
import { promptContent, saysOneThing } from './prompts.ts';
import { callKind, filter, type Includes, noIncludes, pathsOf } from './queries.ts';
import {
  aggregations,
  callMetricsField,
  granularity,
  groupBy,
  groupByFeedback,
  statsCallMetrics,
  timezoneField,
  usageMetrics,
  usageMetricsField,
} from './stats.ts';

/*
 * The tools of `POST /mcp`: what each takes and gives, and what a model is told of it. Names and
 * parameters are those of the endpoints.
 */

/** The least, the usual and the most characters of a reply. */
export const characters = { least: 1000, usual: 20_000, most: 100_000 } as const;

const span = /^(?:now)?-(\d{1,5})([mhdw])$/;
const microsByUnit = { m: 60e6, h: 3600e6, d: 86_400e6, w: 604_800e6 } as const;

const isSpan = (text: string): boolean => text === 'now' || span.test(text);

/** A time that is so long ago, `-90m`, `-2h`, `-7d` or `-4w`, `now`, or a time in ISO 8601. */
const toolTime = z
  .pipe(
    z
      .string()
      .check(
        z.refine(
          (text) => isSpan(text) || parseTime(text) !== undefined,
          rule('should be a time ago such as -30m, -2h or -7d, or ISO 8601', 'datetime_parsing'),
        ),
      ),
    z.transform((text): number => {
      const [, amount, unit] = span.exec(text === 'now' ? '-0m' : text) ?? [];
      if (amount === undefined) return parseTime(text) ?? 0;
      const ago = Number(amount) * microsByUnit[unit as keyof typeof microsByUnit];
      return Math.max(Number.MIN_SAFE_INTEGER, Date.now() * 1000 - ago);
    }),
  )
  .register(documented, { keywords: { type: 'string' } });

const start = field(nullish(toolTime), '`-2h`, `-7d` or ISO 8601');
const end = nullish(toolTime);

// The instructions say what these are, once for all tools.
const maxCharacters = withDefault(
  integerWith(z.minimum(characters.least), z.maximum(characters.most)),
  characters.usual,
);
const cursor = nullish(z.string());
const limit = (usual: number, most: number) => withDefault(integerWith(z.minimum(1), z.maximum(most)), usual);

const everyField: Includes = { ...noIncludes, costs: true, feedback: true };

/** Calls with their feedback among their fields. */
const kindWithFeedback = (): RecordKind => {
  const kind = callKind(everyField);
  return {
    ...kind,
    name: 'ReadCall',
    pathRule: (path) => (path.field === 'feedback' ? undefined : kind.pathRule?.(path)),
  };
};

const columns = field(
  nullish(pathsOf(kindWithFeedback())),
  'Such as `inputs.messages`, `output`, `summary.usage`, `feedback`.',
);

/** What rows say of a call, each a column. Dotted paths into calls are columns as well. */
export const rowColumns = [
  'id',
  'started_at',
  'op_name',
  'name',
  'kind',
  'tool',
  'agent',
  'status',
  'ms',
  'waited_ms',
  'waiting',
  'models',
  'tokens_in',
  'tokens_out',
  'cost_usd',
  'trace_errors',
  'trace_tokens_in',
  'trace_tokens_out',
  'trace_cost_usd',
  'end_user',
  'trace_id',
  'parent_id',
  'thread_id',
  'input_preview',
  'output_preview',
] as const;

/** Whether a column is one of rows, rather than a path into calls. */
export const isOfRows = (column: string): column is (typeof rowColumns)[number] =>
  (rowColumns as readonly string[]).includes(column);

/** Calls with the columns of rows among their fields. */
const rowKind = (): RecordKind => {
  const kind = kindWithFeedback();
  return { ...kind, name: 'Row', fields: [...new Set([...kind.fields, ...rowColumns])] };
};

const queryField = (includes: Includes, description: string) =>
  field(optionalQuery(callKind(includes)), description);

const filterLike = () => field(filter(), 'As in query_calls.');
const queryLike = () => queryField(noIncludes, 'As in query_calls.');

/** Queries of `query_calls` may use what traces add up to, too. */
const withTotals: Includes = { ...noIncludes, traceTotals: true };

/** What is known of a tool before it runs. */
export interface ToolDescription<Args = unknown> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The role that the key needs on each project that the arguments name. */
  readonly role: 'read' | 'write';
  readonly request: () => z.ZodMiniType<Args>;
  /** The names of what its replies have of their own. The instructions tell of what all may have. */
  readonly gives: readonly string[];
}

const tool = <Args>(described: ToolDescription<Args>): ToolDescription<Args> => described;

export const listProjects = /* @__PURE__ */ tool({
  name: 'list_projects',
  title: 'List projects',
  description:
    'Projects that this key may read, with their last activity. Start here to learn the project_id.',
  role: 'read',
  request: () => record({ limit: limit(20, 50), cursor, max_characters: maxCharacters }),
  gives: ['projects'],
});

export const describeProject = /* @__PURE__ */ tool({
  name: 'describe_project',
  title: 'Describe a project',
  description:
    'What a project has within a range (7 days): operations, models, tools, agents, prompts, end users, environments, releases, feedback types, each with counts, and fields with types and examples. Ask this before you write a query.',
  role: 'read',
  request: () => record({ project_id: project, start, end, max_characters: maxCharacters }),
  gives: ['operations'],
});

export const queryCalls = /* @__PURE__ */ tool({
  name: 'query_calls',
  title: 'Query calls',
  description:
    'Finds calls within a range (7 days), newest first, as a table: status, ms, tokens, cost, previews; of roots also figures of their whole trace. Failed traces: {"filter": {"trace_roots_only": true}, "query": {"$expr": {"$in": [{"$getField": "summary.svc.status"}, [{"$literal": "error"}, {"$literal": "descendant_error"}]]}}}. Calls of a tool: {"$expr": {"$eq": [{"$getField": "attributes.tool.name"}, {"$literal": "lookup_order"}]}}. By feedback or an evaluator\'s verdict: {"$getField": "feedback.[thumbs].payload.up"}, {"$getField": "feedback.[evaluation.correct].payload.value"} (the latest of that type). For a text use search_text.',
  role: 'read',
  request: () =>
    record(
      {
        project_id: project,
        filter: field(
          filter(),
          'Lists `op_names` (with or without version), `trace_ids`, `call_ids`, `parent_ids`, `thread_ids`, `turn_ids`, `svc_user_ids`, `svc_run_ids`, `input_refs`, `output_refs`, `sources` (production, evaluation, judge, trial, playground, test), `end_users`; `trace_roots_only`: true.',
        ),
        query: queryField(
          withTotals,
          '{"$expr": {"$gt": [{"$getField": "summary.svc.latency_ms"}, {"$literal": 5000}]}}. Operators $and, $or, $not, $eq, $ne, $gt, $gte, $lt, $lte, $in, $contains ({"input", "substr", "case_insensitive"}), $convert ({"input", "to"}).',
        ),
        sort_by: field(
          withDefault(sortSchema(callKind(withTotals)), []),
          'Such as `summary.svc.latency_ms`, of roots `summary.svc.trace_totals.total_cost`.',
        ),
        columns: field(
          nullish(pathsOf(rowKind())),
          'These alone: `id`, `op_name`, `status`, `ms`, `tokens_in`, `cost_usd`, `trace_cost_usd`, `end_user`, `trace_id`, `input_preview`, … or paths such as `output`, `feedback.[thumbs].payload.up`.',
        ),
        start,
        end,
        limit: limit(50, 1000),
        cursor,
        max_characters: maxCharacters,
      },
      { query: 'where', sort_by: 'sort' },
    ),
  gives: ['calls'],
});

const hasAny =
  (...names: readonly string[]) =>
  (fields: Readonly<Record<string, unknown>>): boolean =>
    names.some((name) => fields[name] !== undefined && fields[name] !== null);

export const getTrace = /* @__PURE__ */ tool({
  name: 'get_trace',
  title: 'Get a trace',
  description:
    'The tree of a trace, as a table with previews, times, tokens, costs and errors; with outline one short line a call. What failed and what is near the root comes first, the rest with cursor. call_id: only the subtree below. columns or call_ids: calls in full.',
  role: 'read',
  request: () =>
    record(
      {
        project_id: project,
        trace_id: nullish(id),
        call_id: nullish(id),
        call_ids: nullish(listSchema(id, 200)),
        outline: withDefault(z.boolean(), false),
        columns,
        cursor,
        max_characters: maxCharacters,
      },
      {},
      undefined,
      z.refine(
        hasAny('trace_id', 'call_id', 'call_ids'),
        rule('should have trace_id, call_id or call_ids', 'missing'),
      ),
    ),
  gives: ['calls', 'outline'],
});

export const getCall = /* @__PURE__ */ tool({
  name: 'get_call',
  title: 'Get a call',
  description:
    'One call with inputs, output, exception, usage, costs and feedback, or with columns. With path one value in it, such as "inputs.messages.3.content": a text or a list from offset on.',
  role: 'read',
  request: () =>
    record(
      {
        project_id: project,
        call_id: id,
        columns,
        path: nullish(z.string()),
        offset: withDefault(integerWith(z.minimum(0)), 0),
        max_characters: maxCharacters,
      },
      {},
      undefined,
      z.refine(
        (fields) => hasAny('path')(fields) || !fields.offset,
        rule('offset goes with path: it counts the characters or items of that value'),
      ),
    ),
  gives: ['call'],
});

export const getThread = /* @__PURE__ */ tool({
  name: 'get_thread',
  title: 'Get a thread',
  description:
    'A conversation, turn by turn: what was asked and answered, with times, tokens, costs and errors. The last turns first; next_cursor leads to earlier ones.',
  role: 'read',
  request: () =>
    record({
      project_id: project,
      thread_id: id,
      limit: limit(50, 200),
      cursor,
      max_characters: maxCharacters,
    }),
  gives: ['turns'],
});

const buckets = field(nullish(granularity), 'Seconds of a bucket.');

export const getStats = /* @__PURE__ */ tool({
  name: 'get_stats',
  title: 'Get statistics',
  description:
    'Counts, errors, durations, tokens and costs over a range (7 days), as tables: calls, and usage by model. One row a group, or with granularity one a bucket. How often each tool failed: {"group_by": ["tool"], "call_metrics": [{"metric": "error_count"}]}. Dearest threads: {"group_by": ["thread_id"], "usage_metrics": [{"metric": "total_cost"}]}.',
  role: 'read',
  request: () =>
    record(
      {
        project_id: project,
        start,
        end,
        granularity: buckets,
        timezone: field(timezoneField, 'IANA.'),
        filter: filterLike(),
        query: queryLike(),
        call_metrics: field(
          callMetricsField(),
          `[{"metric": ${statsCallMetrics.join('|')}, "aggregations": [${aggregations.join('|')}], "percentiles": [95]}]`,
        ),
        usage_metrics: field(usageMetricsField(), `Likewise ${usageMetrics.join(', ')}.`),
        group_by: field(
          groupBy(),
          'At most two: `agent` (the nearest), `tool`, `op_name`, `svc_user_id`, `status`, `thread_id`, `source`, `end_user`, `attributes.release`, `attributes.prompt.version`, or any path, such as `exception` (`price` says what that read).',
        ),
        group_by_feedback: field(
          groupByFeedback(),
          'The latest feedback of a type, at a path of its payload.',
        ),
        limit: field(limit(200, 10_000), 'The largest first.'),
        max_characters: maxCharacters,
      },
      { query: 'where', call_metrics: 'calls', usage_metrics: 'usage' },
    ),
  gives: ['calls', 'usage'],
});

/** Where a text is looked for. */
export const searched = ['inputs', 'output', 'exception', 'attributes'] as const;

export const searchText = /* @__PURE__ */ tool({
  name: 'search_text',
  title: 'Search for a text',
  description:
    'Calls that have a text in inputs, output, exception or attributes within a range (7 days), newest first: the place, and the sentence around each hit. What calls of one conversation repeat is shown once.',
  role: 'read',
  request: () =>
    record(
      {
        project_id: project,
        text: z.string().check(z.minLength(1), z.maxLength(1000)),
        in: field(nullish(z.array(z.enum(searched)).check(z.minLength(1))), 'All of them without it.'),
        case_sensitive: withDefault(z.boolean(), false),
        filter: filterLike(),
        query: queryLike(),
        start,
        end,
        limit: limit(20, 200),
        cursor,
        max_characters: maxCharacters,
      },
      { in: 'fields', query: 'where' },
    ),
  gives: ['hits'],
});

export const getAgents = /* @__PURE__ */ tool({
  name: 'get_agents',
  title: 'Figures by agent and by tool',
  description:
    'Agents and tools of traces, or of a range (7 days): calls, errors, durations, tokens, cost, waits for people; of traces also who called whom. The agent of a call is the nearest at or above it.',
  role: 'read',
  request: () =>
    record(
      {
        project_id: project,
        trace_ids: nullish(listSchema(id, 100, { least: 1 })),
        start,
        end,
        filter: filterLike(),
        query: queryLike(),
        max_characters: maxCharacters,
      },
      { query: 'where' },
    ),
  gives: ['agents', 'tools'],
});

export const findIssues = /* @__PURE__ */ tool({
  name: 'find_issues',
  title: 'Find issues',
  description:
    'What went wrong in production within a range (7 days), grouped by cause, the commonest first: failed calls where the failure began, verdicts that refuse, bad feedback, and tools called in loops; each with counts, traces, users, releases, state and three calls.',
  role: 'read',
  request: () =>
    record(
      {
        project_id: project,
        start,
        end,
        state: field(wantedStates(), 'open, resolved, ignored, regressed; a list for several.'),
        filter: field(
          withDefault(issuesFilter(), everyIssue),
          'Lists `issue_ids`, `kinds` (error, verdict, feedback, loop), `op_names`, `tool_names`, `agents` (of loops), `releases`, `assignees`; `first_seen_after`: ISO 8601.',
        ),
        sort_by: field(
          issuesSort('count'),
          '[{"field": "count"|"trace_count"|"user_count"|"first_seen"|"last_seen", "direction": "desc"}]',
        ),
        limit: limit(20, 200),
        cursor,
        max_characters: maxCharacters,
      },
      { sort_by: 'sort' },
    ),
  gives: ['issues'],
});

const callName = z
  .string()
  .check(z.refine((text) => isId(text), rule('should be a call ref or the id of a call')));

export const compareCalls = /* @__PURE__ */ tool({
  name: 'compare_calls',
  title: 'Compare calls',
  description:
    'What differs between two calls: figures, and each place of attributes, inputs and output. Of two roots also what ran in their traces. a is the earlier or better one.',
  role: 'read',
  request: () =>
    record({
      project_id: project,
      a: callName,
      b: callName,
      max_characters: maxCharacters,
    }),
  gives: ['differences'],
});

export const addFeedback = /* @__PURE__ */ tool({
  name: 'add_feedback',
  title: 'Add feedback',
  description:
    'Puts a note, a score or a label on a call, where people see it. The same again changes nothing.',
  role: 'write',
  request: () =>
    record(
      {
        project_id: project,
        call_id: id,
        note: nullish(z.string().check(z.minLength(1), z.maxLength(10_000))),
        score: field(nullish(z.number()), 'From 0 to 1.'),
        label: nullish(z.string().check(z.minLength(1), z.maxLength(200))),
        feedback_type: nullish(displayText),
        max_characters: maxCharacters,
      },
      {},
      undefined,
      z.refine(hasAny('note', 'score', 'label'), rule('should have note, score or label', 'missing')),
    ),
  gives: ['feedback'],
});

const promptName = objectId;

export const listPrompts = /* @__PURE__ */ tool({
  name: 'list_prompts',
  title: 'List prompts',
  description: 'Prompts, with the version that each label is on.',
  role: 'read',
  request: () =>
    record({ project_id: project, limit: limit(50, 200), cursor, max_characters: maxCharacters }),
  gives: ['prompts'],
});

export const getPrompt = /* @__PURE__ */ tool({
  name: 'get_prompt',
  title: 'Read a prompt',
  description:
    'A version of a prompt: of a label, by its index, or what `production` is on, else the newest. Variables are `{name}`.',
  role: 'read',
  request: () =>
    record({
      project_id: project,
      name: promptName,
      label: nullish(id),
      version_index: nullish(integerWith(z.minimum(0))),
      max_characters: maxCharacters,
    }),
  gives: ['prompt'],
});

export const savePrompt = /* @__PURE__ */ tool({
  name: 'save_prompt',
  title: 'Save a prompt',
  description:
    'Makes a version of a prompt, of messages or of one text. Programs get it once set_prompt_label moves their label.',
  role: 'write',
  request: () =>
    record(
      {
        project_id: project,
        name: promptName,
        ...promptContent(),
        max_characters: maxCharacters,
      },
      {},
      undefined,
      saysOneThing as never,
    ),
  gives: ['prompt'],
});

export const setPromptLabel = /* @__PURE__ */ tool({
  name: 'set_prompt_label',
  title: 'Move a label of a prompt',
  description:
    'Moves a label to a version; null removes it. Programs follow within a minute: ask a person before you move `production`. Says where it was.',
  role: 'write',
  request: () =>
    record({
      project_id: project,
      name: promptName,
      label: alias,
      version_index: z.nullable(integerWith(z.minimum(0))),
      max_characters: maxCharacters,
    }),
  gives: ['label'],
});

export const addToDataset = /* @__PURE__ */ tool({
  name: 'add_to_dataset',
  title: 'Add calls to a dataset',
  description:
    'Adds a row for each call to a dataset: its inputs, and what is expected, which is its output unless said. The same again adds nothing.',
  role: 'write',
  request: () =>
    record({
      project_id: project,
      dataset: objectId,
      call_ids: listSchema(id, 100, { least: 1 }),
      expected: z.optional(freeValue),
      max_characters: maxCharacters,
    }),
  gives: ['dataset'],
});

/** All tools, as they are listed. */
export const tools: readonly ToolDescription[] = [
  listProjects,
  describeProject,
  queryCalls,
  getTrace,
  getCall,
  getThread,
  getStats,
  getAgents,
  searchText,
  findIssues,
  compareCalls,
  listPrompts,
  getPrompt,
  addFeedback,
  addToDataset,
  savePrompt,
  setPromptLabel,
];

/** JSON Schemas of tools, by their names. */
export type ToolSchemas = Readonly<
  Record<string, Readonly<Record<'inputSchema' | 'outputSchema', ListedSchema>>>
>;

/** A JSON Schema of an object, as the protocol has it. */
export type ListedSchema = {
  readonly type: 'object';
  readonly properties?: Readonly<Record<string, object>>;
};

/** A tool as `tools/list` has it. */
export interface ListedTool extends Readonly<Record<'name' | 'title' | 'description', string>> {
  readonly inputSchema: ListedSchema;
  readonly outputSchema: ListedSchema;
  readonly annotations: Readonly<Record<string, boolean>>;
}

/** Puts tools and their schemas together. */
export const listTools = (
  described: Iterable<Omit<ToolDescription, 'request' | 'gives'>>,
  schemas: ToolSchemas,
): ListedTool[] =>
  [...described].flatMap(({ name, title, description, role }) => {
    const own = schemas[name];
    const annotations =
      role === 'read' ? { readOnlyHint: true } : { destructiveHint: false, idempotentHint: true };
    return own ? [{ name, title, description, ...own, annotations }] : [];
  });
