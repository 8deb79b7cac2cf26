import type { Sent } from '../service/in-process.ts';
import { type Fixture, makeFeedback, makeStart, price } from './fixture.ts';
import {
  callReads,
  calls,
  callViews,
  end,
  fileForm,
  forBucket,
  largeNoteOn,
  noise,
  report,
  type Scenario,
  start,
} from './scenario.ts';

const createObject = (p: string, objectId: string, val: unknown): Sent => ({
  path: '/obj/create',
  body: { obj: { project_id: p, object_id: objectId, val } },
});

/** Sets the retention of a project. */
export const retain = (
  p: string,
  days: { readonly calls_days?: number; readonly feedback_days?: number },
): Sent => createObject(p, 'retention', { _type: 'Retention', ...days });

/**
 * Fills a project with what the service stores, small and large: calls that are listed, failed, in a thread,
 * reported again and never started, of spans and log records, feedback, objects, tables, files and prices.
 */
export const fillProject = (p: string): Sent[] => [
  report(...calls(p, 20)),
  report(start(p, 'c', { inputs: { q: noise(forBucket) } }), end(p, 'c', { exception: 'failed' })),
  // It was reported before, with another payload.
  report(start(p, '3', { inputs: { q: noise(20_000, 'again') } })),
  report(end(p, 'never started', { output: noise(30_000) })),
  { path: '/call/start', body: { start: makeStart(p, 'child of nothing', { parent_id: 'unknown' }) } },
  largeNoteOn(p, 'c'),
  { path: '/feedback/create', body: makeFeedback(p, { id: 'small' }) },
  {
    path: '/feedback/replace',
    body: { ...makeFeedback(p, { id: 'newer' }), feedback_id: 'small' },
  },
  createObject(p, 'prompt', { text: 'Be brief.' }),
  createObject(p, 'prompt', { text: noise(forBucket) }),
  createObject(p, 'limits', { _type: 'Limits', usd_per_day: 5 }),
  fileForm(p, 'small'),
  fileForm(p, noise(forBucket)),
  { path: '/table/create', body: { table: { project_id: p, rows: [{ a: 1 }, { b: noise(forBucket) }] } } },
  { path: '/cost/create', body: { project_id: p, costs: { 'm-1': price } } },
  {
    path: '/calls/stats',
    body: {
      project_id: p,
      start: '2026-10-01T00:00:00Z',
      end: '2026-10-02T00:00:00Z',
      call_metrics: [{ metric: 'latency_ms', aggregations: ['sum'] }],
    },
  },
];

const views = (p: string): Sent[] => [
  ...callViews(p),
  ...callReads(p, 'c', '3', 'child of nothing'),
  { path: '/feedback/query', body: { project_id: p } },
  { path: '/objs/query', body: { project_id: p } },
  { path: '/cost/query', body: { project_id: p } },
];

/** Deletes a project. */
export const deleteIt = (p: string): Sent => ({
  path: '/project/delete',
  body: { project_id: p, confirm: p },
});

const deletion: Scenario = {
  name: 'a project with all that one can have',
  before: fillProject,
  request: deleteIt,
  views,
};

const application: Scenario = {
  name: 'a retention of what is stored, in items and in the bucket, some of it reported again',
  before: (p) => [...fillProject(p), retain(p, { calls_days: 3650, feedback_days: 3650 })],
  request: (p) => ({ path: '/project/retention', body: { project_id: p } }),
  views,
};

/** What the one function of both may do. */
const permitted = [
  'calls: BatchWriteItem Query Scan UpdateItem',
  'calls/index/by_time: Query',
  'feedback: BatchWriteItem Scan UpdateItem',
  'feedback/index/by_time: Query',
  'objects: BatchWriteItem Query Scan',
  'costs: BatchWriteItem Query',
  'bookkeeping: BatchGetItem BatchWriteItem Query Scan UpdateItem',
  'bucket/segments/*: DeleteObject PutObjectTagging',
  'bucket/feedback/*: DeleteObject PutObjectTagging',
  'bucket/objects/*: DeleteObject',
  'bucket/files/*: DeleteObject',
  'bucket/tables/*: DeleteObject',
  'bucket/answers/*: DeleteObject',
  'bucket: ListBucket',
  'audit: PartiQLInsert',
];

const inAnswers = {
  'DeleteObject on bucket/answers/*': 'only requests to models that ask for it leave answers there',
};

/** The routes that go over all that a project holds. */
export const projectFixtures = {
  '/project/delete': {
    permitted,
    seldom: inAnswers,
    body: (p) => ({ project_id: p, confirm: p }),
    namesNothing: true,
    scenarios: [deletion],
    uses: [application],
  },
  '/project/retention': {
    permitted,
    seldom: inAnswers,
    body: (p) => ({ project_id: p }),
    namesNothing: true,
    scenarios: [application],
    uses: [deletion],
  },
} as const satisfies Readonly<Record<string, Fixture>>;
