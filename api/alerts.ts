import * as z from 'zod/mini';
import { type Expression, optionalQuery, pathsIn } from '../foundations/expression/index.ts';
import {
  documented,
  field,
  finite,
  id,
  integerWith,
  listSchema,
  nullish,
  problem,
  record,
  rule,
  time,
  withDefault,
} from '../foundations/wire/schema.ts';
import { endpoint, oneAnswer, oneRecord } from './endpoint.ts';
import { flag, micros, name, project, queryNames, queryText, timestamp } from './fields.ts';
import { lookingBack } from './issues.ts';
import { type CallsFilter, callKind, everyCall, filter, noIncludes } from './queries.ts';
import { alertClass } from './shared/classes.ts';
import { aggregations, callMetrics, costMetrics, tokenMetrics } from './stats.ts';

// What is measured.

/** The metric that counts issues that were not there before. */
const newIssues = 'new_issues';

/** Metrics of calls, or of what they used of all models together, and of issues. */
const alertMetrics = [...callMetrics, ...tokenMetrics, ...costMetrics, newIssues] as const;

const metricFields = () => ({
  metric: field(
    nullish(z.enum(alertMetrics)),
    'A metric of `/calls/stats`, tokens and costs of all models together, or `new_issues`: how many issues were first seen, or again after they were resolved.',
  ),
  feedback_type: field(nullish(id), 'The type of feedback whose values are measured, in place of a metric.'),
  path: field(
    nullish(z.string().check(z.minLength(1), z.maxLength(256))),
    'Where the value is in the payload of feedback, such as `value`. True counts as 1, false as 0.',
  ),
  aggregation: field(
    nullish(z.enum(aggregations)),
    'What is made of the values. `avg` of `error_count` is the share of calls that failed, from 0 to 1.',
  ),
  percentile: field(
    nullish(finite(z.minimum(0), z.maximum(100))),
    'Which percentile of the values, in place of an aggregation. Not of feedback.',
  ),
});

const metric = () =>
  record(
    metricFields(),
    {},
    undefined,
    z.check(({ value, issues }) => {
      const has = (name: keyof typeof value) => value[name] !== undefined && value[name] !== null;
      if (has('metric') === has('feedback_type'))
        issues.push(problem('should have exactly one of metric and feedback_type', value));
      if (has('feedback_type') !== has('path'))
        issues.push(problem('is only for feedback, which requires it', value, 'path'));
      if (has('aggregation') === has('percentile'))
        issues.push(problem('should have exactly one of aggregation and percentile', value));
      if (has('feedback_type') && has('percentile'))
        issues.push(problem('is not for feedback: use an aggregation', value, 'percentile'));
      if (value.metric === newIssues && value.aggregation !== 'sum')
        issues.push(problem('should have the aggregation sum, since new_issues are counted', value));
    }),
  );

/** What an alert measures. Either its metric or its feedback type is not null. */
export type Measure = z.output<ReturnType<typeof metric>>;

// Whom it tells.

const webhookName = /^[A-Za-z0-9_-]{1,64}$/;

const target = () =>
  record(
    {
      sns: field(nullish(z.literal(true)), "The topic of the stack's own."),
      event_bus: field(nullish(z.literal(true)), 'The event bus, as `AlertChanged`.'),
      webhook: field(
        nullish(
          z
            .string()
            .check(
              z.refine(
                (text) => webhookName.test(text),
                rule('should be the name of a webhook: 1 to 64 of A-Z, a-z, 0-9, _ and -'),
              ),
            ),
        ),
        'The name of a webhook of this project, as `npm run webhooks` made it.',
      ),
      format: field(
        nullish(z.enum(['slack', 'json'])),
        'What the webhook gets: a message as Slack has it, or JSON with a signature (default).',
      ),
    },
    {},
    undefined,
    z.check(({ value: { sns, event_bus, webhook, format }, value, issues }) => {
      if (
        [sns, event_bus, webhook].filter((channel) => channel !== undefined && channel !== null).length !== 1
      )
        issues.push(problem('should have exactly one of sns, event_bus and webhook', value));
      if (format && !webhook) issues.push(problem('is only for a webhook', value, 'format'));
    }),
  );

/** Where an alert's messages go. One of its fields but `format` is not null. */
export type Target = z.output<ReturnType<typeof target>>;

const maxTargets = 10;

// Alerts.

/** What an alert can find. */
export const alertLevels = ['ok', 'warn', 'alert', 'no_data'] as const;
export type AlertLevel = (typeof alertLevels)[number];

/** What state an alert can be in. */
const alertStates = [...alertLevels, 'paused'] as const;
export type AlertState = (typeof alertStates)[number];

/** What a value is compared with: nothing, or the same window a day or a week before. */
export const comparisons = ['absolute', 'day_before', 'week_before'] as const;

/** Minutes of the shortest and of the longest window. */
const minWindowMinutes = 5;
const maxWindowMinutes = 7 * 24 * 60;

interface Sent {
  readonly metric: Measure;
  readonly filter: CallsFilter;
  readonly query?: Expression | null | undefined;
  readonly direction: 'above' | 'below';
  readonly warn?: number | null | undefined;
  readonly alert: number;
}

const fitsTogether = z.check<Sent>(({ value, issues }) => {
  const { metric, filter, query, direction, warn, alert } = value;
  if (query && pathsIn(query).some(({ field }) => field === 'feedback'))
    issues.push(problem('should not ask for feedback: use a metric of feedback', value, 'query'));
  const isOfCalls = metric.feedbackType === null && metric.metric !== newIssues;
  if (!isOfCalls && filter !== everyCall)
    issues.push(problem('is only for metrics of calls', value, 'filter'));
  if (!isOfCalls && query) issues.push(problem('is only for metrics of calls', value, 'query'));
  if (typeof warn === 'number' && (direction === 'above' ? warn >= alert : warn <= alert))
    issues.push(
      problem(
        `should be ${direction === 'above' ? 'below' : 'above'} alert, so that it comes first`,
        value,
        'warn',
      ),
    );
});

/** The value of an object of class `Alert`. */
export const alert = () =>
  record(
    {
      _type: field(z.literal(alertClass), 'Its class.'),
      name: name('What people call it.'),
      metric: field(metric(), 'What is measured.'),
      filter: filter(),
      query: field(optionalQuery(callKind(noIncludes)), queryText),
      window_minutes: field(
        integerWith(z.minimum(minWindowMinutes), z.maximum(maxWindowMinutes)),
        'How many minutes are measured together: 5 to 10080, which is a week.',
      ),
      direction: field(z.enum(['above', 'below']), 'Which side of a threshold is bad.'),
      warn: field(nullish(finite()), 'The threshold of the state `warn`; without it there is no such state.'),
      alert: field(finite(), 'The threshold of the state `alert`.'),
      compare: field(
        withDefault(z.enum(comparisons), 'absolute' as const),
        'Whether thresholds are about the value itself (`absolute`), or about its change in percent against the same window a day or a week before.',
      ),
      no_data: field(
        withDefault(z.enum(['no_data', 'ok', 'warn', 'alert', 'keep']), 'no_data' as const),
        'What it means if there is nothing to measure: a state, or `keep` for the one before.',
      ),
      looks: field(
        withDefault(integerWith(z.minimum(1), z.maximum(10)), 2),
        'How many looks in a row have to agree on another state; 2 without it.',
      ),
      remind_minutes: field(
        nullish(integerWith(z.minimum(5), z.maximum(43_200))),
        'Repeats the notification every this many minutes while not ok (default: never).',
      ),
      tell: field(listSchema(target(), maxTargets), 'Where notifications go.'),
      enabled: field(z.boolean(), 'Whether it looks; otherwise it is paused.'),
      saved_at: field(nullish(time), 'When it was saved.'),
    },
    { ...queryNames, _type: 'type' },
    undefined,
    fitsTogether as never,
  ).register(documented, { name: 'Alert' });

/** An alert, checked. */
export type Alert = z.output<ReturnType<typeof alert>>;

/** A value that is measured: null without data, or if it grew from 0 and so by no percentage. */
const measured = z.nullable(z.number());

// States and history.

const delivery = () =>
  z
    .object({
      target: field(z.string(), '`sns`, `event_bus`, or `webhook <name>`.'),
      status: field(z.enum(['waiting', 'delivered', 'failed']), '`failed` is not tried again.'),
      tries: field(z.int(), 'How often it was tried.'),
      problem: field(z.nullable(z.string()), 'Why the last try failed; null if it did not.'),
    })
    .register(documented, { name: 'AlertDelivery' });

/** What became of a message at one target. */
export type Delivery = Readonly<z.output<ReturnType<typeof delivery>>>;

const historyEntry = () =>
  z
    .object({
      id: field(z.string(), 'The id of the change, the same in all of its messages.'),
      object_id: field(z.string(), 'The alert.'),
      at: field(timestamp, 'When it was found.'),
      kind: field(z.enum(['changed', 'reminder']), 'Whether the state changed or is still as bad.'),
      state: field(z.enum(alertLevels), 'The state since.'),
      previous: field(z.nullable(z.enum(alertLevels)), 'The state before; null for the first one.'),
      value: field(measured, 'What was measured.'),
      threshold: field(z.number(), 'The threshold that it passed or came back over.'),
      window: field(
        z.object({
          start: field(timestamp, 'Its start, inclusive.'),
          end: field(timestamp, 'Its end, exclusive.'),
        }),
        'The time that was measured.',
      ),
      deliveries: field(z.array(delivery()), 'The delivery to each target.'),
    })
    .register(documented, { name: 'AlertHistoryEntry' });

const alertRow = () =>
  z
    .object({
      object_id: field(z.string(), 'The alert.'),
      digest: field(z.string(), 'Its version.'),
      name: field(z.string(), 'What people call it.'),
      state: field(
        z.nullable(z.enum(alertStates)),
        'Its state; null until as many looks agree as the alert says.',
      ),
      since: field(z.nullable(timestamp), 'Since when it is in this state.'),
      value: field(measured, 'What was measured, as of about a quarter of an hour ago at most.'),
      measured_at: field(z.nullable(timestamp), 'The end of the window in which it was.'),
      problem: field(z.nullable(z.string()), 'Why the last look failed; null if it did not.'),
    })
    .register(documented, { name: 'AlertRow' });

const queryBody = () =>
  record({
    project_id: project,
    object_ids: field(nullish(listSchema(id, 1000)), 'Which alerts; all without it.'),
    limit: field(
      withDefault(integerWith(z.minimum(0), z.maximum(1000)), 100),
      'The most changes of the history, newest first; 100 without it.',
    ),
    include_webhooks: flag('Adds the names of the webhooks that alerts of the project can tell.'),
  });

/** Which alerts' states and history are wanted. */
export type AlertsQuery = z.output<ReturnType<typeof queryBody>>;

export const alertsQuery = /* @__PURE__ */ endpoint({
  path: '/alerts/query',
  shape: oneAnswer,
  stores: { objects: 'query', bookkeeping: 'list' },
  alerts: true,
  tag: 'alerts',
  name: 'AlertsQuery',
  summary: 'List alerts with their states and history',
  description:
    'The alerts of a project by their ids, with the state of each, and their notifications, newest first. History is kept for 90 days. Without the setting `alerts` nothing is checked, and states stay what they were.',
  request: queryBody,
  answer: () =>
    z.object({
      is_on: field(z.boolean(), 'Whether alerts are looked at: the setting `alerts`.'),
      alerts: field(z.array(alertRow()), 'The alerts, by their ids.'),
      history: field(z.array(historyEntry()), 'The notifications, newest first.'),
      webhooks: field(
        z.optional(z.array(z.string())),
        'With `include_webhooks`: the names of the webhooks of the project, at most 100; none while alerts are off. Their URLs and keys are never told.',
      ),
    }),
  examples: {
    all: {
      summary: 'The alerts of a project',
      body: { project_id: 'acme/shop' },
      answer: { is_on: false, alerts: [], history: [] },
    },
  },
});

// When an alert would have fired.

const previewBody = () =>
  record({
    project_id: project,
    alert: field(alert(), 'The value of an object of class `Alert`, as it may be saved.'),
    start: field(nullish(micros), 'The beginning of the first look; 30 days before the end without it.'),
    end: field(nullish(micros), 'The last look; now without it.'),
    include_values: flag('Adds what each look would have measured.'),
  });

/** The alert that is tried, and over which time. */
export type PreviewRequest = z.output<ReturnType<typeof previewBody>>;

export const alertsPreview = /* @__PURE__ */ endpoint({
  ...lookingBack,
  path: '/alerts/preview',
  tag: 'alerts',
  name: 'AlertsPreview',
  summary: 'Say when an alert would have fired, and what it costs',
  description:
    'Evaluates an alert over the past, and returns when its state would have changed, and roughly what it costs a month. It sends and stores nothing.',
  request: previewBody,
  answer: () =>
    z.object({
      start: field(timestamp, 'The first look.'),
      end: field(timestamp, 'The last look.'),
      step_minutes: field(z.int(), 'How often it looks.'),
      looks: field(z.int(), 'How many looks there were.'),
      value: field(measured, 'What the last look measured.'),
      changes: field(
        z.array(
          z
            .object({
              at: field(timestamp, 'When.'),
              state: field(z.enum(alertLevels), 'The state since.'),
              previous: field(z.nullable(z.enum(alertLevels)), 'The state before; null for the first one.'),
              value: field(measured, 'What was measured.'),
              told: field(
                z.boolean(),
                'Whether a notification would have been sent. A first state that is ok or without data sends none.',
              ),
            })
            .register(documented, { name: 'AlertPreviewChange' }),
        ),
        'When its state would have changed, oldest first; at most 1,000, the newest.',
      ),
      values: field(
        z.optional(
          z.array(
            z
              .object({
                timestamp: field(timestamp, 'The end of the window.'),
                value: field(measured, 'What was measured.'),
              })
              .register(documented, { name: 'AlertValue' }),
          ),
        ),
        'With `include_values`: what looks measured, of at most 1,000 spans of time the value that is worst.',
      ),
      reads: field(
        z.enum(['rollups', 'calls', 'feedback']),
        'What a look reads: rollups and the calls of open hours, the calls of the window, or feedback.',
      ),
      estimated_usd_per_month: field(
        z.number(),
        'About what it costs a month by itself, in dollars. Alerts of a project share reads, so together they cost less.',
      ),
    }),
  examples: {
    errors: {
      summary: 'When more than half of the calls would have failed',
      body: {
        project_id: 'acme/shop',
        alert: {
          _type: 'Alert',
          name: 'Too many errors',
          window_minutes: 60,
          metric: { metric: 'error_count', aggregation: 'avg' },
          direction: 'above',
          alert: 0.5,
          no_data: 'ok',
          tell: [{ sns: true }],
          enabled: true,
        },
        start: '2026-10-01T00:00:00Z',
        end: '2026-10-01T06:00:00Z',
      },
      answer: {
        start: '2026-09-30T23:56:00.000000Z',
        end: '2026-10-01T05:56:00.000000Z',
        step_minutes: 5,
        looks: 73,
        value: null,
        changes: [
          {
            at: '2026-10-01T00:01:00.000000Z',
            state: 'ok',
            previous: null,
            value: null,
            told: false,
          },
        ],
        reads: 'calls',
        estimated_usd_per_month: 0.03,
      },
    },
  },
});

// A test message.

const trial = () =>
  z.object({
    message_id: field(z.string(), 'The id of the message, the same at all targets.'),
    targets: field(
      z.array(
        z
          .object({
            target: field(z.string(), '`sns`, `event_bus`, or `webhook <name>`.'),
            delivered: field(z.boolean(), 'Whether it took the message.'),
            problem: field(z.nullable(z.string()), 'Why it did not; null if it did.'),
          })
          .register(documented, { name: 'AlertTrialTarget' }),
      ),
      'The targets of the alert, in their order.',
    ),
  });

/** What became of a test message. */
export type AlertTrial = z.output<ReturnType<typeof trial>>;

export const alertsTest = /* @__PURE__ */ endpoint({
  path: '/alerts/test',
  role: 'admin',
  shape: oneRecord,
  stores: {},
  alerts: true,
  tag: 'alerts',
  name: 'AlertsTest',
  summary: "Send a test message through an alert's targets",
  description:
    'Tells all targets of an alert that this is a test, and answers what became of it at each. The state of the alert stays as it is. It takes the setting `alerts`: without it the answer is a 422 that says so.',
  request: () => record({ project_id: project, object_id: field(id, 'The alert.') }),
  answer: trial,
  errors: [404],
  examples: {},
});

/** The endpoints of this file. Their examples run in this order. */
export const alertRoutes = [alertsQuery, alertsPreview, alertsTest] as const;
