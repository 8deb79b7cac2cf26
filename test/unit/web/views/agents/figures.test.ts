import { describe, expect, it } from 'vitest';
import type { StatsBucket } from '../../../../../web/api/contract.ts';
import {
  agentGroup,
  agentPath,
  cachedShare,
  countsRequest,
  groupsRequest,
  kindPath,
  lackVersions,
  promptPath,
  promptVersionPath,
  releasePath,
  runsOf,
  selectionOfAll,
  selectionOfNamed,
  sharesOfResults,
  sumLoops,
  sumsRequest,
  toAgents,
  toolGroup,
  toolPath,
  toPrompts,
  toTools,
  versionPath,
} from '../../../../../web/views/agents/figures.ts';

const scope = { project: 'a/b' };
const span = { start: Date.parse('2026-10-01T00:00:00Z'), end: Date.parse('2026-10-08T00:00:00Z') };
const day = (number: number) => `2026-10-0${number}T00:00:00Z`;

/** A bucket of calls. */
const calls = (fields: Readonly<Record<string, unknown>>, at = 1): StatsBucket => ({
  timestamp: day(at),
  sum_call_count: 10,
  sum_error_count: 0,
  ...fields,
});

/** A bucket of usage. */
const usage = (fields: Readonly<Record<string, unknown>>, at = 1): StatsBucket => ({
  timestamp: day(at),
  model: 'gpt-5',
  sum_total_tokens: 100,
  ...fields,
});

const answer = (call_buckets: StatsBucket[], usage_buckets: StatsBucket[] = []) => ({
  call_buckets,
  usage_buckets,
});

describe('requests for figures', () => {
  it('count all calls by the nearest agent, and those that name one by kind', () => {
    const request = groupsRequest(selectionOfAll(scope), span, [agentGroup]);
    expect(request).toMatchObject({
      project_id: 'a/b',
      filter: { sources: ['production'] },
      group_by: ['agent'],
    });
    expect(request).not.toHaveProperty('query');
    expect(request.call_metrics?.map(({ metric }) => metric)).toEqual([
      'call_count',
      'error_count',
      'latency_ms',
      'trace_count',
      'waited_ms',
    ]);
    const named = groupsRequest(selectionOfNamed({ ...scope, source: 'all' }), span, [agentPath, kindPath]);
    expect(named).toMatchObject({
      query: { $expr: { $and: [{ $ne: [{ $getField: agentPath }, { $literal: null }] }] } },
      group_by: [agentPath, kindPath],
    });
    expect(named).not.toHaveProperty('filter');
  });

  it('leave out what they do not need: usage of counts, latencies of sums over time', () => {
    expect(countsRequest(selectionOfAll(scope), span, [toolGroup])).not.toHaveProperty('usage_metrics');
    expect(sumsRequest(selectionOfAll(scope), span, [agentGroup], 3600)).toMatchObject({
      granularity: 3600,
      call_metrics: [{ metric: 'call_count' }, { metric: 'error_count' }],
    });
  });

  it('find runs by the name that calls say, or by that of their operation', () => {
    expect(runsOf(scope, '7', true).where).toEqual([
      { path: agentPath, op: 'is', value: '"7"' },
      { path: kindPath, op: 'is', value: 'agent' },
    ]);
    expect(runsOf(scope, 'agent.turn', false).where).toEqual([
      { path: 'summary.svc.trace_name', op: 'is', value: 'agent.turn' },
    ]);
  });
});

const coder = { agent: 'coder' };
const namesCoder = { [agentPath]: 'coder' };

const figures = answer(
  [
    calls({
      ...coder,
      sum_call_count: 14,
      sum_error_count: 2,
      sum_trace_count: 4,
      count_waited_ms: 3,
      sum_waited_ms: 1500,
    }),
    calls({ agent: null }),
  ],
  [usage({ ...coder, sum_total_cost: 2, sum_input_tokens: 80, sum_cache_read_input_tokens: 60 })],
);

const named = answer([
  calls({ ...namesCoder, [kindPath]: 'agent', p95_latency_ms: 900, sum_call_count: 4 }),
  calls({ ...namesCoder, [kindPath]: 'model', p95_latency_ms: 100 }),
]);

const version = (name: string | null) => ({ [versionPath]: name });

const versions = {
  runs: answer([
    calls({ ...namesCoder, ...version('2.9'), p95_latency_ms: 1000 }),
    calls({ ...namesCoder, ...version('2.10'), p95_latency_ms: 2000 }),
  ]),
  sums: answer(
    [
      calls({ ...coder, ...version('2.9') }, 1),
      calls({ ...coder, ...version('2.9') }, 2),
      calls({ ...coder, ...version('2.10'), sum_error_count: 5 }, 2),
    ],
    [
      usage({ ...coder, ...version('2.9'), sum_total_cost: 1 }),
      usage({ ...coder, ...version('2.10'), sum_total_cost: 3 }, 2),
    ],
  ),
};

const none = { versions: undefined, releases: undefined };

describe('agents', () => {
  it('have the latency of their runs, and what all calls at and below them took', () => {
    const [agent, ...others] = toAgents({ figures, named, ...none });
    expect(others).toEqual([]);
    expect(agent).toMatchObject({
      name: 'coder',
      runs: { calls: 4, p95: 900 },
      calls: { calls: 14, errors: 2, cost: 2, traces: 4, waits: 3, waitedMs: 1500 },
      isComplete: true,
      versions: undefined,
      worse: undefined,
    });
    expect(agent && cachedShare(agent.calls)).toBe(0.75);
  });

  it('have no cost if no model of theirs has a price', () => {
    const unpriced = {
      ...figures,
      usage_buckets: figures.usage_buckets.map((bucket) => ({ ...bucket, sum_total_cost: 0 })),
    };
    const [agent] = toAgents({ figures: unpriced, named, ...none });
    expect(agent?.calls.cost).toBeUndefined();
  });

  it('say if some of their calls do not name them, or none does', () => {
    const [partly] = toAgents({ figures, named: answer(named.call_buckets.slice(0, 1)), ...none });
    expect(partly).toMatchObject({ isComplete: false, runs: { calls: 4 } });
    const [unnamed] = toAgents({ figures, named: answer([]), ...none });
    expect(unnamed).toMatchObject({ isComplete: false, runs: undefined });
  });

  it('have their versions, that which was seen first last before, and what the newest made worse', () => {
    const [agent] = toAgents({ figures, named, versions, releases: undefined });
    expect(agent?.versions?.map(({ name }) => name)).toEqual(['2.10', '2.9']);
    expect(agent?.versions?.[1]).toMatchObject({
      runs: { calls: 10, cost: 1 },
      calls: { calls: 20 },
      first: Date.parse(day(1)),
      last: Date.parse(day(2)),
    });
    expect(agent?.worse).toEqual([
      { group: '2.10', worse: 'faultier', before: 0, now: 0.5 },
      { group: '2.10', worse: 'dearer', before: 0.1, now: 0.3 },
      { group: '2.10', worse: 'slower', before: 1000, now: 2000 },
    ]);
  });

  it('are not told to cost more if calls without a version cost something', () => {
    const sums = answer(
      [...versions.sums.call_buckets, calls({ ...coder, ...version(null) })],
      [...versions.sums.usage_buckets, usage({ ...coder, ...version(null), sum_total_cost: 5 })],
    );
    const [agent] = toAgents({ figures, named, versions: { ...versions, sums }, releases: undefined });
    expect(agent?.worse?.map(({ worse }) => worse)).toEqual(['faultier', 'slower']);
  });

  it('have releases in the place of versions that they do not say', () => {
    const silent = { runs: answer([calls(namesCoder)]), sums: answer([calls(coder)]) };
    expect(lackVersions(silent)).toBe(true);
    expect(lackVersions(versions)).toBe(false);
    const release = { [releasePath]: 'r1' };
    const releases = {
      runs: answer([calls({ ...namesCoder, ...release })]),
      sums: answer([calls({ ...coder, ...release })]),
    };
    const [agent] = toAgents({ figures, named, versions: silent, releases });
    expect(agent).toMatchObject({ areReleases: true, versions: [{ name: 'r1' }], worse: undefined });
  });
});

describe('tools', () => {
  it('have the agents that call them, and what got worse since the time before', () => {
    const bash = { tool: 'Bash' };
    const tools = toTools({
      figures: answer([
        calls({ ...bash, [toolPath]: 'Bash', sum_error_count: 4, p95_latency_ms: 50 }),
        calls({ tool: 'tool.search', [toolPath]: null }),
      ]),
      before: answer([calls({ ...bash, p95_latency_ms: 50 })]),
      byAgent: answer([
        calls({ ...bash, agent: 'a', sum_call_count: 2 }),
        calls({ ...bash, agent: null, sum_call_count: 3 }),
        calls({ ...bash, agent: 'b', sum_call_count: 5 }),
      ]),
    });
    expect(tools).toMatchObject([
      { name: 'Bash', calls: { errors: 4, p95: 50 }, isNamed: true },
      { name: 'tool.search', isNamed: false, agents: [] },
    ]);
    expect(tools[0]?.agents.map(([name]) => name)).toEqual(['b', null, 'a']);
    expect(tools[0]?.worse).toEqual([{ group: 'Bash', worse: 'faultier', before: 0, now: 0.4 }]);
  });
});

describe('prompts', () => {
  it('are told apart by version', () => {
    const of = (version: string | null, count: number) =>
      calls({ [promptPath]: 'p', [promptVersionPath]: version, sum_call_count: count });
    const rows = toPrompts(answer([of('1', 2), of(null, 1), of('2', 7), calls({ [promptPath]: null })]));
    expect(rows.map(({ name, version, figures }) => [name, version, figures.calls])).toEqual([
      ['p', '2', 7],
      ['p', '1', 2],
      ['p', null, 1],
    ]);
  });
});

describe('loops', () => {
  it('are added up by agent, without those outside of agents', () => {
    const of = (name: string | null, count: number) => ({ name, count });
    const issues = [{ agents: [of('coder', 3), of(null, 9)] }, { agents: [of('coder', 1), of('scout', 2)] }];
    expect([...sumLoops([...issues, { agents: [] }])]).toEqual([
      ['coder', 4],
      ['scout', 2],
    ]);
  });
});

describe('results of tools in later requests', () => {
  it('are shares of all tokens of the input', () => {
    const part = (part: 'tool_results' | 'user', tokens: number, name?: string) => ({
      part,
      characters: 1,
      tokens,
      ...(name !== undefined && { name }),
    });
    const shares = sharesOfResults([
      { parts: [part('tool_results', 10, 'Read'), part('user', 30)] },
      { parts: [part('tool_results', 20, 'Read'), part('tool_results', 40, 'Bash')] },
    ]);
    expect([...shares]).toEqual([
      ['Read', 0.3],
      ['Bash', 0.4],
    ]);
    expect(sharesOfResults([])).toEqual(new Map());
  });
});
