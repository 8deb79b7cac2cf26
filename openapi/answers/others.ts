import * as z from 'zod/mini';
import type { WireNames } from '../../core/foundations/wire/index.ts';
import { documented } from '../../core/foundations/wire/schema.ts';
import { field, freeObject, integer, timestamp } from './fields.ts';

const percentile = z.nullable(z.number());

/** A thread, with statistics over its turns. */
export const thread = z
  .object({
    thread_id: field(z.string(), "The thread's id."),
    turn_count: field(integer, 'Its turns, running ones included.'),
    start_time: field(timestamp, 'When its first turn started.'),
    last_updated: field(timestamp, 'The latest end of a turn. A running turn counts with its start.'),
    first_turn_id: field(z.string(), 'The turn with `start_time`.'),
    last_turn_id: field(z.string(), 'The turn with `last_updated`.'),
    p50_turn_duration_ms: field(
      percentile,
      'The median duration of its finished turns, in milliseconds with fractions; null while none has finished.',
    ),
    p99_turn_duration_ms: field(
      percentile,
      'The 99th percentile of the durations of its finished turns, in milliseconds with fractions; null while none has finished.',
    ),
  })
  .register(documented, { name: 'Thread' });

/** A version of an object. */
export const objectVersion = (names: WireNames) =>
  z
    .object({
      project_id: field(z.string(), 'Its project, `<entity>/<project>`.'),
      object_id: field(z.string(), "The object's name."),
      digest: field(z.string(), "The SHA-256 of the value's canonical JSON (RFC 8785), in base64url."),
      version_index: field(integer, '0, 1, 2, … in the order in which the versions were made.'),
      is_latest: field(z.literal([0, 1]), '1 for the newest version that has not been deleted, else 0.'),
      kind: field(z.enum(['object', 'op']), '`op` if the value has `"_type": "op"`, else `object`.'),
      base_object_class: field(
        z.nullable(z.string()),
        "The class that the value's own class extends; null if it names none.",
      ),
      created_at: field(timestamp, 'When it was made.'),
      [names.userId]: field(z.string(), 'The user whose key made it.'),
      val: field(
        z.unknown(),
        `The value, any JSON; ${names.dialect === 'weave' ? '`{}`' : 'null'} with \`metadata_only\`.`,
      ),
    })
    .register(documented, { name: 'ObjectVersion' });

/** A price of a project. With `fields` it has those alone. */
export const price = z
  .partial(
    z.object({
      id: field(z.string(), "The price's id."),
      llm_id: field(z.string(), "The model's name."),
      prompt_token_cost: field(z.number(), 'What one token of a prompt costs, in its unit.'),
      completion_token_cost: field(z.number(), 'What one token of a completion costs, in its unit.'),
      prompt_token_cost_unit: field(z.string(), 'Such as `USD`.'),
      completion_token_cost_unit: field(z.string(), 'Such as `USD`.'),
      effective_date: field(timestamp, 'Calls that started then or later cost this.'),
      provider_id: field(z.string(), 'Who provides the model.'),
    }),
  )
  .register(documented, { name: 'Cost' });

/** A feedback record that was stored. */
export const createdFeedback = (names: WireNames) =>
  z
    .object({
      id: field(z.string(), "The record's id: the client's, or a new UUIDv7."),
      created_at: field(timestamp, 'When it was stored.'),
      [names.userId]: field(z.string(), 'The user whose key stored it.'),
      payload: field(freeObject, 'As it was stored.'),
    })
    .register(documented, { name: 'FeedbackCreateRes' });

/** A feedback record. With `fields` it has those alone. */
export const feedbackRecord = (names: WireNames) =>
  z
    .partial(
      z.object({
        id: field(z.string(), "The record's id."),
        project_id: field(z.string(), 'Its project, `<entity>/<project>`.'),
        [names.ref]: field(z.string(), 'What it is attached to.'),
        feedback_type: field(z.string(), 'What kind of feedback it is.'),
        payload: field(freeObject, 'As it was given.'),
        creator: field(z.nullable(z.string()), 'Who gave it, as free text; null if unknown.'),
        annotation_ref: field(z.nullable(z.string()), 'An object ref; null without one.'),
        runnable_ref: field(z.nullable(z.string()), 'An op ref; null without one.'),
        call_ref: field(z.nullable(z.string()), 'A call ref; null without one.'),
        trigger_ref: field(z.nullable(z.string()), 'An object ref; null without one.'),
        created_at: field(timestamp, 'When it was stored.'),
        [names.userId]: field(z.string(), 'The user whose key stored it.'),
      }),
    )
    .register(documented, { name: 'Feedback' });
