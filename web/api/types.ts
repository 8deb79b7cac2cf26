// Made from the OpenAPI document by `npm run web:types`. Edit the schemas instead.

export type Call = {
  /** The call's id. */
  id: string;
  /** Its project, `<entity>/<project>`. */
  project_id: string;
  /** What was called: a name, or an op ref. */
  op_name: string;
  /** Its display name; null without one. */
  display_name: string | null;
  /** Its trace. */
  trace_id: string;
  /** The call that made it; null for the root of a trace. */
  parent_id: string | null;
  /** Its conversation; null without one. */
  thread_id: string | null;
  /** Its turn of the thread, which is a call; null without one. */
  turn_id: string | null;
  /** When it started. */
  started_at: Timestamp;
  /** When it ended; null while it runs. */
  ended_at: Timestamp | null;
  /** As they were given. */
  attributes: Record<string, unknown>;
  /** As they were given. Expanded columns hold what they refer to. */
  inputs: Record<string, unknown>;
  /** Any JSON; null without one. */
  output: unknown;
  /** What it failed with; null if it did not fail. */
  exception: string | null;
  /** The client's summary, and what the service adds under its own name. */
  summary: {
    /**
     * Usage as the client reported it, by model: `prompt_tokens`, `completion_tokens` and
     * others.
     */
    usage?: unknown;
    /** What the service says of the call. */
    svc: CallServiceSummary;
    [key: string]: unknown;
  };
  /** The user whose key reported the start. */
  svc_user_id: string;
  /** Its run; null without one. */
  svc_run_id: string | null;
  /** The run's step at the start; null without one. */
  svc_run_step: number | null;
  /** The run's step at the end; null without one. */
  svc_run_step_end: number | null;
  /** The size of the call as it was received, in bytes of JSON; with `include_storage_size`. */
  storage_size_bytes?: number;
  /** The size of all calls of its trace; with `include_total_storage_size`. */
  total_storage_size_bytes?: number;
};

export type CallAnd = {
  $and: (CallOperation)[];
};

export type CallContains = {
  $contains: {
    /** The text or list to look in. */
    input: CallOperation;
    /** The text or item to look for. */
    substr: CallOperation;
    /** Whether upper and lower case count as the same; false without it. */
    case_insensitive?: boolean | null;
  };
};

export type CallConvert = {
  $convert: {
    /** The value to convert. */
    input: CallOperation;
    /** The type; `exists` gives whether there is a value. */
    to: 'double' | 'int' | 'string' | 'bool' | 'exists';
  };
};

export type CallEnd = {
  /** The project, `<entity>/<project>`. */
  project_id: ProjectId;
  /** The id of the call. */
  id: Id;
  /** When it ended; without an offset the time is UTC. */
  ended_at: Time;
  /** Any JSON; null without it. */
  output?: unknown;
  /** What it failed with. */
  exception?: string | null;
  /** Anything; the service reads `usage` and `status_counts.error`. */
  summary?: Record<string, unknown> | null;
  /** The run's step at the end. */
  svc_run_step_end?: number | null;
};

export type CallEndReq = {
  /** The call's end. */
  end: CallEnd;
};

export type CallEq = {
  $eq: (CallOperation)[];
};

export type CallFeedback = {
  /** The record's id. */
  id: string;
  /** What kind of feedback it is. */
  feedback_type: string;
  /** The call's ref. */
  svc_ref: string;
  /** As it was given. */
  payload: Record<string, unknown>;
  /** Who gave it, as free text; null if unknown. */
  creator: string | null;
  /** When it was stored. */
  created_at: Timestamp;
  /** The user whose key stored it. */
  svc_user_id: string;
};

export type CallGetField = {
  $getField: CallPath;
};

export type CallGt = {
  $gt: (CallOperation)[];
};

export type CallGte = {
  $gte: (CallOperation)[];
};

export type CallIn = {
  $in: [CallOperation, (CallOperation)[]];
};

export type CallLiteral = {
  $literal: unknown;
};

export type CallLt = {
  $lt: (CallOperation)[];
};

export type CallLte = {
  $lte: (CallOperation)[];
};

export type CallMetric = {
  /** What is counted. */
  metric: 'call_count' | 'error_count' | 'latency_ms';
  /** What is made of it; its sum without this and `percentiles`. */
  aggregations?: ('sum' | 'avg' | 'min' | 'max' | 'count')[] | null;
  /** Percentiles of it, from 0 to 100. */
  percentiles?: (number)[] | null;
};

export type CallNe = {
  $ne: (CallOperation)[];
};

export type CallNot = {
  $not: (CallOperation)[];
};

/**
 * An operation or an operand; each may stand for the other. It has one operator. `$and`, `$or`
 * take lists, `$not` a list of one. `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte` take lists of
 * two. Others: `$in`, `$contains`, `$convert`, `$getField` (a path), `$literal` (any JSON
 * value). At most 5,000 operators in one query, 1,000 deep.
 */
export type CallOperation = CallAnd | CallOr | CallNot | CallEq | CallNe | CallGt | CallGte | CallLt | CallLte | CallIn | CallContains | CallConvert | CallGetField | CallLiteral;

export type CallOr = {
  $or: (CallOperation)[];
};

/**
 * A field, or a dotted path into attributes, inputs, output, summary: `attributes.a.0`. A
 * number indexes a list.
 */
export type CallPath = string;

/** An expression that every record of the answer fulfils. */
export type CallQuery = {
  $expr: CallOperation;
};

export type CallReadReq = {
  /** The project, `<entity>/<project>`. */
  project_id: ProjectId;
  /** The id. */
  id: Id;
  /** Adds what the call cost, by model. */
  include_costs?: boolean | null;
  /** Adds the feedback on the call. */
  include_feedback?: boolean | null;
  /** Adds the size of the call as it was received, in bytes of JSON. */
  include_storage_size?: boolean | null;
  /** Adds the size of all calls of its trace as they were received, in bytes of JSON. */
  include_total_storage_size?: boolean | null;
};

export type CallReadRes = {
  /** The call; null if there is none, or only an end. */
  call: Call | null;
};

export type CallRow = {
  /** The call's id. */
  id: string;
  /** Its project, `<entity>/<project>`. */
  project_id: string;
  /** What was called: a name, or an op ref. */
  op_name: string;
  /** Its display name; null without one. */
  display_name?: string | null;
  /** Its trace. */
  trace_id: string;
  /** The call that made it; null for the root of a trace. */
  parent_id?: string | null;
  /** Its conversation; null without one. */
  thread_id?: string | null;
  /** Its turn of the thread, which is a call; null without one. */
  turn_id?: string | null;
  /** When it started. */
  started_at: Timestamp;
  /** When it ended; null while it runs. */
  ended_at?: Timestamp | null;
  /** As they were given. */
  attributes?: Record<string, unknown>;
  /** As they were given. Expanded columns hold what they refer to. */
  inputs?: Record<string, unknown>;
  /** Any JSON; null without one. */
  output?: unknown;
  /** What it failed with; null if it did not fail. */
  exception?: string | null;
  /** The client's summary, and what the service adds under its own name. */
  summary?: {
    /**
     * Usage as the client reported it, by model: `prompt_tokens`, `completion_tokens` and
     * others.
     */
    usage?: unknown;
    /** What the service says of the call. */
    svc?: {
      /**
       * `running` without an end, `error` with an exception, `descendant_error` if the client
       * counted errors below the call, else `success`.
       */
      status?: 'running' | 'success' | 'error' | 'descendant_error';
      /** Whole milliseconds from start to end; null while the call runs. */
      latency_ms?: number | null;
      /**
       * The display name. Without one, the op's short name if `op_name` is a ref, else
       * `op_name`.
       */
      trace_name?: string;
      /**
       * What the call cost, by model; with `include_costs`. Models without a price are left
       * out.
       */
      costs?: Record<string, ModelCost>;
      /** The feedback on the call, oldest first; with `include_feedback`. */
      feedback?: (CallFeedback)[];
    };
    [key: string]: unknown;
  };
  /** The user whose key reported the start. */
  svc_user_id?: string;
  /** Its run; null without one. */
  svc_run_id?: string | null;
  /** The run's step at the start; null without one. */
  svc_run_step?: number | null;
  /** The run's step at the end; null without one. */
  svc_run_step_end?: number | null;
  /** The size of the call as it was received, in bytes of JSON; with `include_storage_size`. */
  storage_size_bytes?: number;
  /** The size of all calls of its trace; with `include_total_storage_size`. */
  total_storage_size_bytes?: number;
};

export type CallServiceSummary = {
  /**
   * `running` without an end, `error` with an exception, `descendant_error` if the client
   * counted errors below the call, else `success`.
   */
  status: 'running' | 'success' | 'error' | 'descendant_error';
  /** Whole milliseconds from start to end; null while the call runs. */
  latency_ms: number | null;
  /** The display name. Without one, the op's short name if `op_name` is a ref, else `op_name`. */
  trace_name: string;
  /** What the call cost, by model; with `include_costs`. Models without a price are left out. */
  costs?: Record<string, ModelCost>;
  /** The feedback on the call, oldest first; with `include_feedback`. */
  feedback?: (CallFeedback)[];
};

export type CallStart = {
  /** The project, `<entity>/<project>`. */
  project_id: ProjectId;
  /** The id. Without one, what is stored gets a new UUIDv7. */
  id?: Id | null;
  /** What was called: a name, or an op ref `svc:///<entity>/<project>/op/<name>:<digest>`. */
  op_name: Name;
  /** The call's display name. */
  display_name?: Name | null;
  /** Its trace. Without it, the parent's if that is known, else a new one. */
  trace_id?: Id | null;
  /** The call that made it. */
  parent_id?: Id | null;
  /** Its conversation. */
  thread_id?: Id | null;
  /** Its turn of the thread, by a call's id. A turn itself has its own id. */
  turn_id?: Id | null;
  /** When it started; without an offset the time is UTC. */
  started_at: Time;
  /** Anything; `{}` without it. */
  attributes?: Record<string, unknown> | null;
  /** Anything; `{}` without it. */
  inputs?: Record<string, unknown> | null;
  /** Accepted, and overwritten with the user of the key. */
  svc_user_id?: string | null;
  /** The call's run. */
  svc_run_id?: Id | null;
  /** The run's step at the start. */
  svc_run_step?: number | null;
};

export type CallStartReq = {
  /** The call's start. */
  start: CallStart;
};

export type CallStartRes = {
  /** The call's id: the client's, or a new UUIDv7. */
  id: string;
  /** Its trace. */
  trace_id: string;
};

export type CallUpdateReq = {
  /** The project, `<entity>/<project>`. */
  project_id: ProjectId;
  /** The call's id. */
  call_id: Id;
  /** The call's display name. */
  display_name: Name | null;
};

export type CallUpsertBatchReq = {
  /** The items, in order. */
  batch: ({
    /** What the item reports. */
    mode: 'start';
    /** The body of a single report. */
    req: {
      /** The call's start. */
      start: CallStart;
    };
  } | {
    /** What the item reports. */
    mode: 'end';
    /** The body of a single report. */
    req: {
      /** The call's end. */
      end: CallEnd;
    };
  })[];
};

export type CallUpsertBatchRes = {
  /** One answer for each item, in order: ids for a start, `{}` for an end. */
  res: (CallStartRes | Done)[];
};

export type CallsDeleteReq = {
  /** The project, `<entity>/<project>`. */
  project_id: ProjectId;
  /** Calls by their ids. */
  call_ids: (Id)[];
};

export type CallsFilter = {
  /** Ops by name. With `:*` at its end a name means every version of the op. */
  op_names?: (string)[] | null;
  /** Refs anywhere in the inputs. With `:*` at its end a ref means every version. */
  input_refs?: (string)[] | null;
  /** Refs anywhere in the output. With `:*` at its end a ref means every version. */
  output_refs?: (string)[] | null;
  /** Calls below these. */
  parent_ids?: (string)[] | null;
  /** Calls of these traces. */
  trace_ids?: (string)[] | null;
  /** Calls by their ids. */
  call_ids?: (string)[] | null;
  /** Calls of these threads. */
  thread_ids?: (string)[] | null;
  /** Calls of these turns. */
  turn_ids?: (string)[] | null;
  /** Whether only calls without a parent match. */
  trace_roots_only?: boolean | null;
  /** Calls that these users reported. */
  svc_user_ids?: (string)[] | null;
  /** Calls of these runs. */
  svc_run_ids?: (string)[] | null;
};

export type CallsQueryReq = {
  /** The project, `<entity>/<project>`. */
  project_id: ProjectId;
  /** Its fields are ANDed, and the values of one list ORed. An empty list matches nothing. */
  filter?: CallsFilter | null;
  /** The most to answer; all without it, or with null. */
  limit?: number | null;
  /** How many to skip first; none without it, or with null. */
  offset?: number | null;
  /**
   * The order: by the first key, then by the next if equal, and so on. Null and missing values
   * come last.
   */
  sort_by?: ({
    /** What to sort by. */
    field: CallPath;
    /** Ascending or descending. */
    direction: 'asc' | 'desc';
  })[] | null;
  /** An expression, ANDed with the filter; null for none. */
  query?: CallQuery | null;
  /** Adds what the call cost, by model. */
  include_costs?: boolean | null;
  /** Adds the feedback on the call. */
  include_feedback?: boolean | null;
  /** Adds the size of the call as it was received, in bytes of JSON. */
  include_storage_size?: boolean | null;
  /** Adds the size of all calls of its trace as they were received, in bytes of JSON. */
  include_total_storage_size?: boolean | null;
  /**
   * Names of fields, and dotted paths into them; all fields without it. `id`, `project_id`,
   * `op_name`, `trace_id` and `started_at` are always answered.
   */
  columns?: (CallPath)[] | null;
  /**
   * Dotted paths to refs to objects. What a ref refers to takes its place in the query, the
   * order and the answer.
   */
  expand_columns?: (CallPath)[] | null;
  /** false shows the refs themselves in the answer; true without it. */
  return_expanded_column_values?: boolean | null;
};

export type CallsQueryStatsReq = {
  /** The project, `<entity>/<project>`. */
  project_id: ProjectId;
  /** Its fields are ANDed, and the values of one list ORed. An empty list matches nothing. */
  filter?: CallsFilter | null;
  /** An expression, ANDed with the filter; null for none. */
  query?: PlainCallQuery | null;
  /** The most to answer; all without it, or with null. */
  limit?: number | null;
  /** Adds the size of the calls as they were received, in bytes of JSON. */
  include_total_storage_size?: boolean | null;
};

export type CallsQueryStatsRes = {
  /** How many calls match. */
  count: number;
  /** Bytes of JSON; null without `include_total_storage_size`. */
  total_storage_size_bytes: number | null;
};

export type CallsStatsReq = {
  /** The project, `<entity>/<project>`. */
  project_id: ProjectId;
  /** When the first bucket may begin, inclusive. */
  start: Time;
  /** When the last bucket ends, exclusive; now without it. */
  end?: Time | null;
  /**
   * Seconds of a bucket: less than a day, or whole days. Without it there are about 60 to 200
   * buckets.
   */
  granularity?: number | null;
  /** The IANA name of the zone whose midnights buckets are aligned to; `UTC` without it. */
  timezone?: string | null;
  /** Its fields are ANDed, and the values of one list ORed. An empty list matches nothing. */
  filter?: CallsFilter | null;
  /** An expression, ANDed with the filter; null for none. */
  query?: PlainCallQuery | null;
  /** What is counted of calls; nothing without it. */
  call_metrics?: (CallMetric)[] | null;
  /**
   * What is counted of the usage of each model, and of the calls that used it; nothing without
   * it.
   */
  usage_metrics?: (UsageMetric)[] | null;
  /** At most two fields. The 1,000 largest groups are told apart, the rest is under null. */
  group_by?: ('op_name' | 'svc_user_id' | 'status' | 'thread_id' | 'display_name')[] | null;
};

export type CallsStatsRes = {
  /** The beginning, inclusive. */
  start: Timestamp;
  /** The end, exclusive. */
  end: Timestamp;
  /** Seconds of a bucket. */
  granularity: number;
  /** The zone whose midnights buckets are aligned to. */
  timezone: string;
  /** By time and group. */
  call_buckets: (StatsPeriod)[];
  /** By time, group and `model`. */
  usage_buckets: (StatsPeriod)[];
};

export type CallsUsageReq = {
  /** The project, `<entity>/<project>`. */
  project_id: ProjectId;
  /** Calls by their ids. */
  call_ids: (Id)[];
  /** The traces in which the calls are, as far as they are known. */
  trace_ids?: (Id)[] | null;
  /** Adds what the call cost, by model. */
  include_costs?: boolean | null;
};

export type CallsUsageRes = {
  /** By the id of the call, then by model. */
  call_usage: Record<string, Record<string, {
        /** Requests to the model. */
        requests: number;
        /** Tokens of prompts, cached ones included. */
        prompt_tokens: number;
        /** Tokens of completions. */
        completion_tokens: number;
        /** All tokens. */
        total_tokens: number;
        /** Tokens of prompts that were read from the provider's cache. */
        cache_read_input_tokens: number;
        /** Tokens of prompts that were written to the provider's cache. */
        cache_creation_input_tokens: number;
        /** The price of a prompt token, of the latest call. */
        prompt_token_cost?: number;
        /** The price of a completion token, of the latest call. */
        completion_token_cost?: number;
        /** What all tokens of prompts cost. */
        prompt_tokens_total_cost?: number;
        /** What all tokens of completions cost. */
        completion_tokens_total_cost?: number;
        /** Such as `USD`. */
        prompt_token_cost_unit?: string;
        /** Such as `USD`. */
        completion_token_cost_unit?: string;
        /** Since when the price is in force; null for ever. */
        effective_date?: Timestamp | null;
        /** Whose price it is. */
        provider_id?: string;
        /** Whether the project has its own price. */
        pricing_level?: 'project' | 'default';
        /** The project, or `default`. */
        pricing_level_id?: string;
        /** When the price was stored; null for a default one. */
        created_at?: Timestamp | null;
        /** Who stored it, or whose list it is from. */
        created_by?: string;
      }>>;
  /** How many calls failed, of each call and all below it, by its id. */
  error_counts: Record<string, number>;
  /** The calls that run, or have a call below them that runs: they may use more yet. */
  unfinished_call_ids: (string)[];
};

export type Cost = {
  /** The price's id. */
  id?: string;
  /** The model's name. */
  llm_id?: string;
  /** What one token of a prompt costs, in its unit. */
  prompt_token_cost?: number;
  /** What one token of a completion costs, in its unit. */
  completion_token_cost?: number;
  /** Such as `USD`. */
  prompt_token_cost_unit?: string;
  /** Such as `USD`. */
  completion_token_cost_unit?: string;
  /** Calls that started then or later cost this. */
  effective_date?: Timestamp;
  /** Who provides the model. */
  provider_id?: string;
};

export type CostAnd = {
  $and: (CostOperation)[];
};

export type CostContains = {
  $contains: {
    /** The text or list to look in. */
    input: CostOperation;
    /** The text or item to look for. */
    substr: CostOperation;
    /** Whether upper and lower case count as the same; false without it. */
    case_insensitive?: boolean | null;
  };
};

export type CostConvert = {
  $convert: {
    /** The value to convert. */
    input: CostOperation;
    /** The type; `exists` gives whether there is a value. */
    to: 'double' | 'int' | 'string' | 'bool' | 'exists';
  };
};

export type CostCreateReq = {
  /** The project, `<entity>/<project>`. */
  project_id: ProjectId;
  /** The prices, by the names of the models as they stand in `summary.usage`. */
  costs: Record<string, CostTerms>;
};

export type CostCreateRes = {
  /** The name of each model, and the id of its price. */
  ids: ((string)[])[];
};

export type CostEq = {
  $eq: (CostOperation)[];
};

export type CostGetField = {
  $getField: CostPath;
};

export type CostGt = {
  $gt: (CostOperation)[];
};

export type CostGte = {
  $gte: (CostOperation)[];
};

export type CostIn = {
  $in: [CostOperation, (CostOperation)[]];
};

export type CostLiteral = {
  $literal: unknown;
};

export type CostLt = {
  $lt: (CostOperation)[];
};

export type CostLte = {
  $lte: (CostOperation)[];
};

export type CostNe = {
  $ne: (CostOperation)[];
};

export type CostNot = {
  $not: (CostOperation)[];
};

/**
 * An operation or an operand; each may stand for the other. It has one operator. `$and`, `$or`
 * take lists, `$not` a list of one. `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte` take lists of
 * two. Others: `$in`, `$contains`, `$convert`, `$getField` (a path), `$literal` (any JSON
 * value). At most 5,000 operators in one query, 1,000 deep.
 */
export type CostOperation = CostAnd | CostOr | CostNot | CostEq | CostNe | CostGt | CostGte | CostLt | CostLte | CostIn | CostContains | CostConvert | CostGetField | CostLiteral;

export type CostOr = {
  $or: (CostOperation)[];
};

/** A field. */
export type CostPath = string;

export type CostPurgeReq = {
  /** The project, `<entity>/<project>`. */
  project_id: ProjectId;
  /** Which prices. */
  query: PurgeQuery;
};

/** An expression that every record of the answer fulfils. */
export type CostQuery = {
  $expr: CostOperation;
};

export type CostQueryReq = {
  /** The project, `<entity>/<project>`. */
  project_id: ProjectId;
  /** The fields to answer. All without it. */
  fields?: ('id' | 'llm_id' | 'prompt_token_cost' | 'completion_token_cost' | 'prompt_token_cost_unit' | 'completion_token_cost_unit' | 'effective_date' | 'provider_id')[] | null;
  /** An expression, ANDed with the filter; null for none. */
  query?: CostQuery | null;
  /**
   * The order: by the first key, then by the next if equal, and so on. Null and missing values
   * come last.
   */
  sort_by?: ({
    /** What to sort by. */
    field: CostPath;
    /** Ascending or descending. */
    direction: 'asc' | 'desc';
  })[] | null;
  /** The most to answer; all without it, or with null. */
  limit?: number | null;
  /** How many to skip first; none without it, or with null. */
  offset?: number | null;
};

export type CostQueryRes = {
  /** The prices, in order. */
  results: (Cost)[];
};

export type CostTerms = {
  /** What one token of a prompt costs, in its unit. */
  prompt_token_cost: number;
  /** What one token of a completion costs, in its unit. */
  completion_token_cost: number;
  /** `USD` without it. */
  prompt_token_cost_unit?: Id | null;
  /** `USD` without it. */
  completion_token_cost_unit?: Id | null;
  /** Calls from then on cost this; now without it. */
  effective_date?: Time | null;
  /** Who provides the model; `default` without it. */
  provider_id?: Id | null;
};

export type DeletedRes = {
  /** How many there were. */
  num_deleted: number;
};

export type Digest = string;

export type Done = Record<string, never>;

export type Error = {
  /** The problems of the request, at most 100. */
  detail: (ErrorDetail)[];
};

export type ErrorDetail = {
  /** Its place: `["body", "batch", "3", "req", "start", "op_name"]`, `["header", "accept"]`. */
  loc: (string)[];
  /** What should be there. */
  msg: string;
  /** Its kind, by pydantic's names: `missing`, `string_type`, `value_error`, … */
  type: string;
};

export type Feedback = {
  /** The record's id. */
  id?: string;
  /** Its project, `<entity>/<project>`. */
  project_id?: string;
  /** What it is attached to. */
  svc_ref?: string;
  /** What kind of feedback it is. */
  feedback_type?: string;
  /** As it was given. */
  payload?: Record<string, unknown>;
  /** Who gave it, as free text; null if unknown. */
  creator?: string | null;
  /** An object ref; null without one. */
  annotation_ref?: string | null;
  /** An op ref; null without one. */
  runnable_ref?: string | null;
  /** A call ref; null without one. */
  call_ref?: string | null;
  /** An object ref; null without one. */
  trigger_ref?: string | null;
  /** When it was stored. */
  created_at?: Timestamp;
  /** The user whose key stored it. */
  svc_user_id?: string;
};

export type FeedbackAnd = {
  $and: (FeedbackOperation)[];
};

export type FeedbackBatchCreateReq = {
  /** The items, in order. */
  batch: (FeedbackCreateReq)[];
};

export type FeedbackBatchCreateRes = {
  /** One answer for each record, in order. */
  res: (FeedbackCreateRes)[];
};

export type FeedbackContains = {
  $contains: {
    /** The text or list to look in. */
    input: FeedbackOperation;
    /** The text or item to look for. */
    substr: FeedbackOperation;
    /** Whether upper and lower case count as the same; false without it. */
    case_insensitive?: boolean | null;
  };
};

export type FeedbackConvert = {
  $convert: {
    /** The value to convert. */
    input: FeedbackOperation;
    /** The type; `exists` gives whether there is a value. */
    to: 'double' | 'int' | 'string' | 'bool' | 'exists';
  };
};

export type FeedbackCreateReq = {
  /** The project, `<entity>/<project>`. */
  project_id: ProjectId;
  /** The id. Without one, what is stored gets a new UUIDv7. */
  id?: Id | null;
  /** What it is attached to: an object, op or call. */
  svc_ref: string;
  /** What kind of feedback it is: a short word. */
  feedback_type: Name;
  /** Anything, up to 1 MiB of JSON. */
  payload: Record<string, unknown>;
  /** Who gives it, as free text. */
  creator?: string | null;
  /** An object ref. */
  annotation_ref?: string | null;
  /** An op ref. */
  runnable_ref?: string | null;
  /** A call ref. */
  call_ref?: string | null;
  /** An object ref. */
  trigger_ref?: string | null;
  /** Accepted, and overwritten with the user of the key. */
  svc_user_id?: string | null;
};

export type FeedbackCreateRes = {
  /** The record's id: the client's, or a new UUIDv7. */
  id: string;
  /** When it was stored. */
  created_at: Timestamp;
  /** The user whose key stored it. */
  svc_user_id: string;
  /** As it was stored. */
  payload: Record<string, unknown>;
};

export type FeedbackEq = {
  $eq: (FeedbackOperation)[];
};

export type FeedbackGetField = {
  $getField: FeedbackPath;
};

export type FeedbackGt = {
  $gt: (FeedbackOperation)[];
};

export type FeedbackGte = {
  $gte: (FeedbackOperation)[];
};

export type FeedbackIn = {
  $in: [FeedbackOperation, (FeedbackOperation)[]];
};

export type FeedbackLiteral = {
  $literal: unknown;
};

export type FeedbackLt = {
  $lt: (FeedbackOperation)[];
};

export type FeedbackLte = {
  $lte: (FeedbackOperation)[];
};

export type FeedbackNe = {
  $ne: (FeedbackOperation)[];
};

export type FeedbackNot = {
  $not: (FeedbackOperation)[];
};

/**
 * An operation or an operand; each may stand for the other. It has one operator. `$and`, `$or`
 * take lists, `$not` a list of one. `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte` take lists of
 * two. Others: `$in`, `$contains`, `$convert`, `$getField` (a path), `$literal` (any JSON
 * value). At most 5,000 operators in one query, 1,000 deep.
 */
export type FeedbackOperation = FeedbackAnd | FeedbackOr | FeedbackNot | FeedbackEq | FeedbackNe | FeedbackGt | FeedbackGte | FeedbackLt | FeedbackLte | FeedbackIn | FeedbackContains | FeedbackConvert | FeedbackGetField | FeedbackLiteral;

export type FeedbackOr = {
  $or: (FeedbackOperation)[];
};

/** A field, or a dotted path into payload: `payload.a.0`. A number indexes a list. */
export type FeedbackPath = string;

export type FeedbackPurgeReq = {
  /** The project, `<entity>/<project>`. */
  project_id: ProjectId;
  /** Which records. */
  query: PurgeQuery;
};

/** An expression that every record of the answer fulfils. */
export type FeedbackQuery = {
  $expr: FeedbackOperation;
};

export type FeedbackQueryReq = {
  /** The project, `<entity>/<project>`. */
  project_id: ProjectId;
  /** The fields to answer, also dotted paths into the payload. All without it. */
  fields?: (FeedbackPath)[] | null;
  /** An expression, ANDed with the filter; null for none. */
  query?: FeedbackQuery | null;
  /**
   * The order: by the first key, then by the next if equal, and so on. Null and missing values
   * come last.
   */
  sort_by?: ({
    /** What to sort by. */
    field: FeedbackPath;
    /** Ascending or descending. */
    direction: 'asc' | 'desc';
  })[] | null;
  /** The most to answer; all without it, or with null. */
  limit?: number | null;
  /** How many to skip first; none without it, or with null. */
  offset?: number | null;
};

export type FeedbackQueryRes = {
  /** The records, in order. */
  result: (Feedback)[];
};

export type FeedbackReplaceReq = {
  /** The project, `<entity>/<project>`. */
  project_id: ProjectId;
  /** The id. Without one, what is stored gets a new UUIDv7. */
  id?: Id | null;
  /** What it is attached to: an object, op or call. */
  svc_ref: string;
  /** What kind of feedback it is: a short word. */
  feedback_type: Name;
  /** Anything, up to 1 MiB of JSON. */
  payload: Record<string, unknown>;
  /** Who gives it, as free text. */
  creator?: string | null;
  /** An object ref. */
  annotation_ref?: string | null;
  /** An op ref. */
  runnable_ref?: string | null;
  /** A call ref. */
  call_ref?: string | null;
  /** An object ref. */
  trigger_ref?: string | null;
  /** Accepted, and overwritten with the user of the key. */
  svc_user_id?: string | null;
  /** The record to replace. */
  feedback_id: Id;
};

export type HealthRes = {
  /** Always `up`: any other state is an error or no answer. */
  status: 'up';
  /** The service's version. */
  version: string;
};

export type Id = string;

export type InferenceReq = {
  /** The model's name. It decides on the upstream. */
  model: Id;
  /** The conversation so far. */
  messages?: (unknown)[];
  /** Seconds until the request ends in a 504; not passed on. */
  timeout?: number | null;
  /** Passed on. */
  temperature?: number | null;
  /** Passed on. */
  top_p?: number | null;
  /** Passed on. */
  n?: number | null;
  /** A text or a list of texts; passed on. */
  stop?: unknown;
  /** Passed on. */
  max_completion_tokens?: number | null;
  /** Passed on. */
  max_tokens?: number | null;
  /** Passed on. */
  modalities?: (unknown)[] | null;
  /** Passed on. */
  presence_penalty?: number | null;
  /** Passed on. */
  frequency_penalty?: number | null;
  /** Whether the answer comes as server-sent events. */
  stream?: boolean | null;
  /** Passed on. */
  logit_bias?: Record<string, unknown>;
  /** Passed on. */
  user?: string | null;
  /** Passed on. */
  response_format?: Record<string, unknown>;
  /** Passed on. */
  seed?: number | null;
  /** Passed on. */
  tools?: (unknown)[] | null;
  /** A text or an object; passed on. */
  tool_choice?: unknown;
  /** Passed on. */
  logprobs?: boolean | null;
  /** Passed on. */
  top_logprobs?: number | null;
  /** Passed on. */
  parallel_tool_calls?: boolean | null;
  /** Headers for the upstream, except those of the connection; not passed on in the body. */
  extra_headers?: Record<string, string>;
  /** Passed on. */
  functions?: (unknown)[] | null;
  /** Passed on. */
  function_call?: string | null;
  /** The upstream's `api-version` query parameter; not passed on in the body. */
  api_version?: string | null;
  [key: string]: unknown;
};

export type MeRes = {
  /** The key's user. What the key writes has this name. */
  user: string;
  /** The key's id, which is no secret. */
  key_id: string;
  /** When the key expires; null for never. */
  expires_at: Timestamp | null;
  /** What the key may do. */
  grants: ({
    /** A project, `<entity>/*` for those of an entity, or `*` for all. */
    resource: string;
    /** What it allows; `write` includes `read`. */
    role: 'read' | 'write' | 'inference';
  })[];
  /** The service that answers. */
  service: {
    /** The service's name, which other names begin with. */
    name: string;
    /** The service's version. */
    version: string;
  };
};

export type ModelCost = {
  /** Tokens of the prompts, cached ones included. */
  prompt_tokens: number;
  /** Tokens of the completions. */
  completion_tokens: number;
  /** Requests to the model. */
  requests: number;
  /** Tokens in all. */
  total_tokens: number;
  /** What one token of a prompt costs, in its unit. */
  prompt_token_cost: number;
  /** What one token of a completion costs, in its unit. */
  completion_token_cost: number;
  /** What the tokens of the prompts cost, in their unit. */
  prompt_tokens_total_cost: number;
  /** What the tokens of the completions cost, in their unit. */
  completion_tokens_total_cost: number;
  /** Such as `USD`. */
  prompt_token_cost_unit: string;
  /** Such as `USD`. */
  completion_token_cost_unit: string;
  /** When the price came into force; null if that is unknown. */
  effective_date: Timestamp | null;
  /** Who provides the model. */
  provider_id: string;
  /** Whose price it is: the project's own, or the default. */
  pricing_level: 'project' | 'default';
  /** The project's id, or `default`. */
  pricing_level_id: string;
  /** When the price was stored; null for a default one. */
  created_at: Timestamp | null;
  /** Who stored the price. */
  created_by: string;
};

export type Name = string;

export type ObjCreateReq = {
  /** The new version. */
  obj: {
    /** The project, `<entity>/<project>`. */
    project_id: ProjectId;
    /** The object's name. */
    object_id: ObjectId;
    /** The value, any JSON. */
    val: unknown;
    /** Accepted, and overwritten with the user of the key. */
    svc_user_id?: string | null;
  };
};

export type ObjCreateRes = {
  /** The digest of the value, for refs to it. */
  digest: string;
  /** The object's name. */
  object_id: string;
};

export type ObjDeleteReq = {
  /** The project, `<entity>/<project>`. */
  project_id: ProjectId;
  /** The object's name. */
  object_id: ObjectId;
  /** The digests of the versions; all versions without it. */
  digests?: (Digest)[] | null;
};

export type ObjReadReq = {
  /** The project, `<entity>/<project>`. */
  project_id: ProjectId;
  /** The object's name. */
  object_id: ObjectId;
  /** A digest, `latest`, or `v0`, `v1`, …. */
  digest: Id;
};

export type ObjReadRes = {
  /** The version, with its value. */
  obj: ObjectVersion;
};

export type ObjectId = string;

export type ObjectVersion = {
  /** Its project, `<entity>/<project>`. */
  project_id: string;
  /** The object's name. */
  object_id: string;
  /** The SHA-256 of the value's canonical JSON (RFC 8785), in base64url. */
  digest: string;
  /** 0, 1, 2, … in the order in which the versions were made. */
  version_index: number;
  /** 1 for the newest version that has not been deleted, else 0. */
  is_latest: 0 | 1;
  /** `op` if the value has `"_type": "op"`, else `object`. */
  kind: 'object' | 'op';
  /** The class that the value's own class extends; null if it names none. */
  base_object_class: string | null;
  /** When it was made. */
  created_at: Timestamp;
  /** The user whose key made it. */
  svc_user_id: string;
  /** The value, any JSON; null with `metadata_only`. */
  val: unknown;
};

export type ObjectsFilter = {
  /** These objects. */
  object_ids?: (string)[] | null;
  /** true for ops alone, false for all else alone. */
  is_op?: boolean | null;
  /** Whether only the latest version of each object matches. */
  latest_only?: boolean | null;
  /** Objects of these classes. */
  base_object_classes?: (string)[] | null;
};

export type ObjsQueryReq = {
  /** The project, `<entity>/<project>`. */
  project_id: ProjectId;
  /** Its fields are ANDed, and the values of one list ORed. An empty list matches nothing. */
  filter?: ObjectsFilter | null;
  /** The most to answer; all without it, or with null. */
  limit?: number | null;
  /** How many to skip first; none without it, or with null. */
  offset?: number | null;
  /**
   * The order: by the first key, then by the next if equal, and so on. Null and missing values
   * come last.
   */
  sort_by?: ({
    /** What to sort by. */
    field: 'object_id' | 'version_index' | 'created_at';
    /** Ascending or descending. */
    direction: 'asc' | 'desc';
  })[] | null;
  /** Whether values are left out. */
  metadata_only?: boolean | null;
};

export type ObjsQueryRes = {
  /** The versions, in order. */
  objs: (ObjectVersion)[];
};

export type OpenApiRes = {
  /** The version of OpenAPI. */
  openapi: string;
  [key: string]: unknown;
};

export type OtlpPartialSuccess = {
  /** How many spans were not taken, a 64-bit integer. */
  rejectedSpans?: string;
  /** Why, for each reason. */
  errorMessage?: string;
};

export type OtlpTracesRes = {
  /** What was not taken; absent if all was. */
  partialSuccess?: OtlpPartialSuccess;
};

export type PlainCallAnd = {
  $and: (PlainCallOperation)[];
};

export type PlainCallContains = {
  $contains: {
    /** The text or list to look in. */
    input: PlainCallOperation;
    /** The text or item to look for. */
    substr: PlainCallOperation;
    /** Whether upper and lower case count as the same; false without it. */
    case_insensitive?: boolean | null;
  };
};

export type PlainCallConvert = {
  $convert: {
    /** The value to convert. */
    input: PlainCallOperation;
    /** The type; `exists` gives whether there is a value. */
    to: 'double' | 'int' | 'string' | 'bool' | 'exists';
  };
};

export type PlainCallEq = {
  $eq: (PlainCallOperation)[];
};

export type PlainCallGetField = {
  $getField: PlainCallPath;
};

export type PlainCallGt = {
  $gt: (PlainCallOperation)[];
};

export type PlainCallGte = {
  $gte: (PlainCallOperation)[];
};

export type PlainCallIn = {
  $in: [PlainCallOperation, (PlainCallOperation)[]];
};

export type PlainCallLiteral = {
  $literal: unknown;
};

export type PlainCallLt = {
  $lt: (PlainCallOperation)[];
};

export type PlainCallLte = {
  $lte: (PlainCallOperation)[];
};

export type PlainCallNe = {
  $ne: (PlainCallOperation)[];
};

export type PlainCallNot = {
  $not: (PlainCallOperation)[];
};

/**
 * An operation or an operand; each may stand for the other. It has one operator. `$and`, `$or`
 * take lists, `$not` a list of one. `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte` take lists of
 * two. Others: `$in`, `$contains`, `$convert`, `$getField` (a path), `$literal` (any JSON
 * value). At most 5,000 operators in one query, 1,000 deep.
 */
export type PlainCallOperation = PlainCallAnd | PlainCallOr | PlainCallNot | PlainCallEq | PlainCallNe | PlainCallGt | PlainCallGte | PlainCallLt | PlainCallLte | PlainCallIn | PlainCallContains | PlainCallConvert | PlainCallGetField | PlainCallLiteral;

export type PlainCallOr = {
  $or: (PlainCallOperation)[];
};

/**
 * A field, or a dotted path into attributes, inputs, output, summary: `attributes.a.0`. A
 * number indexes a list.
 */
export type PlainCallPath = string;

/** An expression that every record of the answer fulfils. */
export type PlainCallQuery = {
  $expr: PlainCallOperation;
};

export type ProjectId = string;

export type ProjectsQueryReq = {
  /** The most to answer; all without it, or with null. */
  limit?: number | null;
  /** How many to skip first; none without it, or with null. */
  offset?: number | null;
};

export type ProjectsQueryRes = {
  /** By name. */
  projects: ({
    /** The project, `<entity>/<project>`. */
    project_id: string;
    /** When it was first written to. */
    first_reported_at: Timestamp;
  })[];
};

export type PurgeQuery = {
  $expr: {
    $eq: [{
      $getField: 'id';
    }, {
      $literal: string;
    }];
  } | {
    $eq: [{
      $literal: string;
    }, {
      $getField: 'id';
    }];
  } | {
    $or: ({
      $eq: [{
        $getField: 'id';
      }, {
        $literal: string;
      }];
    } | {
      $eq: [{
        $literal: string;
      }, {
        $getField: 'id';
      }];
    })[];
  };
};

export type RefsReadBatchReq = {
  /** Refs to objects and ops. */
  refs: (string)[];
};

export type RefsReadBatchRes = {
  /** The values in the order of the refs; null for a ref to nothing. */
  vals: (unknown)[];
};

export type StatsPeriod = {
  /** When the bucket begins. */
  timestamp: Timestamp;
  [key: string]: unknown;
};

export type Thread = {
  /** The thread's id. */
  thread_id: string;
  /** Its turns, running ones included. */
  turn_count: number;
  /** When its first turn started. */
  start_time: Timestamp;
  /** The latest end of a turn. A running turn counts with its start. */
  last_updated: Timestamp;
  /** The turn with `start_time`. */
  first_turn_id: string;
  /** The turn with `last_updated`. */
  last_turn_id: string;
  /**
   * The median duration of its finished turns, in milliseconds with fractions; null while none
   * has finished.
   */
  p50_turn_duration_ms: number | null;
  /**
   * The 99th percentile of the durations of its finished turns, in milliseconds with fractions;
   * null while none has finished.
   */
  p99_turn_duration_ms: number | null;
};

export type ThreadsQueryFilter = {
  /** Threads whose `start_time` is later. */
  after_datetime?: Time | null;
  /** Threads whose `last_updated` is earlier. */
  before_datetime?: Time | null;
  /** These threads. */
  thread_ids?: (string)[] | null;
};

export type ThreadsQueryReq = {
  /** The project, `<entity>/<project>`. */
  project_id: ProjectId;
  /** Its fields are ANDed, and the values of one list ORed. An empty list matches nothing. */
  filter?: ThreadsQueryFilter | null;
  /** The most to answer; all without it, or with null. */
  limit?: number | null;
  /** How many to skip first; none without it, or with null. */
  offset?: number | null;
  /**
   * The order: by the first key, then by the next if equal, and so on. Null and missing values
   * come last.
   */
  sort_by?: ({
    /** What to sort by. */
    field: 'thread_id' | 'turn_count' | 'start_time' | 'last_updated' | 'p50_turn_duration_ms' | 'p99_turn_duration_ms';
    /** Ascending or descending. */
    direction: 'asc' | 'desc';
  })[] | null;
};

export type Time = string;

/** In UTC, with six fraction digits and `Z`. */
export type Timestamp = string;

export type UsageMetric = {
  /** What is counted. */
  metric: 'input_tokens' | 'output_tokens' | 'total_tokens' | 'cache_read_input_tokens' | 'cache_creation_input_tokens' | 'input_cost' | 'output_cost' | 'total_cost' | 'error_count' | 'latency_ms';
  /** What is made of it; its sum without this and `percentiles`. */
  aggregations?: ('sum' | 'avg' | 'min' | 'max' | 'count')[] | null;
  /** Percentiles of it, from 0 to 100. */
  percentiles?: (number)[] | null;
};

/** What each operation takes and answers; `undefined` for no body or no JSON. */
export interface Api {
  'POST /call/start': {
    request: CallStartReq;
    answer: CallStartRes;
  };
  'POST /call/end': {
    request: CallEndReq;
    answer: Done;
  };
  'POST /call/upsert_batch': {
    request: CallUpsertBatchReq;
    answer: CallUpsertBatchRes;
  };
  'POST /call/read': {
    request: CallReadReq;
    answer: CallReadRes;
  };
  'POST /calls/stream_query': {
    request: CallsQueryReq;
    answer: (CallRow)[];
  };
  'POST /calls/query_stats': {
    request: CallsQueryStatsReq;
    answer: CallsQueryStatsRes;
  };
  'POST /call/update': {
    request: CallUpdateReq;
    answer: Done;
  };
  'POST /calls/delete': {
    request: CallsDeleteReq;
    answer: DeletedRes;
  };
  'POST /calls/stats': {
    request: CallsStatsReq;
    answer: CallsStatsRes;
  };
  'POST /calls/usage': {
    request: CallsUsageReq;
    answer: CallsUsageRes;
  };
  'POST /otel/v1/traces': {
    request: {
      /** Resources, each with its spans by scope. */
      resourceSpans?: (Record<string, never>)[];
    };
    answer: OtlpTracesRes;
  };
  'POST /threads/stream_query': {
    request: ThreadsQueryReq;
    answer: (Thread)[];
  };
  'POST /obj/create': {
    request: ObjCreateReq;
    answer: ObjCreateRes;
  };
  'POST /obj/read': {
    request: ObjReadReq;
    answer: ObjReadRes;
  };
  'POST /objs/query': {
    request: ObjsQueryReq;
    answer: ObjsQueryRes;
  };
  'POST /refs/read_batch': {
    request: RefsReadBatchReq;
    answer: RefsReadBatchRes;
  };
  'POST /obj/delete': {
    request: ObjDeleteReq;
    answer: DeletedRes;
  };
  'POST /cost/create': {
    request: CostCreateReq;
    answer: CostCreateRes;
  };
  'POST /cost/query': {
    request: CostQueryReq;
    answer: CostQueryRes;
  };
  'POST /cost/purge': {
    request: CostPurgeReq;
    answer: Done;
  };
  'POST /feedback/create': {
    request: FeedbackCreateReq;
    answer: FeedbackCreateRes;
  };
  'POST /feedback/batch/create': {
    request: FeedbackBatchCreateReq;
    answer: FeedbackBatchCreateRes;
  };
  'POST /feedback/replace': {
    request: FeedbackReplaceReq;
    answer: FeedbackCreateRes;
  };
  'POST /feedback/query': {
    request: FeedbackQueryReq;
    answer: FeedbackQueryRes;
  };
  'POST /feedback/purge': {
    request: FeedbackPurgeReq;
    answer: Done;
  };
  'POST /inference/v1/chat/completions': {
    request: InferenceReq;
    answer: Record<string, unknown>;
  };
  'POST /inference/v1/completions': {
    request: InferenceReq;
    answer: Record<string, unknown>;
  };
  'POST /inference/v1/embeddings': {
    request: InferenceReq;
    answer: Record<string, unknown>;
  };
  'POST /inference/v1/responses': {
    request: InferenceReq;
    answer: Record<string, unknown>;
  };
  'GET /me': {
    request: undefined;
    answer: MeRes;
  };
  'POST /projects/query': {
    request: ProjectsQueryReq;
    answer: ProjectsQueryRes;
  };
  'GET /health': {
    request: undefined;
    answer: HealthRes;
  };
  'GET /openapi.json': {
    request: undefined;
    answer: OpenApiRes;
  };
}
