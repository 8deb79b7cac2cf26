import * as z from 'zod/mini';
import type { WireNames } from '../../core/foundations/wire/index.ts';
import { documented } from '../../core/foundations/wire/schema.ts';
import { bytes, field, freeObject, integer, timestamp } from './fields.ts';

/** What one model cost in a call. */
export const modelCost = z
  .object({
    prompt_tokens: field(integer, 'Tokens of the prompts, cached ones included.'),
    completion_tokens: field(integer, 'Tokens of the completions.'),
    requests: field(integer, 'Requests to the model.'),
    total_tokens: field(integer, 'Tokens in all.'),
    prompt_token_cost: field(z.number(), 'What one token of a prompt costs, in its unit.'),
    completion_token_cost: field(z.number(), 'What one token of a completion costs, in its unit.'),
    prompt_tokens_total_cost: field(z.number(), 'What the tokens of the prompts cost, in their unit.'),
    completion_tokens_total_cost: field(
      z.number(),
      'What the tokens of the completions cost, in their unit.',
    ),
    prompt_token_cost_unit: field(z.string(), 'Such as `USD`.'),
    completion_token_cost_unit: field(z.string(), 'Such as `USD`.'),
    effective_date: field(z.nullable(timestamp), 'When the price came into force; null if that is unknown.'),
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

const callFeedback = (names: WireNames) =>
  z
    .object({
      id: field(z.string(), "The record's id."),
      feedback_type: field(z.string(), 'What kind of feedback it is.'),
      [names.ref]: field(z.string(), "The call's ref."),
      payload: field(freeObject, 'As it was given.'),
      creator: field(z.nullable(z.string()), 'Who gave it, as free text; null if unknown.'),
      created_at: field(timestamp, 'When it was stored.'),
      [names.userId]: field(z.string(), 'The user whose key stored it.'),
    })
    .register(documented, { name: 'CallFeedback' });

const status = z.enum(['running', 'success', 'error', 'descendant_error']);

const serviceBlock = (names: WireNames) => ({
  status: field(
    status,
    '`running` without an end, `error` with an exception, `descendant_error` if the client counted errors below the call, else `success`.',
  ),
  latency_ms: field(z.nullable(integer), 'Whole milliseconds from start to end; null while the call runs.'),
  trace_name: field(
    z.string(),
    "The display name. Without one, the op's short name if `op_name` is a ref, else `op_name`.",
  ),
  costs: field(
    z.optional(z.record(z.string(), modelCost)),
    'What the call cost, by model; with `include_costs`. Models without a price are left out.',
  ),
  feedback: field(
    z.optional(z.array(callFeedback(names))),
    'The feedback on the call, oldest first; with `include_feedback`.',
  ),
});

const blockText = 'What the service says of the call.';
const usage = z.optional(z.unknown());
const usageText =
  'Usage as the client reported it, by model: `prompt_tokens`, `completion_tokens` and others.';

/** The columns that are always answered. */
const always = {
  id: field(z.string(), "The call's id."),
  project_id: field(z.string(), 'Its project, `<entity>/<project>`.'),
  op_name: field(z.string(), 'What was called: a name, or an op ref.'),
  trace_id: field(z.string(), 'Its trace.'),
  started_at: field(timestamp, 'When it started.'),
};

const others = (names: WireNames, summary: z.ZodMiniType) => ({
  display_name: field(z.nullable(z.string()), 'Its display name; null without one.'),
  parent_id: field(z.nullable(z.string()), 'The call that made it; null for the root of a trace.'),
  thread_id: field(z.nullable(z.string()), 'Its conversation; null without one.'),
  turn_id: field(z.nullable(z.string()), 'Its turn of the thread, which is a call; null without one.'),
  ended_at: field(z.nullable(timestamp), 'When it ended; null while it runs.'),
  attributes: field(freeObject, 'As they were given.'),
  inputs: field(freeObject, 'As they were given. Expanded columns hold what they refer to.'),
  output: field(z.unknown(), 'Any JSON; null without one.'),
  exception: field(z.nullable(z.string()), 'What it failed with; null if it did not fail.'),
  summary: field(summary, "The client's summary, and what the service adds under its own name."),
  [names.userId]: field(z.string(), 'The user whose key reported the start.'),
  [names.runId]: field(z.nullable(z.string()), 'Its run; null without one.'),
  [names.runStep]: field(z.nullable(integer), "The run's step at the start; null without one."),
  [names.runStepEnd]: field(z.nullable(integer), "The run's step at the end; null without one."),
});

const sizes = {
  storage_size_bytes: field(
    z.optional(bytes),
    'The size of the call as it was received, in bytes of JSON; with `include_storage_size`.',
  ),
  total_storage_size_bytes: field(
    z.optional(bytes),
    'The size of all calls of its trace; with `include_total_storage_size`.',
  ),
};

/** A whole call. */
export const call = (names: WireNames) => {
  const block = z.object(serviceBlock(names)).register(documented, { name: 'CallServiceSummary' });
  const summary = z.looseObject({ usage: field(usage, usageText), [names.service]: field(block, blockText) });
  return z.object({ ...always, ...others(names, summary), ...sizes }).register(documented, { name: 'Call' });
};

/** A call in the answer to a query, with the columns that were asked for. */
export const callRow = (names: WireNames) => {
  const block = z.partial(z.object(serviceBlock(names)));
  const summary = z.looseObject({
    usage: field(usage, usageText),
    [names.service]: field(z.optional(block), blockText),
  });
  return z
    .object({ ...always, ...z.partial(z.object(others(names, summary))).shape, ...sizes })
    .register(documented, { name: 'CallRow' });
};

/** The ids of a call that was reported. */
export const startedCall = z
  .object({
    id: field(z.string(), "The call's id: the client's, or a new UUIDv7."),
    trace_id: field(z.string(), 'Its trace.'),
  })
  .register(documented, { name: 'CallStartRes' });
