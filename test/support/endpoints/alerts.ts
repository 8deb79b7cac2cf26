import { toIssueId } from '../../../core/questions/issues/tally.ts';
import type { JsonObject } from '../../../foundations/wire/index.ts';
import type { Sent } from '../service/in-process.ts';
import { countFeedback } from './feedback.ts';
import type { Fixture } from './fixture.ts';
import { permitted as ofVersions } from './prompts.ts';
import { choosing, noted, queryCalls } from './queries.ts';
import { calls, end, forBucket, noise, report, type Scenario, start, type Use } from './scenario.ts';

const makeAlert = (fields: object = {}): JsonObject => ({
  _type: 'Alert',
  name: 'Slow',
  metric: { metric: 'latency_ms', percentile: 95 },
  window_minutes: 60,
  direction: 'above',
  alert: 1000,
  tell: [],
  enabled: true,
  ...fields,
});

const save = (p: string, objectId: string, val: object): Sent => ({
  path: '/obj/create',
  body: { obj: { project_id: p, object_id: objectId, val } },
});

const states: Scenario = {
  name: 'alerts, of which one lies in the bucket',
  before: (p) => [
    save(p, 'slow', makeAlert()),
    save(p, 'long', makeAlert({ filter: { op_names: [noise(forBucket)] } })),
  ],
  request: (p) => ({ path: '/alerts/query', body: { project_id: p } }),
};

const day = { start: '2026-09-30T12:00:00Z', end: '2026-10-01T12:00:00Z' };

const before = (p: string): Sent[] => [
  report(...calls(p, 3)),
  report(start(p, 'c', { inputs: { q: noise(forBucket) } }), end(p, 'c')),
  {
    path: '/feedback/create',
    body: {
      project_id: p,
      id: 'f',
      svc_ref: `svc:///${p}/call/0`,
      feedback_type: 'stars',
      payload: { value: 5, text: noise(forBucket) },
    },
  },
];

const makePreview = (p: string, fields: object, span: object = day): Sent => ({
  path: '/alerts/preview',
  body: { project_id: p, alert: makeAlert(fields), include_values: true, ...span },
});

const preview = (name: string, fields: object, span: object = day): Scenario => ({
  name,
  before,
  request: (p) => makePreview(p, fields, span),
});

const asksInputs = { $expr: { $ne: [{ $getField: 'inputs.q' }, { $literal: 'x' }] } };
const previews: readonly Scenario[] = [
  preview(
    'what feedback would have said',
    { metric: { feedback_type: 'stars', path: 'value', aggregation: 'avg' } },
    { end: new Date(Date.now() + 600_000).toISOString() },
  ),
  preview('what costs would have been, by rollups', {
    metric: { metric: 'total_cost', aggregation: 'sum' },
    window_minutes: 1440,
  }),
  preview('how slow calls with certain inputs would have been', { query: asksInputs }),
];

/** What the function may do that looks back over calls and feedback. */
const lookBack = [
  ...queryCalls,
  'costs: Query',
  'bookkeeping: BatchWriteItem Query',
  ...countFeedback,
  'objects: BatchGetItem Query',
] as const;

/** Ranges have no finished hours without calls between others: what is known of these is stored but once. */
const issuesOf = (p: string, range: object): Sent => ({
  path: '/issues/query',
  body: { project_id: p, ...range },
});

/** When feedback was given that was just given. */
const justNow = () => {
  const [start, end] = [-600_000, 600_000].map((ms) => new Date(Date.now() + ms).toISOString());
  return { start, end };
};

const anIssue = toIssueId({ kind: 'error', opName: 'answer', toolName: null, message: 'E: no' });
const resolve = (p: string, fields: object = { state: 'resolved' }): Sent => ({
  path: '/issues/update',
  body: { project_id: p, issue_id: anIssue, ...fields },
});

/** What uses permissions of that function, beside its scenarios. */
const lookingBack: readonly Use[] = [
  ...choosing('what alerts on calls', (p, choice) => makePreview(p, choice)),
  {
    name: 'what feedback in the bucket would have said',
    before: noted,
    request: (p) =>
      makePreview(
        p,
        { metric: { feedback_type: 'note', path: 'n', aggregation: 'avg' } },
        { end: new Date(Date.now() + 600_000).toISOString() },
      ),
  },
];

const withIssues = (p: string): readonly Sent[] => [
  ...before(p),
  report(start(p, 'failed', { attributes: { kind: 'tool' } }), end(p, 'failed', { exception: 'E: no' })),
  report(start(p, 'large', { inputs: { q: noise(forBucket) } }), end(p, 'large', { exception: 'E: 12' })),
  {
    path: '/feedback/create',
    body: {
      project_id: p,
      id: 'refused',
      svc_ref: `svc:///${p}/call/0`,
      feedback_type: 'evaluation.tone',
      payload: { value: false, reason: noise(forBucket) },
    },
  },
  resolve(p),
];

const issues: readonly Scenario[] = [
  {
    name: 'the issues of calls, one of which was resolved',
    before: withIssues,
    request: (p) => issuesOf(p, day),
  },
  { name: 'the issues of feedback', before: withIssues, request: (p) => issuesOf(p, justNow()) },
];

/** The routes of alerts and issues. */
export const alertFixtures = {
  '/alerts/query': {
    permitted: [
      'objects: BatchGetItem Query',
      'bucket/objects/*: GetObject',
      'bucket: ListBucket',
      'bookkeeping: Query',
    ],
    body: (p, { object }) => ({ project_id: p, object_ids: [object] }),
    answer: '{"is_on":false,"alerts":[],"history":[]}',
    scenarios: [states],
  },
  '/issues/query': {
    permitted: lookBack,
    seldom: {
      'Query on calls': 'as for statistics',
      'BatchWriteItem on bookkeeping': 'as for statistics',
    },
    body: (p) => ({ project_id: p, start: '2026-10-01T00:00:00Z', end: '2026-10-01T12:00:00Z' }),
    namesNothing: true,
    scenarios: issues,
    uses: [...issues, ...previews, ...lookingBack],
  },
  '/issues/update': {
    permitted: ofVersions,
    body: (p) => ({ project_id: p, issue_id: anIssue, state: 'resolved' }),
    namesNothing: true,
    scenarios: [
      {
        name: 'an issue that is assigned, and then resolved',
        before: (p) => [resolve(p, { assignee: 'ada' })],
        request: (p) => resolve(p),
      },
    ],
  },
  '/alerts/preview': {
    permitted: lookBack,
    body: (p, { call, thread }) => ({
      project_id: p,
      alert: makeAlert({ filter: { call_ids: [call], thread_ids: [thread] } }),
      ...day,
    }),
    scenarios: previews,
  },
  '/alerts/test': {
    permitted: [],
    body: (p, { object }) => ({ project_id: p, object_id: object }),
    status: 422,
    answer: JSON.stringify({
      detail: [
        {
          loc: ['body'],
          msg: 'alerts are off in this service: an operator turns them on with the setting alerts',
          type: 'value_error',
        },
      ],
    }),
  },
} as const satisfies Readonly<Record<string, Fixture>>;
