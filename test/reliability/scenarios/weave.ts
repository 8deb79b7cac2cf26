import type { Sent } from '../../support/in-process.ts';
import { callReads, calls, callViews, end, noise, report, type Scenario, start } from './scenario.ts';
import { dataScenarios } from './weave-data.ts';
import { labelScenarios } from './weave-labels.ts';

/* Views and what comes before are the requests of both dialects: their reports hold no name. */

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

const onCall = (p: string): Sent => ({
  path: '/feedback/create',
  body: {
    ...{ project_id: p, id: 'on c', weave_ref: `weave:///${p}/call/c` },
    ...{ feedback_type: 'note', payload: { note: 'good' } },
  },
});

const before = (p: string): Sent[] => [
  report(...calls(p, 20), start(p, 'c'), end(p, 'c')),
  onCall(p),
  report(end(p, '1', { output: noise(3000) })),
];

const isNoted = {
  $expr: { $eq: [{ $getField: 'feedback.[note].payload.note' }, { $literal: 'good' }] },
};

const isMine = { $expr: { $eq: [{ $getField: 'inputs.m.name' }, { $literal: 'mine' }] } };

/** Routes of calls, as Weave's dialect has them. */
export const weaveScenarios: Readonly<Record<string, readonly Scenario[]>> = {
  ...dataScenarios,
  ...labelScenarios,
  '/v2/{entity}/{project}/calls/complete': completions,
  '/v2/{entity}/{project}/call/start': [
    {
      name: 'a small start',
      request: (p) => ({ path: `/v2/${p}/call/start`, body: start(p, 'c').req }),
      views,
      atomic: true,
    },
  ],
  '/v2/{entity}/{project}/call/end': [
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
  '/trace/usage': [
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
  '/calls/query_stats': [
    {
      name: 'how many calls have feedback that says something',
      before,
      request: (p) => ({ path: '/calls/query_stats', body: { project_id: p, query: isNoted } }),
    },
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
  ],
};
