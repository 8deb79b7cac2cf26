import { weaveDoor } from '../../../core/doors/weave/index.ts';
import type { Sent } from '../service/in-process.ts';
import { callFixtures } from './calls.ts';
import { costFixtures } from './costs.ts';
import { countFeedback, feedbackFixtures } from './feedback.ts';
import { at, type Fixture, makeStart } from './fixture.ts';
import { objectFixtures } from './objects.ts';
import { queryFixtures, withRow } from './queries.ts';
import {
  callReads,
  calls,
  callViews,
  end,
  forBucket,
  noise,
  report,
  type Scenario,
  start,
  throughDoor,
  type Use,
} from './scenario.ts';
import { makeLargeRow, weaveTableFixtures } from './tables.ts';
import { labelFixtures, labelScenarios } from './weave-labels.ts';

const views = (p: string): Sent[] => [...callViews(p), ...callReads(p, 'c')];

/** A call that is over, in one. */
const whole = (p: string, id: string, fields: object = {}): object => ({
  ...start(p, id).req.start,
  ...end(p, id).req.end,
  ...fields,
});

const complete = (p: string, batch: readonly object[]): Sent => ({
  path: `/v2/${p}/calls/complete`,
  body: { batch },
});

const completions: readonly Scenario[] = [
  {
    name: 'what was reported already, with other content',
    before: (p) => [report(start(p, 'c')), report(...calls(p, 3))],
    request: (p) => complete(p, [whole(p, 'c', { op_name: 'other' }), whole(p, '1', { output: 'other' })]),
    views,
  },
  {
    name: 'calls that are over, with payloads that make a segment',
    request: (p) =>
      complete(p, [
        ...Array.from({ length: 30 }, (_, i) => whole(p, `${i}`, { inputs: { q: noise(600, `${i}`) } })),
        whole(p, 'c', { inputs: { q: noise(30_000) } }),
      ]),
    views,
  },
];

const shown = (p: string, columns: readonly string[]): Sent => ({
  path: '/calls/stream_query',
  body: { project_id: p, columns },
});

const onCall = (p: string, note = 'good'): Sent => ({
  path: '/feedback/create',
  body: {
    project_id: p,
    id: `on c ${note.length}`,
    weave_ref: `weave:///${p}/call/c`,
    feedback_type: 'note',
    payload: { note },
  },
});

const before = (p: string): Sent[] => [
  report(...calls(p, 70), start(p, 'c'), end(p, 'c')),
  onCall(p),
  report(end(p, '1', { output: noise(3000) })),
];

const messages = [{ role: 'user', content: noise(5000) }];

const completion = (p: string, inputs: object = {}): Sent => ({
  path: '/completions/create',
  body: { project_id: p, inputs: { model: 'any', messages, ...inputs } },
});

const longPrompt = (p: string): Sent => ({
  path: '/obj/create',
  body: {
    obj: {
      project_id: p,
      object_id: 'long',
      val: { _type: 'MessagesPrompt', messages: [{ role: 'system', content: noise(forBucket) }] },
    },
  },
});

const isMine = { $expr: { $eq: [{ $getField: 'inputs.m.name' }, { $literal: 'mine' }] } };

const writeCalls = [
  'calls: BatchGetItem BatchWriteItem PartiQLInsert PutItem',
  'bucket/segments/*: PutObject',
  'bookkeeping: UpdateItem',
] as const;
const joinFeedback = [
  'feedback: BatchGetItem',
  'feedback/index/by_ref: Query',
  'feedback/index/by_time: Query',
  'bucket/feedback/*: GetObject',
] as const;

/** The endpoints that the door alone has, by their paths below `/weave`. */
const ofDoor: Readonly<Record<string, Fixture>> = {
  ...weaveTableFixtures,
  ...labelFixtures,
  '/agents/otel/v1/traces': callFixtures['/otel/v1/traces'],
  '/v2/{entity}/{project}/calls/complete': {
    permitted: writeCalls,
    path: (p) => `/v2/${p}/calls/complete`,
    body: (p) => ({ batch: [{ ...makeStart(p, 'w', { trace_id: 't' }), ended_at: at(1) }] }),
    answer: '{}',
    projectAt: ['body', 'batch', '0', 'project_id'],
    probes: {
      'a trace and a parent': (p, { trace, call }) => ({
        batch: [{ ...makeStart(p, 'c', { trace_id: trace, parent_id: call }), ended_at: at(1) }],
      }),
    },
    scenarios: completions,
  },
  '/v2/{entity}/{project}/call/start': {
    permitted: writeCalls,
    path: (p) => `/v2/${p}/call/start`,
    body: (p) => ({ start: makeStart(p, 'w', { trace_id: 't' }) }),
    answer: '{"id":"w","trace_id":"t"}',
    projectAt: ['body', 'start', 'project_id'],
    probes: { 'a parent': (p, { call }) => ({ start: makeStart(p, 'c', { parent_id: call }) }) },
    scenarios: [
      {
        name: 'a small start',
        request: (p) => ({ path: `/v2/${p}/call/start`, body: start(p, 'c').req }),
        views,
        atomic: true,
      },
    ],
  },
  '/v2/{entity}/{project}/call/end': {
    permitted: writeCalls,
    path: (p) => `/v2/${p}/call/end`,
    body: (p) => ({ end: { project_id: p, id: 'w', ended_at: at(1) } }),
    answer: '{}',
    projectAt: ['body', 'end', 'project_id'],
    probes: { 'a call': (p, { call }) => ({ end: { project_id: p, id: call, ended_at: at(1) } }) },
    scenarios: [
      {
        name: 'an end whose payload is a segment',
        before: (p) => [report(start(p, 'c'))],
        request: (p) => ({ path: `/v2/${p}/call/end`, body: end(p, 'c', { output: noise(20_000) }).req }),
        views,
        atomic: true,
      },
      {
        name: 'an end that names its call',
        before: (p) => [report(start(p, 'c'))],
        request: (p) => ({ path: `/v2/${p}/call/end`, body: end(p, 'c', { display_name: 'Named' }).req }),
        // The name is written first, so it may be there alone.
        views: (p) => [
          shown(p, ['id', 'display_name']),
          shown(p, ['id', 'ended_at', 'output', 'summary.weave.status']),
        ],
      },
    ],
  },
  '/completions/create': {
    permitted: [
      'calls: BatchWriteItem',
      'objects: BatchGetItem',
      'bucket/objects/*: GetObject',
      'bucket/segments/*: PutObject',
      'bucket: ListBucket',
      'bookkeeping: UpdateItem',
    ],
    body: (p, { object }) => completion(p, { prompt: `weave:///${p}/object/${object}:latest` }).body,
    status: 404,
    answer: JSON.stringify({
      detail: [
        {
          loc: ['body', 'inputs', 'prompt'],
          msg: 'there is no object "promptno" in acme/shop',
          type: 'not_found',
        },
      ],
    }),
    scenarios: [
      {
        name: 'a completion that is recorded, of a prompt in the bucket',
        before: (p) => [longPrompt(p)],
        request: (p) => completion(p, { prompt: `weave:///${p}/object/long:latest` }),
        views: callViews,
        atomic: true,
        unharmed: true,
      },
    ],
  },
  '/feedback/payload_schema': {
    permitted: countFeedback,
    body: (p) => ({ project_id: p, start: at(0), end: at(1) }),
    answer: '{"paths":[]}',
    namesNothing: true,
    scenarios: [{}, { feedback_type: 'note' }].map((fields) => ({
      name: `what payloads of all sizes have, of ${'feedback_type' in fields ? 'one type' : 'all records'}`,
      before: (p: string) => [20, 9000, 450_000].map((characters) => onCall(p, noise(characters))),
      request: (p) => ({
        path: '/feedback/payload_schema',
        body: { project_id: p, start: at(0), ...fields },
      }),
    })),
  },
  '/trace/usage': {
    permitted: [
      'calls: BatchGetItem Query',
      'calls/index/by_time: Query',
      'calls/index/by_trace: Query',
      'calls/index/by_thread: Query',
      'calls/index/by_error: Query',
      'bucket/segments/*: GetObject',
      'bucket: ListBucket',
      'costs: Query',
      ...joinFeedback,
    ],
    seldom: { 'Query on calls': 'as for /calls/stream_query' },
    body: (p, { trace }) => ({ project_id: p, filter: { trace_ids: [trace] } }),
    answer: '{"call_usage":{},"error_counts":{},"unfinished_call_ids":[]}',
    scenarios: [
      {
        name: 'what a trace used, with an end apart, by a query of its payloads',
        before,
        request: (p) => ({
          path: '/trace/usage',
          body: {
            project_id: p,
            filter: { trace_ids: ['trace'] },
            query: {
              $expr: { $contains: { input: { $getField: 'output' }, substr: { $literal: 'answer' } } },
            },
            include_costs: true,
          },
        }),
      },
    ],
  },
};

/** A scenario all of whose requests come through the door. */
const scenarioOfDoor = ({ before, request, views, ...scenario }: Scenario): Scenario => ({
  ...scenario,
  ...(before && { before: (p: string) => before(p).map(throughDoor) }),
  request: (p, answers) => throughDoor(request(p, answers)),
  ...(views && { views: (p: string) => views(p).map(throughDoor) }),
});

/** What endpoints do through the door that they do not by themselves. */
const further: readonly Scenario[] = [
  ...labelScenarios['/objs/query'],
  ...labelScenarios['/obj/delete'],
  {
    name: 'how many calls have a ref to what says something',
    before: (p) => [
      { path: '/obj/create', body: { obj: { project_id: p, object_id: 'm', val: { name: 'mine' } } } },
      report(start(p, 'c', { inputs: { m: `weave:///${p}/object/m:v0` } })),
    ],
    request: (p) => ({
      path: '/calls/query_stats',
      body: { project_id: p, expand_columns: ['inputs.m'], query: isMine },
    }),
  },
];

/** Below this path is all of the door. */
export const doorPath = '/weave/{proxy+}';

/** The fixtures of the door's endpoints, by their whole paths. */
export const doorFixtures: Readonly<Record<string, Fixture>> = Object.fromEntries(
  Object.entries(ofDoor).map(([path, fixture]): [string, Fixture] => [
    `/weave${path}`,
    {
      ...fixture,
      path: (project, names) => `/weave${fixture.path?.(project, names) ?? path}`,
      ...(fixture.scenarios && { scenarios: fixture.scenarios.map(scenarioOfDoor) }),
    },
  ]),
);

/** Functions of their own among those of the door. */
const apart: readonly string[] = ['/weave/agents/otel/v1/traces', '/weave/completions/create'];

/** The path of the route that has the function behind an endpoint. */
export const getFunctionPath = (path: string): string =>
  path.startsWith('/weave/') && !apart.includes(path) ? doorPath : path;

/** The scenarios of the door's function: those of all its endpoints. */
export const doorScenarios: readonly Scenario[] = [
  ...Object.entries(doorFixtures).flatMap(([path, { scenarios = [] }]) =>
    apart.includes(path) ? [] : scenarios,
  ),
  ...further.map(scenarioOfDoor),
];

/** Names of our own API as Weave's SDKs write them. */
const asWeave = (sent: Sent): Sent =>
  Buffer.isBuffer(sent.body)
    ? sent
    : {
        ...sent,
        body: JSON.parse(
          JSON.stringify(sent.body ?? {})
            .replaceAll('"svc_ref"', '"weave_ref"')
            .replaceAll('svc:///', 'weave:///'),
        ),
      };

/** Endpoints that the door has by the paths of our own. */
const ofBoth: readonly Readonly<Record<string, Fixture>>[] = [
  callFixtures,
  queryFixtures,
  objectFixtures,
  costFixtures,
  feedbackFixtures,
];

/** What uses the permissions that the door's scenarios do not. */
export const doorUses: readonly Use[] = ofBoth
  .flatMap((fixtures) => Object.entries(fixtures))
  .filter(([path]) => !/^\/(otel|inference)\//.test(path))
  .flatMap(([, { scenarios = [], uses = [] }]) => [...scenarios, ...uses])
  .concat(withRow(makeLargeRow(weaveDoor.digests)))
  .map(({ name, before, request }) => ({
    name,
    before: (p) => (before?.(p) ?? []).map(asWeave).map(throughDoor),
    request: (p, answers) => throughDoor(asWeave(request(p, answers))),
  }));

/** What the door's function may do: all that its endpoints do. */
export const doorPermitted: readonly string[] = [
  'calls: BatchGetItem BatchWriteItem DeleteItem PartiQLInsert PutItem Query',
  'calls/index/by_time: Query',
  'calls/index/by_trace: Query',
  'calls/index/by_thread: Query',
  'calls/index/by_error: Query',
  'bucket/segments/*: GetObject PutObject DeleteObject',
  'objects: BatchGetItem BatchWriteItem ConditionCheckItem DeleteItem PutItem Query',
  'bucket/objects/*: GetObject PutObject DeleteObject',
  'bucket/files/*: GetObject PutObject',
  'bucket/tables/*: GetObject PutObject',
  'bucket: ListBucket',
  'costs: BatchWriteItem PartiQLInsert Query',
  'feedback: BatchGetItem ConditionCheckItem DeleteItem PartiQLInsert PutItem',
  'feedback/index/by_ref: Query',
  'feedback/index/by_time: Query',
  'feedback/index/by_type: Query',
  'bucket/feedback/*: GetObject PutObject DeleteObject',
  'bookkeeping: BatchWriteItem Query UpdateItem',
  'audit: PartiQLInsert',
];
