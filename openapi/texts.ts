import type { WireNames } from '../core/foundations/wire/index.ts';
import { weaveTexts } from './texts/weave.ts';

/** What the fields of requests mean, by their names. */
export type Texts = Readonly<Record<string, string>>;

const includes: Texts = {
  include_costs: 'Adds what the call cost, by model.',
  include_feedback: 'Adds the feedback on the call.',
  include_storage_size: 'Adds the size of the call as it was received, in bytes of JSON.',
  include_total_storage_size:
    'Adds the size of all calls of its trace as they were received, in bytes of JSON.',
};

const querying: Texts = {
  filter: 'Its fields are ANDed, and the values of one list ORed. An empty list matches nothing.',
  query: 'An expression, ANDed with the filter; null for none.',
  limit: 'The most to answer; all without it, or with null.',
  offset: 'How many to skip first; none without it, or with null.',
  sort_by:
    'The order: by the first key, then by the next if equal, and so on. Null and missing values come last.',
  field: 'What to sort by.',
  direction: 'Ascending or descending.',
};

const statistics: Texts = {
  granularity:
    'Seconds of a bucket: less than a day, or whole days. Without it there are about 60 to 200 buckets.',
  timezone: 'The IANA name of the zone whose midnights buckets are aligned to; `UTC` without it.',
  call_metrics: 'What is counted of calls; nothing without it.',
  usage_metrics:
    'What is counted of the usage of each model, and of the calls that used it; nothing without it.',
  metric: 'What is counted.',
  aggregations: 'What is made of it; its sum without this and `percentiles`.',
  percentiles: 'Percentiles of it, from 0 to 100.',
  group_by: 'At most two fields. The 1,000 largest groups are told apart, the rest is under null.',
};

const language: Texts = {
  input: 'The text or list to look in, or the value to convert.',
  substr: 'The text or item to look for.',
  case_insensitive: 'Whether upper and lower case count as the same; false without it.',
  to: 'The type; `exists` gives whether there is a value.',
};

const inference: Texts = {
  model: "The model's name. It decides on the upstream.",
  messages: 'The conversation so far.',
  timeout: 'Seconds until the request ends in a 504; not passed on.',
  temperature: 'Passed on.',
  top_p: 'Passed on.',
  n: 'Passed on.',
  stop: 'A text or a list of texts; passed on.',
  max_completion_tokens: 'Passed on.',
  max_tokens: 'Passed on.',
  modalities: 'Passed on.',
  presence_penalty: 'Passed on.',
  frequency_penalty: 'Passed on.',
  stream: 'Whether the answer comes as server-sent events.',
  logit_bias: 'Passed on.',
  user: 'Passed on.',
  response_format: 'Passed on.',
  seed: 'Passed on.',
  tools: 'Passed on.',
  tool_choice: 'A text or an object; passed on.',
  logprobs: 'Passed on.',
  top_logprobs: 'Passed on.',
  parallel_tool_calls: 'Passed on.',
  extra_headers: 'Headers for the upstream, except those of the connection; not passed on in the body.',
  functions: 'Passed on.',
  function_call: 'Passed on.',
  api_version: "The upstream's `api-version` query parameter; not passed on in the body.",
};

const calls = (names: WireNames): Texts => ({
  start: "The call's start. Of statistics: when the first bucket may begin, inclusive.",
  end: "The call's end. Of statistics: when the last bucket ends, exclusive; now without it.",
  batch: 'The items, in order.',
  mode: 'What the item reports.',
  req: 'The body of a single report.',
  partialSuccess: 'What was not taken; absent if all was.',
  op_name: `What was called: a name, or an op ref \`${names.refScheme}<entity>/<project>/op/<name>:<digest>\`.`,
  display_name: "The call's display name.",
  trace_id: "Its trace. Without it, the parent's if that is known, else a new one.",
  parent_id: 'The call that made it.',
  thread_id: 'Its conversation.',
  turn_id: "Its turn of the thread, by a call's id. A turn itself has its own id.",
  started_at: 'When it started; without an offset the time is UTC.',
  ended_at: 'When it ended; without an offset the time is UTC.',
  attributes: 'Anything; `{}` without it.',
  inputs: 'Anything; `{}` without it.',
  output: 'Any JSON; null without it.',
  exception: 'What it failed with.',
  summary: 'Anything; the service reads `usage` and `status_counts.error`.',
  call_id: "The call's id.",
  call_ids: 'Calls by their ids.',
  [names.runId]: "The call's run.",
  [names.runStep]: "The run's step at the start.",
  [names.runStepEnd]: "The run's step at the end.",
  columns:
    'Names of fields, and dotted paths into them; all fields without it. `id`, `project_id`, `op_name`, `trace_id` and `started_at` are always answered.',
  expand_columns:
    'Dotted paths to refs to objects. What a ref refers to takes its place in the query, the order and the answer.',
  return_expanded_column_values: 'false shows the refs themselves in the answer; true without it.',
});

const filters = (names: WireNames): Texts => ({
  op_names: 'Ops by name. With `:*` at its end a name means every version of the op.',
  input_refs: 'Refs anywhere in the inputs. With `:*` at its end a ref means every version.',
  output_refs: 'Refs anywhere in the output. With `:*` at its end a ref means every version.',
  parent_ids: 'Calls below these.',
  trace_ids: 'Calls of these traces.',
  thread_ids: 'These threads, or calls of them.',
  turn_ids: 'Calls of these turns.',
  trace_roots_only: 'Whether only calls without a parent match.',
  [names.userIds]: 'Calls that these users reported.',
  [names.runIds]: 'Calls of these runs.',
  after_datetime: 'Threads whose `start_time` is later.',
  before_datetime: 'Threads whose `last_updated` is earlier.',
  object_ids: 'These objects.',
  is_op: 'true for ops alone, false for all else alone.',
  latest_only: 'Whether only the latest version of each object matches.',
  base_object_classes: 'Objects of these classes.',
});

const objects: Texts = {
  obj: 'The new version.',
  object_id: "The object's name.",
  val: 'The value, any JSON.',
  digest: 'A digest, `latest`, or `v0`, `v1`, ….',
  digests: 'The digests of the versions; all versions without it.',
  metadata_only: 'Whether values are left out.',
  refs: 'Refs to objects and ops.',
};

const costs: Texts = {
  costs: 'The prices, by the names of the models as they stand in `summary.usage`.',
  prompt_token_cost: 'What one token of a prompt costs, in its unit.',
  completion_token_cost: 'What one token of a completion costs, in its unit.',
  prompt_token_cost_unit: '`USD` without it.',
  completion_token_cost_unit: '`USD` without it.',
  effective_date: 'Calls from then on cost this; now without it.',
  provider_id: 'Who provides the model; `default` without it.',
  fields: 'The fields to answer; of feedback also dotted paths into the payload. All without it.',
};

const feedback = (names: WireNames): Texts => ({
  feedback_id: 'The record to replace.',
  [names.ref]: 'What it is attached to: an object, op or call.',
  feedback_type: 'What kind of feedback it is: a short word.',
  payload: 'Anything, up to 1 MiB of JSON.',
  creator: 'Who gives it, as free text.',
  annotation_ref: 'An object ref.',
  runnable_ref: 'An op ref.',
  call_ref: 'A call ref.',
  trigger_ref: 'An object ref.',
});

/** What the fields of all requests mean. */
export const textsOf = (names: WireNames): Texts => ({
  project_id: 'The project, `<entity>/<project>`.',
  id: 'The id. Without one, what is stored gets a new UUIDv7.',
  [names.userId]: 'Accepted, and overwritten with the user of the key.',
  ...includes,
  ...querying,
  ...statistics,
  ...language,
  ...inference,
  ...calls(names),
  ...filters(names),
  ...objects,
  ...costs,
  ...feedback(names),
  ...(names.dialect === 'weave' && weaveTexts),
});
