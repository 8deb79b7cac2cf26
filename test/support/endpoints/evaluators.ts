import type { Sent } from '../service/in-process.ts';
import { politeness } from '../values/evaluators.ts';
import { type Fixture, objectRef, price } from './fixture.ts';
import { calls, end, forBucket, noise, report, type Scenario, start } from './scenario.ts';

const evaluator = (p: string, objectId: string, val: object): Sent => ({
  path: '/obj/create',
  body: { obj: { project_id: p, object_id: objectId, val } },
});

/** A judge with so long a prompt that it lies in the bucket. */
const longWinded = politeness({
  judge: {
    ...politeness().judge,
    model: 'm-1',
    messages: [0, 1, 2, 3].map((n) => ({ role: 'user', content: `${noise(19_000, String(n))} {{output}}` })),
  },
});

const before = (p: string): Sent[] => [
  { path: '/cost/create', body: { project_id: p, costs: { 'm-1': price } } },
  evaluator(p, 'long', longWinded),
  report(...calls(p, 3)),
  report(start(p, 'c', { inputs: { q: noise(forBucket) } }), end(p, 'c')),
];

const prices: Scenario = {
  name: 'what it costs to judge calls of segments and of the bucket',
  before,
  request: (p) => ({
    path: '/calls/score',
    body: {
      project_id: p,
      call_ids: ['c', '0'],
      scorer_refs: [objectRef(p, 'long', 'latest')],
      dry_run: true,
    },
  }),
};

/** The routes of evaluators. */
export const evaluatorFixtures = {
  '/calls/score': {
    permitted: [
      'calls: BatchGetItem',
      'bucket/segments/*: GetObject',
      'bucket: ListBucket',
      'objects: BatchGetItem',
      'bucket/objects/*: GetObject',
      'costs: Query',
      'feedback: BatchGetItem',
    ],
    body: (p, { call, object }) => ({
      project_id: p,
      call_ids: [call],
      scorer_refs: [objectRef(p, object, 'latest')],
      dry_run: true,
    }),
    status: 422,
    answer: JSON.stringify({
      detail: [
        {
          loc: ['body', 'scorer_refs', '0'],
          msg: 'should lead to an object of class Evaluator',
          type: 'value_error',
        },
      ],
    }),
    scenarios: [prices],
  },
} as const satisfies Readonly<Record<string, Fixture>>;
