import { describe, expect, it } from 'vitest';
import { type CallsQuery, everyCall, type Plan, plan, planSummary } from '../../../core/query/index.ts';
import { mostIds } from '../../../core/query/plan.ts';
import type { ProjectId } from '../../../core/wire/index.ts';

const query = (
  fields: Partial<Omit<CallsQuery, 'filter'>> & { filter?: Partial<CallsQuery['filter']> },
): CallsQuery => ({
  projectId: 'acme/airline' as ProjectId,
  limit: null,
  offset: 0,
  direction: 'ascending',
  columns: null,
  ...fields,
  filter: { ...everyCall, ...fields.filter },
});

const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `id-${i}`);

describe('plan', () => {
  const cases: [string, Parameters<typeof query>[0], Partial<Plan>][] = [
    [
      'everything: the project in order of time',
      {},
      { source: { kind: 'project' }, readsPayloads: true, enough: null },
    ],
    [
      'the newest 100: no more rows than that',
      { limit: 100, offset: 5, direction: 'descending' },
      { enough: 105, direction: 'descending' },
    ],
    [
      'a limit with a filter: nobody knows how many rows',
      { limit: 100, filter: { traceRootsOnly: true } },
      { enough: null, onHeaders: ['traceRootsOnly'] },
    ],
    ['a limit of 0: nothing is read', { limit: 0 }, { source: { kind: 'nothing' } }],
    ['an empty list: nothing is read', { filter: { opNames: [] } }, { source: { kind: 'nothing' } }],
    [
      'an empty list beside a full one',
      { filter: { callIds: ['a'], runIds: [] } },
      { source: { kind: 'nothing' } },
    ],
    [
      'ids: by id, each once',
      { filter: { callIds: ['a', 'b', 'a'] } },
      { source: { kind: 'calls', ids: ['a', 'b'] } },
    ],
    [
      'ids win over everything else',
      { filter: { callIds: ['a'], traceIds: ['t'], threadIds: ['h'] } },
      { source: { kind: 'calls', ids: ['a'] } },
    ],
    [
      'what can be no id: nothing is read',
      { filter: { parentIds: ['x'.repeat(3000), '\ud800'] } },
      { source: { kind: 'nothing' } },
    ],
    ['a trace: its index', { filter: { traceIds: ['t'] } }, { source: { kind: 'traces', ids: ['t'] } }],
    [
      'a trace wins over a thread',
      { filter: { traceIds: ['t'], threadIds: ['h'] } },
      { source: { kind: 'traces', ids: ['t'] } },
    ],
    ['a parent: its trace', { filter: { parentIds: ['p'] } }, { source: { kind: 'parents', ids: ['p'] } }],
    [
      'a turn: its thread',
      { filter: { turnIds: ['u'], threadIds: ['h'] } },
      { source: { kind: 'turns', ids: ['u'] } },
    ],
    ['a thread: its index', { filter: { threadIds: ['h'] } }, { source: { kind: 'threads', ids: ['h'] } }],
    [
      'op names: headers decide',
      { filter: { opNames: ['x:*'] } },
      { source: { kind: 'project' }, onHeaders: ['opNames'], onPayloads: [] },
    ],
    [
      'users and runs: headers decide',
      { filter: { userIds: ['u'], runIds: ['r'] } },
      { onHeaders: ['userIds', 'runIds'] },
    ],
    [
      'refs in the inputs: payloads decide',
      { filter: { inputRefs: ['svc:///a/b/object/x:1'] }, columns: ['id'] },
      { onHeaders: [], onPayloads: ['inputRefs'], readsPayloads: true },
    ],
    [
      'refs in a trace: headers first',
      { filter: { traceIds: ['t'], outputRefs: ['r'] } },
      { onHeaders: ['traceIds'], onPayloads: ['outputRefs'] },
    ],
    [
      'columns of the header: no payload',
      { columns: ['id', 'ended_at', 'thread_id'] },
      { readsPayloads: false },
    ],
    ['a path into the payload: payloads', { columns: ['inputs.model'] }, { readsPayloads: true }],
    ['no columns at all: no payload', { columns: [] }, { readsPayloads: false }],
    [
      'too many ids to look up: they are a filter',
      { filter: { callIds: many(mostIds.calls + 1) } },
      { source: { kind: 'project' }, onHeaders: ['callIds'] },
    ],
    [
      'too many traces, few threads: threads',
      { filter: { traceIds: many(mostIds.others + 1), threadIds: ['h'] } },
      { source: { kind: 'threads', ids: ['h'] } },
    ],
  ];

  it.each(cases)('%s', (_name, asked, expected) => {
    expect(plan(query(asked))).toMatchObject(expected);
  });

  it('has a short form for the log, without the ids themselves', () => {
    const { filter } = query({ filter: { traceIds: ['t1', 't2'] } });
    expect(planSummary(plan(query({ filter })))).toMatchObject({
      source: '2 traces',
      direction: 'ascending',
    });
    expect(planSummary(plan(query({})))).toMatchObject({ source: 'project' });
  });
});
