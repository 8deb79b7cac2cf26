import * as z from 'zod/mini';
import { feedbackRecord } from '../api/feedback.ts';
import { jsonObject } from '../api/fields.ts';
import { call, modelCost } from '../api/queries.ts';
import type { EventKind } from '../core/workers/events/events.ts';
import { field } from '../foundations/wire/schema.ts';
import type { JsonSchema } from './schema.ts';
import { type Schemas, toJsonSchema } from './schema.ts';

/*
 * What events on the bus have as their detail. The function that sends them makes details of the
 * same columns; tests check them against these schemas.
 */

const eventId = field(
  z.string().check(z.regex(/^[0-9a-f]{32}$/)),
  'The same whenever the event comes again: keep it to tell.',
);

const cut = field(
  z.optional(z.array(z.string())),
  'The fields that were too big. Each is the beginning of its JSON, as text; null if not even that.',
);

/** Fields that come with the setting `events.payloads` alone. */
const payloadFields = ['attributes', 'inputs', 'output', 'exception', 'summary'] as const;

/** What all events of calls say. */
const callDetail = () => {
  const { summary, storage_size_bytes: _, total_storage_size_bytes: __, ...columns } = call().shape;
  const header = Object.fromEntries(
    Object.entries(columns).filter(([name]) => !payloadFields.some((payload) => payload === name)),
  );
  const withPayloads = 'With `events.payloads` alone; as the call has it.';
  return z.object({
    event_id: eventId,
    call_ref: field(z.string(), 'The ref of the call, ready for feedback on it.'),
    ...header,
    status: field(
      z.enum(['success', 'error', 'descendant_error']),
      '`error` with an exception, `descendant_error` if the client counted errors below the call.',
    ),
    latency_ms: field(z.int(), 'Whole milliseconds from start to end.'),
    trace_name: field(z.string(), 'The name to show.'),
    usage: field(z.unknown(), 'Usage as the client reported it, by model; `{}` without any.'),
    costs: field(
      z.union([z.record(z.string(), modelCost()), z.string()]),
      'What the call cost, by model. Models without a price are left out.',
    ),
    total_cost: field(z.number(), 'The sum of the costs of all models.'),
    attributes: field(z.optional(z.unknown()), withPayloads),
    inputs: field(z.optional(z.unknown()), withPayloads),
    output: field(z.optional(z.unknown()), withPayloads),
    exception: field(z.optional(z.nullable(z.string())), withPayloads),
    summary: field(z.optional(z.unknown()), withPayloads),
    cut,
  });
};

const feedbackDetail = () => {
  const { payload: _, ...columns } = feedbackRecord().shape;
  return z.object({
    event_id: eventId,
    ...columns,
    on_call: field(
      z.nullable(z.string()),
      'The ref of the call that it is on; null if it is on an object or an op.',
    ),
    payload: field(
      z.nullable(z.union([jsonObject, z.string()])),
      'As it was given. See `cut` for a payload that is too big.',
    ),
    cut,
  });
};

/** The schema of the detail of each kind of event. */
export const eventDetails = () =>
  ({
    CallEnded: callDetail(),
    CallFailed: callDetail(),
    TurnEnded: callDetail(),
    FeedbackCreated: feedbackDetail(),
  }) satisfies Record<EventKind, z.ZodMiniType>;

const summaries: Readonly<Record<EventKind, string>> = {
  CallEnded: 'A call has ended, however it did.',
  CallFailed: 'A call has ended with an exception.',
  TurnEnded: 'A turn of a thread has ended, however it did.',
  FeedbackCreated: 'Feedback was stored, or has replaced other feedback.',
};

/** The JSON Schema of an event of each kind as rules and targets get it, by kind. */
export const eventSchemas = (): Readonly<Record<EventKind, JsonSchema>> => {
  const schemaOf = ([kind, detail]: readonly [EventKind, z.ZodMiniType]) => {
    const components: Schemas = new Map();
    const event = z.object({
      source: z.literal('pennytrace'),
      'detail-type': z.literal(kind),
      id: field(z.string(), "EventBridge's own id, another one each time. `detail.event_id` is not."),
      time: field(z.string(), 'When it was stored, to the second.'),
      account: z.string(),
      region: z.string(),
      resources: z.array(z.string()),
      version: z.string(),
      detail,
    });
    const schema = JSON.parse(
      JSON.stringify(toJsonSchema(event, components, 'output')).replaceAll(
        '#/components/schemas/',
        '#/$defs/',
      ),
    ) as JsonSchema;
    const $defs = JSON.parse(
      JSON.stringify(Object.fromEntries(components)).replaceAll('#/components/schemas/', '#/$defs/'),
    ) as JsonSchema;
    return [
      kind,
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        title: kind,
        description: summaries[kind],
        ...schema,
        ...(components.size > 0 && { $defs }),
      },
    ] as const;
  };
  const details = Object.entries(eventDetails()) as [EventKind, z.ZodMiniType][];
  return Object.fromEntries(details.map(schemaOf)) as Record<EventKind, JsonSchema>;
};
