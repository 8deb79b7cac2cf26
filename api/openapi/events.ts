import * as z from 'zod/mini';
import { field } from '../../foundations/wire/schema.ts';
import { alertLevels, comparisons } from '../alerts.ts';
import { feedbackRecord } from '../feedback.ts';
import { jsonObject } from '../fields.ts';
import { issueKind } from '../issues.ts';
import { auditRecord } from '../people.ts';
import { call, modelCost } from '../queries.ts';
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

/** A text of at most 128 characters; null for anything else. */
const shortText = z.nullable(z.string().check(z.maxLength(128)));

/** What all events of calls say. */
const callDetail = () => {
  const { summary, storage_size_bytes: _, total_storage_size_bytes: __, ...columns } = call().shape;
  const header = Object.fromEntries(
    Object.entries(columns).filter(([name]) => !payloadFields.some((payload) => payload === name)),
  );
  const { waited_ms, waiting } = summary.shape.svc.shape;
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
    waited_ms,
    waiting,
    kind: field(shortText, 'What the call stands for, as `attributes.kind` says.'),
    environment: field(shortText, '`attributes.environment`.'),
    release: field(shortText, '`attributes.release`.'),
    tool: field(shortText, 'The tool that it is a call of: `attributes.tool.name`.'),
    agent: field(shortText, 'The agent that it belongs to: `attributes.agent.name`.'),
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

const nullableNumber = z.nullable(z.number());

/** What an alert tells; webhooks and programs at the topic get the same without `event_id`. */
export const alertMessage = () =>
  z.object({
    id: field(
      z.string().check(z.regex(/^[0-9a-f]{32}$/)),
      'One for each change, the same over retries and targets.',
    ),
    kind: field(
      z.enum(['changed', 'reminder', 'test']),
      'Whether the state changed, is still as bad, or somebody tries the alert.',
    ),
    project_id: z.string(),
    alert: z.object({
      object_id: field(z.string(), 'The object of the alert.'),
      name: field(z.string(), 'What people call it.'),
      digest: field(z.string(), 'Its version.'),
    }),
    state: field(z.enum(alertLevels), 'The state since.'),
    previous: field(z.nullable(z.enum(alertLevels)), 'The state before; null for the first one.'),
    metric: field(z.string(), 'What is measured, such as `p95 latency in ms`.'),
    value: field(
      nullableNumber,
      'What was measured; with a comparison its change in percent. Null without data, or from 0.',
    ),
    threshold: field(z.number(), 'The threshold that it passed, or came back over.'),
    direction: field(z.enum(['above', 'below']), 'Which side of the threshold is bad.'),
    compare: field(z.enum(comparisons), 'What the value is compared with.'),
    compared: field(
      z.nullable(z.object({ current: nullableNumber, before: nullableNumber })),
      'The two values that are compared; null for an absolute value.',
    ),
    window: field(
      z.object({ start: z.string(), end: z.string() }),
      'What was measured together: the start is part of it, the end is not.',
    ),
    contributors: field(
      z
        .array(
          z.object({
            label: field(z.string(), 'What people read.'),
            value: field(z.number(), 'Its own value, in the unit of the metric.'),
            call_id: field(z.nullable(z.string()), 'The call; null for a group of calls.'),
            link: field(z.string(), 'Into the page.'),
          }),
        )
        .check(z.maxLength(3)),
      'Those that contribute most, at most three.',
    ),
    link: field(z.string(), 'Into the page, at exactly the window.'),
    at: field(z.string(), 'When the change was found.'),
  });

const limitDetail = () =>
  z.object({
    event_id: eventId,
    of: field(z.enum(['key', 'project', 'user']), 'Whose limit it is.'),
    key_id: field(z.nullable(z.string()), 'The key; null for other limits.'),
    project_id: field(z.nullable(z.string()), 'The project; null for the limit of a key.'),
    end_user: field(z.nullable(z.string()), 'The end user, as requests say; null for other limits.'),
    period: field(z.enum(['day', 'month']), 'After what it begins anew, in UTC.'),
    limit_usd: field(z.number(), 'The limit, in dollars.'),
    spent_usd: field(z.number(), 'What is spent, and held for requests that are under way.'),
    resets_at: field(z.string(), 'When it resets.'),
  });

const versionIndex = z.nullable(z.int());

const promptLabelDetail = () =>
  z.object({
    event_id: eventId,
    project_id: z.string(),
    name: field(z.string(), 'The prompt.'),
    label: field(z.string(), 'The label.'),
    ref: field(z.nullable(z.string()), 'The version that it came to; null if it was removed.'),
    version_index: field(versionIndex, 'Its index.'),
    previous_ref: field(z.nullable(z.string()), 'The version that it came from; null if it was new.'),
    previous_version_index: field(versionIndex, 'Its index.'),
    moved_at: field(z.string(), 'When.'),
    svc_user_id: field(z.string(), 'The user whose key moved it.'),
  });

const issueDetail = () =>
  z.object({
    event_id: eventId,
    project_id: z.string(),
    issue_id: field(z.string(), 'The issue, as `/issues/query` has it.'),
    kind: field(issueKind(), 'What went wrong.'),
    title: field(z.string(), 'The message, with placeholders for what varies.'),
    op_name: field(z.nullable(z.string()), 'The operation, with `:*` for every version.'),
    tool_name: field(z.nullable(z.string()), 'The tool, if its calls name one.'),
    state: field(
      z.enum(['open', 'regressed']),
      '`regressed`: it was resolved, and seen since. `open`: nobody knew it.',
    ),
    opened_at: field(z.string(), 'When it was seen, or found if that was late.'),
    releases: field(z.array(z.string()), 'The releases that it was seen in then.'),
    call_ref: field(z.string(), 'A call with it.'),
    link: field(z.string(), 'Into the page, at that call.'),
  });

const auditDetail = () => z.extend(auditRecord(), { event_id: eventId });

/** What can happen to a call or to feedback. */
export type ChangeKind = 'CallEnded' | 'CallFailed' | 'TurnEnded' | 'FeedbackCreated';

/** What can be on the bus. */
export type EventKind =
  | ChangeKind
  | 'AlertChanged'
  | 'AuditRecorded'
  | 'IssueOpened'
  | 'LimitNearlyReached'
  | 'PromptLabelMoved';

/** The schema of the detail of each kind of event. */
export const eventDetails = () =>
  ({
    CallEnded: callDetail(),
    CallFailed: callDetail(),
    TurnEnded: callDetail(),
    FeedbackCreated: feedbackDetail(),
    AlertChanged: z.extend(alertMessage(), { event_id: field(z.string(), 'The same as `id`.') }),
    AuditRecorded: auditDetail(),
    IssueOpened: issueDetail(),
    LimitNearlyReached: limitDetail(),
    PromptLabelMoved: promptLabelDetail(),
  }) satisfies Record<EventKind, z.ZodMiniType>;

const summaries: Readonly<Record<EventKind, string>> = {
  CallEnded: 'A call has ended, however it did.',
  CallFailed: 'A call has ended with an exception.',
  TurnEnded: 'A turn of a thread has ended, however it did.',
  FeedbackCreated: 'Feedback was stored, or has replaced other feedback.',
  AlertChanged: 'The state of an alert has changed, or is still as bad.',
  AuditRecorded: 'Something was put on the audit trail, and is about to be done.',
  IssueOpened: 'An issue is new, or seen again after it was resolved.',
  LimitNearlyReached: 'Four fifths of a spending limit are spent.',
  PromptLabelMoved: 'A label of a prompt has moved to another version, is new, or was removed.',
};

/** The JSON Schema of an event of each kind as rules and targets get it, by kind. */
export const eventSchemas = (): Readonly<Record<EventKind, JsonSchema>> => {
  const toEventSchema = ([kind, detail]: readonly [EventKind, z.ZodMiniType]) => {
    const components: Schemas = new Map();
    const event = z.object({
      source: z.literal('pennytrace'),
      'detail-type': z.literal(kind),
      id: field(z.string(), "EventBridge's own id, another one each time. `detail.event_id` is not."),
      time: field(z.string(), 'When it happened or was stored, to the second.'),
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
  return Object.fromEntries(details.map(toEventSchema)) as Record<EventKind, JsonSchema>;
};
