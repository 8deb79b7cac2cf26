import * as z from 'zod/mini';
import { optionalQuery, sortSchema } from '../foundations/expression/index.ts';
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
  record,
  rule,
  withDefault,
} from '../foundations/wire/schema.ts';
import { jsonObject, project } from './fields.ts';
import { alias, objectId } from './objects.ts';
import { promptContent, saysOneThing } from './prompts.ts';
import { callKind, filter, type Includes, noIncludes, paths } from './queries.ts';
import {
  callMetricsField,
  granularity,
  groupBy,
  groupByFeedback,
  timezoneField,
  usageMetricsField,
} from './stats.ts';

/*
 * The tools of `POST /mcp`: what each takes and gives, and what a model is told of it. Names and
 * parameters are those of the endpoints.
 */

/** The least, the usual and the most characters of a reply. */
export const characters = { least: 1000, usual: 20_000, most: 100_000 } as const;

const span = /^-(\d{1,5})([mhdw])$/;
const microsByUnit = { m: 60e6, h: 3600e6, d: 86_400e6, w: 604_800e6 } as const;

const isSpan = (text: string): boolean => span.test(text);

/** A time that is so long ago, `-90m`, `-2h`, `-7d` or `-4w`, or a time in ISO 8601. */
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
      const [, amount, unit] = span.exec(text) ?? [];
      if (amount === undefined) return parseTime(text) ?? 0;
      const ago = Number(amount) * microsByUnit[unit as keyof typeof microsByUnit];
      return Math.max(Number.MIN_SAFE_INTEGER, Date.now() * 1000 - ago);
    }),
  )
  .register(documented, { keywords: { type: 'string' } });

const start = field(
  nullish(toolTime),
  'From when on calls count: `-2h`, `-7d` or ISO 8601. The reply says which range it took.',
);
const end = field(nullish(toolTime), 'Until when, exclusive; now without it.');

const maxCharacters = field(
  withDefault(integerWith(z.minimum(characters.least), z.maximum(characters.most)), characters.usual),
  `The most characters of the whole reply, ${characters.least} to ${characters.most}; ${characters.usual} without it. What does not fit is cut, and the reply says how to get it.`,
);

const cursor = field(
  nullish(z.string()),
  '`next_cursor` of the reply before. Repeat the other arguments as they were.',
);

const limit = (usual: number, most: number) =>
  field(
    withDefault(integerWith(z.minimum(1), z.maximum(most)), usual),
    `The most rows; ${usual} without it.`,
  );

const everyField: Includes = { ...noIncludes, costs: true, feedback: true };

const columns = field(
  nullish(paths(callKind(everyField))),
  'Names of fields and dotted paths into them: `inputs.messages`, `output`, `attributes`, `exception`, `summary.usage`.',
);

const queryField = (includes: Includes) =>
  field(
    optionalQuery(callKind(includes)),
    'An expression, ANDed with the filter. `{"$expr": {"$gt": [{"$getField": "summary.svc.latency_ms"}, {"$literal": 5000}]}}`. Operators: $and, $or, $not, $eq, $ne, $gt, $gte, $lt, $lte, $in, $contains ({"input", "substr", "case_insensitive"}), $convert; operands $getField and $literal. The resource pennytrace://guide has them all.',
  );

const query = queryField(noIncludes);

/** Queries of `query_calls` may use what traces add up to, too. */
const withTotals: Includes = { ...noIncludes, traceTotals: true };

const sort = field(
  withDefault(sortSchema(callKind(withTotals)), []),
  'Such as `[{"field": "summary.svc.latency_ms", "direction": "desc"}]`, or for roots `summary.svc.trace_totals.total_cost`; newest first without it.',
);

/** What every reply has beside its own. */
const reply = <S extends Readonly<Record<string, z.ZodMiniType>>>(shape: S) =>
  z.looseObject({
    ...shape,
    url: field(z.optional(z.string()), 'The same in the page, for people.'),
    range: field(
      z.optional(z.looseObject({ start: z.string(), end: z.string() })),
      'The range of started_at that was taken.',
    ),
    missing: field(z.optional(z.array(z.string())), 'What was cut, and which call of which tool gets it.'),
    next_cursor: field(z.optional(z.string()), 'There is more: send it as `cursor`.'),
    notice: field(z.string(), 'Whose words these are.'),
  });

const rows = (description: string) => field(z.array(jsonObject), description);

/** What is known of a tool before it runs. */
export interface ToolDescription<Args = unknown> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The role that the key needs on each project that the arguments name. */
  readonly role: 'read' | 'write';
  readonly request: () => z.ZodMiniType<Args>;
  readonly answer: () => z.ZodMiniType;
}

const tool = <Args>(described: ToolDescription<Args>): ToolDescription<Args> => described;

export const listProjects = /* @__PURE__ */ tool({
  name: 'list_projects',
  title: 'List projects',
  description:
    'The projects that this key may read, each with its last activity. Start here if you do not know the project_id.',
  role: 'read',
  request: () => record({ limit: limit(20, 50), cursor, max_characters: maxCharacters }),
  answer: () => reply({ projects: rows('project_id, first_reported_at, last_activity, may_write and url.') }),
});

export const describeProject = /* @__PURE__ */ tool({
  name: 'describe_project',
  title: 'Describe a project',
  description:
    'What there is to filter by in a project within a range of time: operations, models, tools, agents, prompts, end users, environments, releases, feedback types and fields of attributes, each with its commonest values and counts. Ask this before you write a filter or an expression.',
  role: 'read',
  request: () => record({ project_id: project, start, end, max_characters: maxCharacters }),
  answer: () => reply({ operations: rows('By the number of calls: op_name, calls, errors, p95_ms.') }),
});

export const queryCalls = /* @__PURE__ */ tool({
  name: 'query_calls',
  title: 'Query calls',
  description:
    'Finds calls by filter, expression and range of time: newest first, with previews of input and output, status, duration, tokens and cost. Roots have figures of their whole trace. Examples: traces that failed: {"filter": {"trace_roots_only": true}, "query": {"$expr": {"$in": [{"$getField": "summary.svc.status"}, [{"$literal": "error"}, {"$literal": "descendant_error"}]]}}}; calls of a tool: {"query": {"$expr": {"$eq": [{"$getField": "attributes.tool.name"}, {"$literal": "lookup_order"}]}}}; the slowest: {"sort_by": [{"field": "summary.svc.latency_ms", "direction": "desc"}], "limit": 5}. Ask for whole values by columns, or read one call with get_call.',
  role: 'read',
  request: () =>
    record(
      {
        project_id: project,
        filter: filter(),
        query: queryField(withTotals),
        sort_by: sort,
        columns,
        start,
        end,
        limit: limit(50, 1000),
        cursor,
        max_characters: maxCharacters,
      },
      { query: 'where', sort_by: 'sort' },
    ),
  answer: () => reply({ calls: rows('One object a call; fields without a value are left out.') }),
});

const hasAny =
  (...names: readonly string[]) =>
  (fields: Readonly<Record<string, unknown>>): boolean =>
    names.some((name) => fields[name] !== undefined && fields[name] !== null);

export const getTrace = /* @__PURE__ */ tool({
  name: 'get_trace',
  title: 'Get a trace',
  description:
    'The outline of a trace: its tree of calls with kinds, previews, times, tokens, costs and errors. With call_id the subtree below that call. With columns, such as ["inputs", "output"], the calls in full, as many as fit; with call_ids those calls alone. Large traces show what failed and what is near the root, and say what was folded.',
  role: 'read',
  request: () =>
    record(
      {
        project_id: project,
        trace_id: field(nullish(id), 'The trace; call_id or call_ids will do as well.'),
        call_id: field(nullish(id), 'A call: only it and what is below it.'),
        call_ids: field(nullish(listSchema(id, 200)), 'Calls to show in full, without the tree.'),
        columns,
        max_characters: maxCharacters,
      },
      {},
      undefined,
      z.refine(
        hasAny('trace_id', 'call_id', 'call_ids'),
        rule('should have trace_id, call_id or call_ids', 'missing'),
      ),
    ),
  answer: () =>
    reply({ calls: rows('In the order of the tree: depth says how far below the root a call is.') }),
});

export const getCall = /* @__PURE__ */ tool({
  name: 'get_call',
  title: 'Get a call',
  description:
    'One call with inputs, output, exception, usage, costs and feedback; or the fields that columns name. With path, one value inside it: a long text from offset on, a list from the item at offset on. Example: {"path": "inputs.messages.3.content", "offset": 4000}.',
  role: 'read',
  request: () =>
    record(
      {
        project_id: project,
        call_id: field(id, 'The call.'),
        columns,
        path: field(
          nullish(z.string()),
          'The place of one value in the call: `inputs.messages.3.content`, `output`, `exception`.',
        ),
        offset: field(
          withDefault(integerWith(z.minimum(0)), 0),
          'With path: the first character of a text, or item of a list, to show.',
        ),
        max_characters: maxCharacters,
      },
      {},
      undefined,
      z.refine(
        (fields) => hasAny('path')(fields) || !fields.offset,
        rule('offset goes with path: it counts the characters or items of that value'),
      ),
    ),
  answer: () => reply({ call: field(z.optional(jsonObject), 'The call.') }),
});

export const getThread = /* @__PURE__ */ tool({
  name: 'get_thread',
  title: 'Get a thread',
  description:
    'A conversation as it was said, turn by turn: what was asked and answered, with times, durations, tokens, costs and errors. The last turns come first to stay if not all fit; next_cursor leads to earlier ones. Each turn names its call and its trace.',
  role: 'read',
  request: () =>
    record({
      project_id: project,
      thread_id: field(id, 'The thread.'),
      limit: limit(50, 200),
      cursor,
      max_characters: maxCharacters,
    }),
  answer: () => reply({ turns: rows('In order of time: asked, answered, call_id, trace_id and figures.') }),
});

const buckets = field(
  nullish(granularity),
  'Seconds of a bucket: less than 86400, or whole days. Without it a group has one row for the whole range.',
);

export const getStats = /* @__PURE__ */ tool({
  name: 'get_stats',
  title: 'Get statistics',
  description:
    'Counts, errors, durations, tokens and costs of calls over a range of time, as tables. Without granularity there is one row a group for the whole range; with granularity (seconds: 3600, 86400) one a bucket. group_by takes up to two fields. Usage is by model. Example, how often each tool failed: {"start": "-1d", "group_by": ["attributes.tool.name"], "call_metrics": [{"metric": "error_count"}]}.',
  role: 'read',
  request: () =>
    record(
      {
        project_id: project,
        start,
        end,
        granularity: buckets,
        timezone: timezoneField,
        filter: filter(),
        query,
        call_metrics: callMetricsField(),
        usage_metrics: usageMetricsField(),
        group_by: groupBy(),
        group_by_feedback: groupByFeedback(),
        max_characters: maxCharacters,
      },
      { query: 'where', call_metrics: 'calls', usage_metrics: 'usage' },
    ),
  answer: () =>
    reply({
      calls: field(z.optional(jsonObject), 'columns, and rows in their order.'),
      usage: field(z.optional(jsonObject), 'The same by model.'),
    }),
});

const callName = z
  .string()
  .check(z.refine((text) => isId(text), rule('should be a call ref or the id of a call')));

export const compareCalls = /* @__PURE__ */ tool({
  name: 'compare_calls',
  title: 'Compare calls',
  description:
    'What differs between two calls: times, usage, costs, and each field of attributes, inputs and output that is not the same. If both are roots, their traces too: which operations ran how often, failed and took how long. a is the earlier or better one, b the other.',
  role: 'read',
  request: () =>
    record({
      project_id: project,
      a: field(callName, 'The id of a call, or its ref.'),
      b: field(callName, 'The other call.'),
      max_characters: maxCharacters,
    }),
  answer: () => reply({ differences: rows('Each with its path and the values a and b.') }),
});

export const addFeedback = /* @__PURE__ */ tool({
  name: 'add_feedback',
  title: 'Add feedback',
  description:
    'Puts a note, a score or a label on a call; people see it in the page. Give one of note, score and label; feedback_type names it (note, score and label without it). The same again changes nothing.',
  role: 'write',
  request: () =>
    record(
      {
        project_id: project,
        call_id: field(id, 'The call.'),
        note: field(nullish(z.string().check(z.minLength(1), z.maxLength(10_000))), 'A text.'),
        score: field(nullish(z.number()), 'A number; by habit from 0 to 1.'),
        label: field(
          nullish(z.string().check(z.minLength(1), z.maxLength(200))),
          'A word such as `hallucination`.',
        ),
        feedback_type: field(nullish(displayText), 'What the feedback is called.'),
        max_characters: maxCharacters,
      },
      {},
      undefined,
      z.refine(hasAny('note', 'score', 'label'), rule('should have note, score or label', 'missing')),
    ),
  answer: () => reply({ feedback: field(jsonObject, 'What was stored.') }),
});

const promptName = field(objectId, "The prompt's name.");
const index = (description: string) => field(nullish(integerWith(z.minimum(0))), description);

export const listPrompts = /* @__PURE__ */ tool({
  name: 'list_prompts',
  title: 'List prompts',
  description: 'The prompts of a project, with the version that each label is on.',
  role: 'read',
  request: () =>
    record({ project_id: project, limit: limit(50, 200), cursor, max_characters: maxCharacters }),
  answer: () => reply({ prompts: rows('`name`, `latest`, `versions`, `labels`.') }),
});

export const getPrompt = /* @__PURE__ */ tool({
  name: 'get_prompt',
  title: 'Read a prompt',
  description:
    'One version of a prompt: what the label `production` is on, or the newest, without a choice. Variables are `{name}`; `{{` and `}}` are braces.',
  role: 'read',
  request: () =>
    record({
      project_id: project,
      name: promptName,
      label: field(nullish(id), 'Such as `production`; `latest` is the newest version.'),
      version_index: index('Another version.'),
      max_characters: maxCharacters,
    }),
  answer: () =>
    reply({
      prompt: field(z.optional(jsonObject), '`messages` or `text`, `config`, `variables`, `labels`.'),
    }),
});

export const savePrompt = /* @__PURE__ */ tool({
  name: 'save_prompt',
  title: 'Save a prompt',
  description:
    'Makes a version of a prompt, of messages or of one text. Programs go on with what their label is on until set_prompt_label moves it. The same again changes nothing.',
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
  answer: () => reply({ prompt: field(z.optional(jsonObject), 'The version.') }),
});

export const setPromptLabel = /* @__PURE__ */ tool({
  name: 'set_prompt_label',
  title: 'Move a label of a prompt',
  description:
    'Moves a label to a version, or removes it with `version_index` null. Programs that read the label get that version within a minute, so ask a person before you move `production`. The reply says where it was.',
  role: 'write',
  request: () =>
    record({
      project_id: project,
      name: promptName,
      label: field(alias, 'The label.'),
      version_index: field(z.nullable(integerWith(z.minimum(0))), 'The version; null removes the label.'),
      max_characters: maxCharacters,
    }),
  answer: () => reply({ label: field(z.optional(jsonObject), 'Where it is, and where it was.') }),
});

export const addToDataset = /* @__PURE__ */ tool({
  name: 'add_to_dataset',
  title: 'Add calls to a dataset',
  description:
    'Adds a row for each call to a dataset, which is made if there is none: its inputs, what is expected, and the call. The same again adds nothing.',
  role: 'write',
  request: () =>
    record({
      project_id: project,
      dataset: field(objectId, "The dataset's name."),
      call_ids: field(listSchema(id, 100, { least: 1 }), 'The calls.'),
      expected: field(
        z.optional(freeValue),
        'What is expected of all of them; the output of each without it.',
      ),
      max_characters: maxCharacters,
    }),
  answer: () =>
    reply({ dataset: field(z.optional(jsonObject), 'The version, and how many rows were added.') }),
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
  compareCalls,
  listPrompts,
  getPrompt,
  addFeedback,
  addToDataset,
  savePrompt,
  setPromptLabel,
];
