import * as z from 'zod/mini';
import type { WireNames } from '../../core/wire/index.ts';
import { documented } from '../../core/wire/schema.ts';
import { bytes, field, freeObject, integer, timestamp } from './parts.ts';

const modelCost = z
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
    effective_date: field(
      z.nullable(timestamp),
      'When the price came into force; null where that is not known.',
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

const callFeedback = (names: WireNames) =>
  z
    .object({
      id: field(z.string(), "The record's id."),
      feedback_type: field(z.string(), 'What kind of feedback it is.'),
      [names.ref]: field(z.string(), "The call's ref."),
      payload: field(freeObject, 'As it was given.'),
      creator: field(z.nullable(z.string()), 'Who gave it, as free text; null where that was not said.'),
      created_at: field(timestamp, 'When it was stored.'),
      [names.userId]: field(z.string(), 'The user whose key stored it.'),
    })
    .register(documented, { name: 'CallFeedback' });

const status = z.enum(['running', 'success', 'error', 'descendant_error']);

const serviceBlock = (names: WireNames) => ({
  status: field(
    status,
    '`running` without an end, `error` with an exception, `descendant_error` where the client counted errors below the call.',
  ),
  latency_ms: field(
    z.nullable(integer),
    'Milliseconds from start to end, rounded; null while the call runs.',
  ),
  trace_name: field(
    z.string(),
    "The display name, the op's short name where `op_name` is a ref, or `op_name`.",
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
  'What the client says that was used, by model: `prompt_tokens`, `completion_tokens` and others.';

/** The columns that are always answered. */
const always = {
  id: field(z.string(), "The call's id."),
  project_id: field(z.string(), 'Its project, `<entity>/<project>`.'),
  op_name: field(z.string(), 'What was called: a name, or an op ref.'),
  trace_id: field(z.string(), 'The trace that it is part of.'),
  started_at: field(timestamp, 'When it started.'),
};

const others = (names: WireNames, summary: z.ZodMiniType) => ({
  display_name: field(z.nullable(z.string()), 'What it is shown as; null without one.'),
  parent_id: field(z.nullable(z.string()), 'The call that made it; null for the root of a trace.'),
  thread_id: field(z.nullable(z.string()), 'The conversation that it is part of; null outside of any.'),
  turn_id: field(
    z.nullable(z.string()),
    'The turn of the thread that it is part of, which is a call; null outside of any.',
  ),
  ended_at: field(z.nullable(timestamp), 'When it ended; null while it runs.'),
  attributes: field(freeObject, 'As they were given.'),
  inputs: field(freeObject, 'As they were given; expanded columns hold what they refer to.'),
  output: field(z.unknown(), 'Any JSON; null without one.'),
  exception: field(z.nullable(z.string()), 'What it failed with; null where it did not.'),
  summary: field(summary, "The client's summary, and what the service adds under its own name."),
  [names.userId]: field(z.string(), 'The user whose key reported the start.'),
  [names.runId]: field(z.nullable(z.string()), 'The run that it is part of; null outside of any.'),
  [names.runStep]: field(z.nullable(integer), "The run's step at the start; null without one."),
  [names.runStepEnd]: field(z.nullable(integer), "The run's step at the end; null without one."),
});

const sizes = {
  storage_size_bytes: field(
    z.optional(bytes),
    'Bytes of JSON that the call was received as; with `include_storage_size`.',
  ),
  total_storage_size_bytes: field(
    z.optional(bytes),
    'The same of all calls of its trace; with `include_total_storage_size`.',
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
    trace_id: field(z.string(), 'The trace that it is part of.'),
  })
  .register(documented, { name: 'CallStartRes' });
