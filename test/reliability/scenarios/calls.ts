import type { Sent } from '../../support/in-process.ts';
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
} from './scenario.ts';

const startOf = (item: ReturnType<typeof start>): Sent => ({ path: '/call/start', body: item.req });
const endOf = (item: ReturnType<typeof end>): Sent => ({ path: '/call/end', body: item.req });
const views = (p: string): Sent[] => [...callViews(p), ...callReads(p, 'c')];

const starts: readonly Scenario[] = [
  { name: 'a small start', request: (p) => startOf(start(p, 'c')), views, atomic: true },
  {
    name: 'a start whose payload is a segment',
    request: (p) => startOf(start(p, 'c', { inputs: { q: noise(20_000) } })),
    views,
    atomic: true,
  },
  {
    name: 'a start whose payload is an object',
    request: (p) => startOf(start(p, 'c', { inputs: { q: noise(forBucket) } })),
    views,
    atomic: true,
  },
  {
    name: 'a start of a child that takes the trace of its parent',
    before: (p) => [report(start(p, 'parent'))],
    request: (p) => startOf(start(p, 'c', { parent_id: 'parent', trace_id: null })),
    views,
    atomic: true,
  },
  {
    name: 'a start that replaces one beside its end, and moves it',
    before: (p) => [report(start(p, 'c'), end(p, 'c'))],
    request: (p) =>
      startOf(start(p, 'c', { trace_id: 'moved', started_at: '2026-10-01T00:00:00.5Z', op_name: 'other' })),
    views,
  },
  {
    name: 'a start behind its end',
    before: (p) => [report(end(p, 'c', { output: noise(20_000) }))],
    request: (p) => startOf(start(p, 'c')),
    views,
  },
];

const ends: readonly Scenario[] = [
  {
    name: 'a small end',
    before: (p) => [report(start(p, 'c'))],
    request: (p) => endOf(end(p, 'c')),
    views,
    atomic: true,
  },
  { name: 'an end before its start', request: (p) => endOf(end(p, 'c')), views, atomic: true },
  {
    name: 'an end whose payload is an object',
    before: (p) => [report(start(p, 'c'))],
    request: (p) => endOf(end(p, 'c', { output: noise(forBucket) })),
    views,
    atomic: true,
  },
  {
    name: 'an end that replaces one that lies beside the start',
    before: (p) => [report(start(p, 'c'), end(p, 'c'))],
    request: (p) => endOf(end(p, 'c', { output: 'another', exception: 'failed' })),
    views,
    atomic: true,
  },
];

const batches: readonly Scenario[] = [
  {
    name: 'calls with their ends, of two projects, one in the bucket',
    request: (p) =>
      report(
        ...calls(p, 40),
        start(p, 'c', { inputs: { q: noise(forBucket) } }),
        end(p, 'c'),
        start(`${p}-2`, 'c'),
      ),
    views: (p) => [...views(p), ...callViews(`${p}-2`)],
  },
  {
    name: 'starts alone, and ends of what was started before',
    before: (p) => [report(...Array.from({ length: 30 }, (_, i) => start(p, `e${i}`)))],
    request: (p) =>
      report(
        ...Array.from({ length: 30 }, (_, i) => end(p, `e${i}`)),
        ...Array.from({ length: 30 }, (_, i) => start(p, `s${i}`, { inputs: { q: noise(600, `${i}`) } })),
      ),
    views,
  },
  {
    name: 'what was reported already, with other content',
    before: (p) => [report(...calls(p, 12)), report(start(p, 'c'), end(p, 'x'))],
    request: (p) =>
      report(
        ...calls(p, 12, { op_name: 'other' }).filter((_, i) => i % 3 !== 1),
        start(p, 'x'),
        start(p, 'c', { trace_id: 'moved' }),
        end(p, 'c'),
      ),
    views,
  },
];

const updates: readonly Scenario[] = [
  {
    name: 'another display name',
    before: (p) => [report(start(p, 'c'), end(p, 'c'))],
    request: (p) => ({
      path: '/call/update',
      body: { project_id: p, call_id: 'c', display_name: 'Answer' },
    }),
    views,
    atomic: true,
  },
];

/** A call with so many children, which have one each. */
const family = (p: string, children: number): object[] => [
  start(p, 'c', { inputs: { q: noise(2000) } }),
  end(p, 'c'),
  ...Array.from({ length: children }, (_, i) => [
    start(p, `child ${i}`, { parent_id: 'c' }),
    end(p, `child ${i}`),
    start(p, `grandchild ${i}`, { parent_id: `child ${i}` }),
  ]).flat(),
];

const deletions: readonly Scenario[] = [
  {
    name: 'a call with what is below it, beside others in its segment',
    before: (p) => [
      report(...family(p, 8), ...calls(p, 3)),
      report(end(p, 'grandchild 0', { output: noise(5000) })),
    ],
    request: (p) => ({ path: '/calls/delete', body: { project_id: p, call_ids: ['c', 'nothing'] } }),
    views,
  },
  {
    name: 'a call whose payload is an object that it shares',
    before: (p) => [
      report(start(p, 'c', { inputs: { q: noise(40_000) } }), end(p, 'c', { output: noise(forBucket, 'b') })),
    ],
    request: (p) => ({ path: '/calls/delete', body: { project_id: p, call_ids: ['c'] } }),
    views,
    atomic: true,
  },
];

/** The routes that write calls. */
export const callScenarios: Readonly<Record<string, readonly Scenario[]>> = {
  '/call/start': starts,
  '/call/end': ends,
  '/call/upsert_batch': batches,
  '/call/update': updates,
  '/calls/delete': deletions,
};
