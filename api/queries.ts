import * as z from 'zod/mini';
import {
  type FieldPath,
  optionalQuery,
  pathSchema,
  type RecordKind,
  sortSchema,
  toPath,
} from '../foundations/expression/index.ts';
import { isJsonObject } from '../foundations/wire/index.ts';
import {
  documented,
  field,
  id,
  listSchema,
  nullish,
  record,
  safeParse,
  withDefault,
} from '../foundations/wire/schema.ts';
import { startExample } from './calls.ts';
import { endpoint, longAnswer, oneAnswer } from './endpoint.ts';
import {
  bytes,
  filterText,
  flag,
  jsonObject,
  ofProject,
  optionalSources,
  optionalTexts,
  project,
  queryNames,
  queryText,
  slice,
  sortText,
  timestamp,
} from './fields.ts';

// Calls as they are answered.

/** What parts of the prompts and completions cost. Absent where there were no such tokens. */
export const partCosts = () => ({
  cache_read_tokens_total_cost: field(
    z.optional(z.number()),
    'What the tokens of the prompts cost that were read from the cache; a part of `prompt_tokens_total_cost`.',
  ),
  cache_creation_tokens_total_cost: field(
    z.optional(z.number()),
    'What the tokens of the prompts cost that were written to the cache; a part of `prompt_tokens_total_cost`.',
  ),
  reasoning_tokens_total_cost: field(
    z.optional(z.number()),
    'What the tokens of reasoning cost; a part of `completion_tokens_total_cost`.',
  ),
});

type PartCost = keyof ReturnType<typeof partCosts>;

/** What one model cost in a call, as it is answered. */
export const modelCost = () =>
  z
    .object({
      prompt_tokens: field(z.int(), 'Tokens of the prompts, cached ones included.'),
      completion_tokens: field(z.int(), 'Tokens of the completions.'),
      requests: field(z.int(), 'Requests to the model.'),
      total_tokens: field(z.int(), 'Tokens in all.'),
      prompt_token_cost: field(z.number(), 'What one token of a prompt costs, in its unit.'),
      completion_token_cost: field(z.number(), 'What one token of a completion costs, in its unit.'),
      prompt_tokens_total_cost: field(z.number(), 'What the tokens of the prompts cost, in their unit.'),
      completion_tokens_total_cost: field(
        z.number(),
        'What the tokens of the completions cost, in their unit.',
      ),
      ...partCosts(),
      prompt_token_cost_unit: field(z.string(), 'Such as `USD`.'),
      completion_token_cost_unit: field(z.string(), 'Such as `USD`.'),
      effective_date: field(
        z.nullable(timestamp),
        'When the price came into force; null if that is unknown.',
      ),
      provider_id: field(z.string(), 'Who provides the model.'),
      pricing_level: field(
        z.enum(['project', 'default']),
        "Whose price it is: the project's own, or the default.",
      ),
      pricing_level_id: field(z.string(), "The project's id, or `default`."),
      created_at: field(z.nullable(timestamp), 'When the price was stored; null for a default one.'),
      created_by: field(z.string(), 'Who stored the price.'),
    })
    .register(documented, { name: 'ModelCost' });

/** What one model cost in a call, as it is answered under `summary.svc.costs`. */
export type ModelCost = Readonly<Omit<z.output<ReturnType<typeof modelCost>>, PartCost>> & {
  // JSON: absent, and never undefined.
  readonly [part in PartCost]?: number;
};

const callFeedback = () =>
  z
    .object({
      id: field(z.string(), "The record's id."),
      feedback_type: field(z.string(), 'What kind of feedback it is.'),
      svc_ref: field(z.string(), "The call's ref."),
      payload: field(jsonObject, 'As it was given.'),
      creator: field(z.nullable(z.string()), 'Who gave it, as free text; null if unknown.'),
      created_at: field(timestamp, 'When it was stored.'),
      svc_user_id: field(z.string(), 'The user whose key stored it.'),
    })
    .register(documented, { name: 'CallFeedback' });

/** What all calls of a trace add up to. */
const traceTotals = () =>
  z
    .object({
      call_count: field(z.int(), 'How many calls there are.'),
      error_count: field(z.int(), 'How many of them failed.'),
      input_tokens: field(z.int(), 'Tokens of the prompts, cached ones included.'),
      output_tokens: field(z.int(), 'Tokens of the completions.'),
      cache_read_tokens: field(z.int(), "Tokens of the prompts that were read from the provider's cache."),
      cache_write_tokens: field(z.int(), "Tokens of the prompts that were written to the provider's cache."),
      reasoning_tokens: field(z.int(), 'Tokens of the completions that were reasoning.'),
      total_cost: field(
        z.number(),
        'What the tokens cost, at the prices in force when each call started. Models without a price cost nothing.',
      ),
      waited_ms: field(z.int(), 'Whole milliseconds that its calls waited for a person, as far as they say.'),
    })
    .register(documented, { name: 'TraceTotals' });

/** What all calls of a trace add up to, as it is answered under `summary.svc.trace_totals`. */
export type TraceTotals = Readonly<z.output<ReturnType<typeof traceTotals>>>;

/** What the service says of a call in its summary. */
const serviceSummary = () =>
  z
    .object({
      status: field(
        z.enum(['running', 'success', 'error', 'descendant_error']),
        '`running` without an end, `error` with an exception, `descendant_error` if the client counted errors below the call, else `success`. With `include_trace_totals`, a root that did not fail has `descendant_error` if a call below did.',
      ),
      latency_ms: field(
        z.nullable(z.int()),
        'Whole milliseconds from start to end; null while the call runs.',
      ),
      trace_name: field(
        z.string(),
        "The display name. Without one, the op's short name if `op_name` is a ref, else `op_name`.",
      ),
      waited_ms: field(
        z.optional(z.int()),
        'Whole milliseconds that the call waited for a person, as `summary.waited_ms` says; absent if it did not.',
      ),
      waiting: field(
        z.optional(z.boolean()),
        'True if the call waits for a person, or waited for an unknown time: `summary.waiting`.',
      ),
      costs: field(
        z.optional(z.record(z.string(), modelCost())),
        'What the call cost, by model; with `include_costs`. Models without a price are left out.',
      ),
      feedback: field(
        z.optional(z.array(callFeedback())),
        'The feedback on the call, oldest first; with `include_feedback`.',
      ),
      trace_totals: field(
        z.optional(traceTotals()),
        'What all calls of the trace add up to; of roots, with `include_trace_totals`.',
      ),
    })
    .register(documented, { name: 'CallServiceSummary' });

const blockText = 'What the service says of the call.';
const usage = () =>
  field(
    z.optional(z.unknown()),
    'Usage as the client reported it, by model: `prompt_tokens`, `completion_tokens` and others.',
  );

/** The columns of a call, in order. */
const columns = <S extends z.ZodMiniType>(summary: S) => ({
  id: field(z.string(), "The call's id."),
  project_id: ofProject,
  op_name: field(z.string(), 'What was called: a name, or an op ref.'),
  display_name: field(z.nullable(z.string()), 'Its display name; null without one.'),
  trace_id: field(z.string(), 'Its trace.'),
  parent_id: field(z.nullable(z.string()), 'The call that made it; null for the root of a trace.'),
  thread_id: field(z.nullable(z.string()), 'Its conversation; null without one.'),
  turn_id: field(z.nullable(z.string()), 'Its turn of the thread, which is a call; null without one.'),
  started_at: field(timestamp, 'When it started.'),
  ended_at: field(z.nullable(timestamp), 'When it ended; null while it runs.'),
  attributes: field(jsonObject, 'As they were given.'),
  inputs: field(jsonObject, 'As they were given. Expanded columns hold what they refer to.'),
  output: field(z.unknown(), 'Any JSON; null without one.'),
  exception: field(z.nullable(z.string()), 'What it failed with; null if it did not fail.'),
  summary: field(summary, "The client's summary, and what the service adds under its own name."),
  svc_user_id: field(z.string(), 'The user whose key reported the start.'),
  svc_run_id: field(z.nullable(z.string()), 'Its run; null without one.'),
  svc_run_step: field(z.nullable(z.int()), "The run's step at the start; null without one."),
  svc_run_step_end: field(z.nullable(z.int()), "The run's step at the end; null without one."),
});

/** What a call was about, for lists. */
const preview = () =>
  z
    .object({
      input: field(z.nullable(z.string()), 'What went in; null if there is nothing.'),
      output: field(z.nullable(z.string()), 'What came out; null if there is nothing.'),
    })
    .register(documented, { name: 'CallPreview' });

const previewText =
  'What the call was about, if `columns` names it: one line each, of at most 160 characters and 240 bytes. Of a model call the last message of its user or of a tool, and the answer or the tools that it asks for; of a tool its arguments and its result; of a failed call the first line of its exception; else the only text, or one of a usual name, or compact JSON.';

const sizes = () => ({
  storage_size_bytes: field(
    z.optional(bytes),
    'The size of the call as it was received, in bytes of JSON; with `include_storage_size`.',
  ),
  total_storage_size_bytes: field(
    z.optional(bytes),
    'The size of all calls of its trace; with `include_total_storage_size`.',
  ),
});

/** A whole call. */
export const call = () => {
  const summary = z.looseObject({ usage: usage(), svc: field(serviceSummary(), blockText) });
  return z.object({ ...columns(summary), ...sizes() }).register(documented, { name: 'Call' });
};

/** A call in the answer to a query, with the columns that were asked for. */
export const callRow = () => {
  const block = z.partial(z.object(serviceSummary().shape));
  const summary = z.looseObject({ usage: usage(), svc: field(z.optional(block), blockText) });
  const all = columns(summary);
  // These are always answered.
  const { id, project_id, op_name, trace_id, started_at } = all;
  return z
    .object({
      ...z.partial(z.object(all)).shape,
      id,
      project_id,
      op_name,
      trace_id,
      started_at,
      preview: field(z.optional(preview()), previewText),
      ...sizes(),
    })
    .register(documented, { name: 'CallRow' });
};

// What may be asked of them.

/** What is asked for beyond what is stored of a call. */
export interface Includes {
  /** `summary.svc.costs` */
  readonly costs: boolean;
  /** `summary.svc.feedback` */
  readonly feedback: boolean;
  /** `storage_size_bytes` */
  readonly storageSize: boolean;
  /** `total_storage_size_bytes` */
  readonly totalStorageSize: boolean;
  /** `summary.svc.trace_totals`, and the status of roots that it changes. */
  readonly traceTotals: boolean;
}

/** Nothing beyond what is stored. */
export const noIncludes: Includes = {
  costs: false,
  feedback: false,
  storageSize: false,
  totalStorageSize: false,
  traceTotals: false,
};

/** A filter that lets every call through. */
export const everyCall: CallsFilter = {
  opNames: null,
  inputRefs: null,
  outputRefs: null,
  parentIds: null,
  traceIds: null,
  callIds: null,
  threadIds: null,
  turnIds: null,
  traceRootsOnly: false,
  userIds: null,
  runIds: null,
  sources: null,
};

const includeFields = () => ({
  include_costs: flag('Adds what the call cost, by model.'),
  include_feedback: flag('Adds the feedback on the call.'),
  include_storage_size: flag('Adds the size of the call as it was received, in bytes of JSON.'),
  include_total_storage_size: flag(
    'Adds the size of all calls of its trace as they were received, in bytes of JSON.',
  ),
});

/** The most ids of calls or of traces whose traces are added up without a range of time. */
export const maxTotalsIds = 1000;
/** The longest range of `started_at` whose traces are added up, in days. */
export const maxTotalsDays = 31;

const includeTraceTotals = () =>
  flag(
    `Adds what all calls of the trace add up to, to roots; \`query\` and \`sort_by\` may use it then. The calls count that start within the range of \`started_at\` or within a day after it. Takes such a range of at most ${maxTotalsDays} days in \`query\`, or at most ${maxTotalsIds} \`call_ids\` or \`trace_ids\`.`,
  );

const toIncludes = (body: Readonly<Record<string, unknown>>): Includes => ({
  costs: body.include_costs === true,
  feedback: body.include_feedback === true,
  storageSize: body.include_storage_size === true,
  totalStorageSize: body.include_total_storage_size === true,
  traceTotals: body.include_trace_totals === true,
});

/** Made once: queries need them, and schemas take time to make. */
let columnNames: readonly string[] | undefined;

/** Calls as records that expressions are about. The fields depend on what is asked for. */
export const callKind = (includes: Includes): RecordKind => {
  columnNames ??= Object.keys(columns(jsonObject));
  return {
    // A kind of its own: fewer fields may be named.
    name: `${includes.storageSize && includes.totalStorageSize ? '' : 'Plain'}Call`,
    fields: [
      ...columnNames,
      'preview',
      'feedback',
      ...(includes.storageSize ? ['storage_size_bytes'] : []),
      ...(includes.totalStorageSize ? ['total_storage_size_bytes'] : []),
    ],
    nested: ['attributes', 'inputs', 'output', 'summary', 'preview', 'feedback'],
    times: new Set(['started_at', 'ended_at']),
    pathRule: ({ field, steps: [block, member] }: FieldPath) => {
      if (field === 'feedback')
        return block === undefined
          ? 'should name a type and a field: feedback.[<type>].payload.<path>'
          : undefined;
      if (field !== 'summary' || block !== 'svc') return undefined;
      const isLeftOut =
        (member === 'costs' && !includes.costs) ||
        (member === 'feedback' && !includes.feedback) ||
        (member === 'trace_totals' && !includes.traceTotals);
      return isLeftOut ? `is there only with include_${member}: true` : undefined;
    },
  };
};

const callsFilter = () =>
  record({
    op_names: optionalTexts('Ops by name. With `:*` at its end a name means every version of the op.'),
    input_refs: optionalTexts('Refs anywhere in the inputs. With `:*` at its end a ref means every version.'),
    output_refs: optionalTexts(
      'Refs anywhere in the output. With `:*` at its end a ref means every version.',
    ),
    parent_ids: optionalTexts('Calls below these.'),
    trace_ids: optionalTexts('Calls of these traces.'),
    call_ids: optionalTexts('Calls by their ids.'),
    thread_ids: optionalTexts('Calls of these threads.'),
    turn_ids: optionalTexts('Calls of these turns.'),
    trace_roots_only: flag('Whether only calls without a parent match.'),
    svc_user_ids: optionalTexts('Calls that these users reported.'),
    svc_run_ids: optionalTexts('Calls of these runs.'),
    sources: optionalSources(),
  }).register(documented, { name: 'CallsFilter' });

/** Which calls are wanted. Fields are ANDed, values of a list are ORed, null asks for nothing. */
export type CallsFilter = z.output<ReturnType<typeof callsFilter>>;

/** The filter of a request; one that lets every call through without it. */
export const filter = () => field(withDefault(callsFilter(), everyCall), filterText);

const everyInclude: Includes = {
  costs: true,
  feedback: true,
  storageSize: true,
  totalStorageSize: true,
  traceTotals: true,
};

/** Makes a schema of what a body includes. */
export type ByIncludes<T, Sent = unknown> = (includes: Includes) => z.ZodMiniType<T, Sent>;

/**
 * A schema that depends on what a body includes. The extras decide which columns there are, so they
 * are read before other fields are checked. It is made once for each of the few combinations.
 */
const byIncludes = <T, Sent>(make: ByIncludes<T, Sent>): z.ZodMiniType<T, Sent> => {
  const schemas = new Map<string, z.ZodMiniType<T, Sent>>();
  const schema = z.pipe(
    z.custom<Sent>(() => true),
    z.transform((body, context): T => {
      const includes = toIncludes(isJsonObject(body) ? body : {});
      const key = JSON.stringify(includes);
      const schema = schemas.get(key) ?? make(includes);
      schemas.set(key, schema);
      const result = safeParse(schema, body);
      if (result.success) return result.data;
      for (const issue of result.error.issues) context.issues.push({ ...issue, input: body } as never);
      return z.NEVER;
    }),
  );
  return schema.register(documented, { like: () => make(everyInclude) });
};

const maxColumns = 500;

/** Calls of a kind as far as they have columns. Feedback is reached by expressions alone. */
const columnsKind = (kind: RecordKind): RecordKind => ({
  ...kind,
  pathRule: (path) =>
    path.field === 'feedback'
      ? 'feedback is no column: ask for it with include_feedback: true'
      : kind.pathRule?.(path),
});

/** Dotted paths into calls of a kind. */
export const paths = (kind: RecordKind) => pathsOf(columnsKind(kind));

/** Dotted paths into records of a kind. */
export const pathsOf = (kind: RecordKind) => listSchema(pathSchema(kind), maxColumns, { noun: 'paths' });

const toPaths = (texts: string[] | null | undefined): readonly FieldPath[] => (texts ?? []).map(toPath);

/** The paths at which refs are replaced by what they lead to. */
export const expandColumns = (kind: RecordKind) =>
  field(
    z.pipe(nullish(paths(kind)), z.transform(toPaths)),
    'Dotted paths to refs to objects. What a ref refers to takes its place in the query, the order and the answer.',
  );

const queryBody = (includes: Includes) => {
  const kind = callKind(includes);
  return record(
    {
      project_id: project,
      filter: filter(),
      ...slice,
      sort_by: field(withDefault(sortSchema(kind), []), sortText),
      query: field(optionalQuery(kind), queryText),
      ...includeFields(),
      include_trace_totals: includeTraceTotals(),
      columns: field(
        nullish(paths(kind)),
        'Names of fields, and dotted paths into them; without it all fields except `preview`. `id`, `project_id`, `op_name`, `trace_id` and `started_at` are always answered.',
      ),
      expand_columns: expandColumns(kind),
      return_expanded_column_values: field(
        withDefault(z.boolean(), true),
        'false shows the refs themselves in the answer; true without it.',
      ),
    },
    {
      ...queryNames,
      expand_columns: 'expand',
      return_expanded_column_values: 'returnExpanded',
    },
    (body) => ({ includes: toIncludes(body) }),
  );
};

/** Which calls of a project are meant. */
export interface CallsSelection
  extends Pick<
    z.output<ReturnType<typeof queryBody>>,
    'projectId' | 'filter' | 'where' | 'limit' | 'includes'
  > {
  /** The paths at which refs are replaced by what they lead to. @default - none */
  readonly expand?: readonly FieldPath[];
}

/** A query over the calls of one project. Ties of its order are by `started_at`, then `id`. */
export interface CallsQuery
  extends CallsSelection,
    Pick<
      z.output<ReturnType<typeof queryBody>>,
      'offset' | 'sort' | 'columns' | 'expand' | 'returnExpanded'
    > {
  readonly expand: readonly FieldPath[];
  /** A column with the name of the user, which is the id of the user here. @default - none */
  readonly userNameColumn?: string | null;
}

const turnRow = {
  id: 'turn-1',
  project_id: 'acme/shop',
  op_name: 'answer',
  trace_id: 'trace-1',
  started_at: '2026-10-01T09:30:00.000001Z',
};

const turn = {
  ...turnRow,
  display_name: null,
  parent_id: null,
  thread_id: 'chat-1',
  turn_id: 'turn-1',
  ended_at: '2026-10-01T09:30:01.500001Z',
  attributes: {},
  inputs: startExample.inputs,
  output: 'On its way.',
  exception: null,
  summary: {
    usage: { 'gpt-4o': { prompt_tokens: 1200, completion_tokens: 12 } },
    svc: { status: 'success', latency_ms: 1500, trace_name: 'answer' },
  },
  svc_user_id: 'ada',
  svc_run_id: null,
  svc_run_step: null,
  svc_run_step_end: null,
};

const includesText =
  '`include_costs`, `include_feedback`, `include_storage_size` and `include_total_storage_size` add the fields of the answer that name them.';

const callReadBody = () =>
  record({ project_id: project, id: field(id, 'The id.'), ...includeFields() }, {}, (body) => ({
    includes: toIncludes(body),
  }));

/** Which call is to be read, and what more of it. */
export type CallRead = Pick<z.output<ReturnType<typeof callReadBody>>, 'projectId' | 'id' | 'includes'>;

export const callRead = /* @__PURE__ */ endpoint({
  path: '/call/read',
  shape: oneAnswer,
  stores: { calls: 'find', payloads: 'read', costs: 'read', feedback: 'join' },
  tag: 'calls',
  name: 'CallRead',
  summary: 'Read a call by its id',
  description: `Strongly consistent. ${includesText}`,
  request: callReadBody,
  answer: () =>
    z.object({ call: field(z.nullable(call()), 'The call; null if there is none, or only an end.') }),
  examples: {
    turn: { summary: 'The turn', body: { project_id: 'acme/shop', id: 'turn-1' }, answer: { call: turn } },
    nothing: {
      summary: 'A call that is not there',
      body: { project_id: 'acme/shop', id: 'nobody' },
      answer: { call: null },
    },
  },
});

export const callsStreamQuery = /* @__PURE__ */ endpoint({
  path: '/calls/stream_query',
  shape: longAnswer,
  stores: {
    calls: 'query',
    payloads: 'read',
    objects: 'read',
    tables: 'read',
    costs: 'read',
    feedback: 'joinMany',
    bookkeeping: 'use',
    audit: 'append',
  },
  tag: 'calls',
  name: 'CallsQuery',
  summary: 'Query calls, as a stream',
  description: `The calls of a project that match, each as soon as it is known. They are compressed if the client accepts zstd or gzip. The connection breaks off if something fails after the first byte, so an answer that ends cleanly is whole. Without \`sort_by\` they come by \`started_at\`, then \`id\`. ${includesText} \`include_trace_totals\` adds what all calls of their trace add up to, to roots.`,
  request: () => byIncludes(queryBody),
  answer: callRow,
  form: 'records',
  examples: {
    roots: {
      summary: 'Traces that took more than a second, with two columns',
      body: {
        project_id: 'acme/shop',
        filter: { trace_roots_only: true },
        query: { $expr: { $gt: [{ $getField: 'summary.svc.latency_ms' }, { $literal: 1000 }] } },
        sort_by: [{ field: 'started_at', direction: 'asc' }],
        limit: 10,
        columns: ['inputs.question', 'output'],
      },
      answer: { ...turnRow, inputs: startExample.inputs, output: 'On its way.' },
    },
  },
});

const queryStatsBody = ({ traceTotals }: Includes) => {
  const includes = { ...noIncludes, traceTotals };
  return record(
    {
      project_id: project,
      filter: filter(),
      query: field(optionalQuery(callKind(includes)), queryText),
      limit: slice.limit,
      include_total_storage_size: flag('Adds the size of the calls as they were received, in bytes of JSON.'),
      include_trace_totals: field(
        withDefault(z.boolean(), false),
        'Whether `query` may use what all calls of a trace add up to, as that of `/calls/stream_query` with this field.',
      ),
    },
    { ...queryNames, include_total_storage_size: 'withBytes' },
    () => ({ includes }),
  );
};

export const callsQueryStats = /* @__PURE__ */ endpoint({
  path: '/calls/query_stats',
  shape: longAnswer,
  stores: { calls: 'query', payloads: 'read', costs: 'read', feedback: 'joinMany', bookkeeping: 'use' },
  tag: 'calls',
  name: 'CallsQueryStats',
  summary: 'Count calls',
  description:
    'Counts the calls that a query would answer and, if asked for, their size as they were received, in bytes of JSON.',
  request: () => byIncludes(queryStatsBody),
  answer: () =>
    z.object({
      count: field(z.int(), 'How many calls match.'),
      total_storage_size_bytes: field(
        z.nullable(z.int()),
        'Bytes of JSON; null without `include_total_storage_size`.',
      ),
    }),
  examples: {
    trace: {
      summary: 'The calls of a trace',
      body: { project_id: 'acme/shop', filter: { trace_ids: ['trace-1'] } },
      answer: { count: 2, total_storage_size_bytes: null },
    },
  },
});

/** The endpoints of this file. Their examples run in this order. */
export const queryRoutes = [callRead, callsStreamQuery, callsQueryStats] as const;
