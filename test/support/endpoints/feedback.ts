import type { Sent } from '../service/in-process.ts';
import { byId, callRef, type Fixture, makeFeedback, missing, where } from './fixture.ts';
import { noise } from './scenario.ts';

/** Above this many characters of noise a payload is an object in the bucket. */
const forBucket = 450_000;

const record = (p: string, id: string, characters = 20) => ({
  project_id: p,
  id,
  svc_ref: `svc:///${p}/call/c`,
  feedback_type: 'note',
  payload: { text: noise(characters, id) },
});

const create = (p: string, id: string, characters?: number): Sent => ({
  path: '/feedback/create',
  body: record(p, id, characters),
});
const createAll = (...batch: readonly object[]): Sent => ({
  path: '/feedback/batch/create',
  body: { batch },
});
const several = (p: string, count: number): object[] =>
  Array.from({ length: count }, (_, i) => record(p, `f${i}`));

const views = (p: string): Sent[] => [
  { path: '/feedback/query', body: { project_id: p } },
  {
    path: '/feedback/query',
    body: {
      project_id: p,
      query: { $expr: { $eq: [{ $getField: 'svc_ref' }, { $literal: `svc:///${p}/call/c` }] } },
    },
  },
];

const replace = (p: string, old: string, id: string, characters?: number): Sent => ({
  path: '/feedback/replace',
  body: { ...record(p, id, characters), feedback_id: old },
});

const joinFeedback = [
  'feedback: BatchGetItem',
  'feedback/index/by_ref: Query',
  'bucket/feedback/*: GetObject',
] as const;
const createFeedback = [
  'feedback: BatchGetItem PartiQLInsert PutItem',
  'bucket/feedback/*: PutObject DeleteObject',
  'bookkeeping: UpdateItem',
] as const;
const note = (p: string, fields: object = {}) =>
  makeFeedback(p, { id: 'f', payload: { text: 'good' }, ...fields });
const created = '{"id":"f","created_at":"<time>","svc_user_id":"bob","payload":{"text":"good"}}';

/** What reads the feedback of a span of time, of one type or all. */
export const countFeedback = [
  'feedback: BatchGetItem',
  'feedback/index/by_time: Query',
  'feedback/index/by_type: Query',
  'bucket/feedback/*: GetObject',
  'bucket: ListBucket',
] as const;

/** Records with payloads in index rows, in items and in the bucket. */
const recordsOfAllSizes = (p: string): Sent[] => [
  createAll(...several(p, 20)),
  create(p, 'large', forBucket),
  create(p, 'apart', 9000),
];

/** All that tests report, whenever they run; with an end, the same question gives the same answer. */
const sinceOctober = { start: '2026-10-01T00:00:00Z', end: '2100-01-01T00:00:00Z', granularity: 604_800 };

/** The routes of feedback. */
export const feedbackFixtures = {
  '/feedback/create': {
    permitted: createFeedback,
    body: (p) => note(p),
    answer: created,
    probes: {
      'a record': (p, { feedback }) => note(p, { id: feedback }),
      'a ref': (p, { call }) => note(p, { svc_ref: callRef('umbrella/lab', call) }),
    },
    scenarios: [
      { name: 'a small record', request: (p) => create(p, 'f'), views, atomic: true },
      {
        name: 'a record that there is',
        before: (p) => [create(p, 'f', 30_000)],
        request: (p) => create(p, 'f', 30_000),
        views,
        atomic: true,
      },
      {
        name: 'a record whose payload is an object',
        request: (p) => create(p, 'f', forBucket),
        views,
        atomic: true,
      },
    ],
    uses: [
      {
        name: 'a record that is there, in the bucket',
        before: (p) => [create(p, 'f', forBucket)],
        request: (p) => create(p, 'f', forBucket),
      },
      {
        name: 'a record under the id of one that was replaced',
        before: (p) => [create(p, 'f'), replace(p, 'f', 'g')],
        request: (p) => create(p, 'f', 40),
      },
    ],
  },
  '/feedback/batch/create': {
    permitted: createFeedback,
    body: (p) => ({ batch: [note(p)] }),
    answer: `{"res":[${created}]}`,
    projectAt: ['body', 'batch', '0', 'project_id'],
    probes: {
      records: (p, { feedback }) => ({ batch: ['3', '4'].map((n) => note(p, { id: `${feedback}${n}` })) }),
    },
    scenarios: [
      {
        name: 'records of which some are there, one in the bucket',
        before: (p) => [createAll(...several(p, 5))],
        request: (p) => createAll(...several(p, 30), record(p, 'large', forBucket)),
        views,
      },
    ],
    uses: [
      {
        name: 'a record that is there, in the bucket',
        before: (p) => [create(p, 'f', forBucket)],
        request: (p) => createAll(record(p, 'f', forBucket), record(p, 'g')),
      },
      {
        name: 'a record under the id of one that was replaced',
        before: (p) => [create(p, 'f', forBucket), replace(p, 'f', 'g', forBucket)],
        request: (p) => createAll(record(p, 'f', forBucket), record(p, 'h')),
      },
    ],
  },
  '/feedback/replace': {
    permitted: [
      'feedback: BatchGetItem ConditionCheckItem PutItem',
      'bucket/feedback/*: PutObject DeleteObject',
      'bookkeeping: UpdateItem',
    ],
    body: (p, { feedback }) => ({ ...note(p, { id: 'g' }), feedback_id: feedback }),
    ...missing('feedback_id', 'there is no feedback feedb-no in this project'),
    scenarios: [
      {
        name: 'a small record by another',
        before: (p) => [createAll(...several(p, 2))],
        request: (p) => replace(p, 'f0', 'new'),
        views,
        atomic: true,
      },
      {
        name: 'a record under its own id',
        before: (p) => [create(p, 'f', 30_000)],
        request: (p) => replace(p, 'f', 'f', 400),
        views,
        atomic: true,
      },
      {
        name: 'a record by another, both in the bucket',
        before: (p) => [create(p, 'old', forBucket)],
        request: (p) => replace(p, 'old', 'new', forBucket),
        views,
        atomic: true,
      },
    ],
    uses: [
      {
        name: 'a record by one that is there already',
        before: (p) => [create(p, 'f'), create(p, 'g')],
        request: (p) => replace(p, 'f', 'g'),
      },
    ],
  },
  '/feedback/query': {
    permitted: [
      ...joinFeedback,
      'feedback/index/by_time: Query',
      'feedback/index/by_type: Query',
      'bucket: ListBucket',
    ],
    body: (p, { feedback }) => ({ project_id: p, query: byId(feedback) }),
    answer: '{"result":[]}',
    probes: {
      'a ref': (p, { call }) => ({ project_id: p, query: where('svc_ref', callRef('umbrella/lab', call)) }),
    },
    scenarios: [
      {
        name: 'all records, payloads from items and the bucket included',
        before: recordsOfAllSizes,
        request: (p) => ({ path: '/feedback/query', body: { project_id: p } }),
      },
    ],
    uses: [where('feedback_type', 'note'), where('svc_ref', 'svc:///acme/none/call/c')].map((query) => ({
      name: `records by their ${JSON.stringify(query).includes('svc_ref') ? 'ref' : 'type'}`,
      before: recordsOfAllSizes,
      request: (p) => ({ path: '/feedback/query', body: { project_id: p, query } }),
    })),
  },
  '/feedback/stats': {
    permitted: countFeedback,
    body: (p) => ({ project_id: p, ...sinceOctober, metrics: [{ json_path: 'text' }] }),
    namesNothing: true,
    scenarios: [{}, { feedback_type: 'note' }].map((fields) => ({
      name: `statistics of ${'feedback_type' in fields ? 'one type' : 'all records'}, payloads of all sizes included`,
      before: recordsOfAllSizes,
      request: (p) => ({
        path: '/feedback/stats',
        body: {
          project_id: p,
          ...sinceOctober,
          ...fields,
          metrics: [{ json_path: 'text', value_type: 'categorical' }],
        },
      }),
    })),
  },
  '/feedback/purge': {
    permitted: [
      'feedback: BatchGetItem DeleteItem PutItem',
      'bucket/feedback/*: DeleteObject',
      'bookkeeping: UpdateItem',
      'audit: PartiQLInsert',
    ],
    seldom: { 'UpdateItem on bookkeeping': 'records of finished hours leave a mark' },
    body: (p, { feedback }) => ({ project_id: p, query: byId(feedback) }),
    answer: '{}',
    scenarios: [
      {
        name: 'records, one of them in the bucket',
        before: (p) => [createAll(...several(p, 4)), create(p, 'large', forBucket)],
        request: (p) => ({
          path: '/feedback/purge',
          body: { project_id: p, query: byId('f0', 'f1', 'large', 'nothing') },
        }),
        views,
      },
    ],
  },
} as const satisfies Readonly<Record<string, Fixture>>;
