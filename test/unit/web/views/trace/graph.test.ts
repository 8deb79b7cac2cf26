import { describe, expect, it } from 'vitest';
import type { CallRow } from '../../../../../web/api/calls.ts';
import { toMembers } from '../../../../../web/calls/trace/parts.ts';
import { toLines, toTree } from '../../../../../web/calls/trace/tree.ts';
import { nodeSize, placeGraph, toGraph } from '../../../../../web/views/trace/graph.ts';

interface Made {
  readonly id: string;
  readonly parent?: string;
  readonly agent?: string;
  readonly tool?: string;
  readonly model?: string;
  /** In US dollars. */
  readonly cost?: number;
  readonly failed?: boolean;
}

const makeRow = ({ id, parent, agent, tool, model, cost, failed }: Made, at: number): CallRow =>
  ({
    id,
    project_id: 'a/b',
    parent_id: parent ?? null,
    trace_id: 't',
    op_name: id,
    started_at: new Date(1000 + at).toISOString(),
    ended_at: new Date(2000 + at).toISOString(),
    attributes: {
      ...(agent && { agent: { name: agent } }),
      ...(tool && { kind: 'tool', tool: { name: tool } }),
    },
    summary: {
      ...(model && { usage: { [model]: { prompt_tokens: 1 } } }),
      svc: {
        status: failed ? 'error' : 'success',
        ...(model && cost !== undefined && { costs: { [model]: { prompt_tokens_total_cost: cost } } }),
      },
    },
  }) as unknown as CallRow;

const graphOf = (calls: readonly Made[]) => toGraph(toMembers(toLines(toTree(calls.map(makeRow), 0))));

const edgesOf = (calls: readonly Made[]) =>
  graphOf(calls).edges.map(
    ({ from, to, isHandOff, count, cost }) =>
      `${from} ${isHandOff ? '⇢' : '→'} ${to} ${count}${cost === undefined ? '' : ` $${cost}`}`,
  );

describe('the graph of a trace', () => {
  const calls: Made[] = [
    { id: 'lead', agent: 'lead' },
    { id: 'ask', parent: 'lead', model: 'big', cost: 2 },
    { id: 'task 1', parent: 'lead', tool: 'task' },
    { id: 'helper 1', parent: 'task 1', agent: 'helper' },
    { id: 'think 1', parent: 'helper 1', model: 'small', cost: 1 },
    { id: 'task 2', parent: 'lead', tool: 'task', failed: true },
    { id: 'helper 2', parent: 'task 2', agent: 'helper' },
    { id: 'think 2', parent: 'helper 2', model: 'small', cost: 3 },
  ];

  it('has what agents call, how often and for how much', () => {
    expect(edgesOf(calls)).toEqual([
      'agent:lead → model:big 1 $2',
      'agent:lead → tool:task 2 $4',
      'agent:lead → agent:helper 2 $4',
      'agent:helper → model:small 2 $4',
    ]);
    expect(graphOf(calls).nodes.find(({ part }) => part === 'tool:task')).toEqual({
      part: 'tool:task',
      calls: 2,
      errors: 1,
      cost: 4,
    });
  });

  it('has hand-offs instead of the tools that make them', () => {
    expect(
      edgesOf([
        { id: 'run' },
        { id: 'triage', parent: 'run', agent: 'triage' },
        { id: 'handoff', parent: 'triage', tool: 'transfer_to_refunds' },
        { id: 'refunds', parent: 'run', agent: 'refunds' },
      ]),
    ).toEqual(['agent:triage ⇢ agent:refunds 1']);
  });

  it('leaves out what is outside of agents, unless it did more than start an agent', () => {
    expect(graphOf([{ id: 'alone' }])).toEqual({ nodes: [], edges: [] });
    expect(edgesOf([{ id: 'script' }, { id: 'ask', parent: 'script', model: 'big' }])).toEqual([
      'agent: → model:big 1',
    ]);
  });
});

describe('the layout of a graph', () => {
  it('has no nodes over each other, and all of them within its size', () => {
    const calls = Array.from({ length: 40 }, (_, at): Made[] => [
      { id: `a${at}`, agent: `a${at}`, ...(at > 0 && { parent: `a${Math.floor((at - 1) / 3)}` }) },
      ...Array.from({ length: 3 }, (_, of) => ({
        id: `t${at}-${of}`,
        parent: `a${at}`,
        tool: `tool ${at} ${of}`,
      })),
      { id: `m${at}`, parent: `a${at}`, model: `model ${at % 5}`, cost: at },
    ]).flat();
    const { nodes, edges, width, height } = placeGraph(graphOf(calls));
    expect(nodes.length).toBe(165);
    for (const [at, { x, y }] of nodes.entries()) {
      expect(x >= 0 && y >= 0 && x + nodeSize.width <= width && y + nodeSize.height <= height).toBe(true);
      for (const other of nodes.slice(at + 1))
        expect(Math.abs(x - other.x) >= nodeSize.width || Math.abs(y - other.y) >= nodeSize.height).toBe(
          true,
        );
    }
    const widths = edges.map((edge) => edge.width);
    const dearest = edges.reduce((a, b) => ((a.cost ?? 0) > (b.cost ?? 0) ? a : b));
    expect(dearest.width).toBe(Math.max(...widths));
    expect(Math.min(...widths)).toBeGreaterThan(1);
    expect(edges.every(({ path }) => /^M[\d. QCL-]+$/.test(path))).toBe(true);
  });

  it('takes agents that call each other in circles, and themselves', () => {
    const { nodes, edges } = placeGraph({
      nodes: ['agent:a', 'agent:b'].map((part) => ({
        part: part as 'agent:a',
        calls: 1,
        errors: 0,
        cost: undefined,
      })),
      edges: [
        ['agent:a', 'agent:b'],
        ['agent:b', 'agent:a'],
        ['agent:a', 'agent:a'],
      ].map(([from, to], at) => ({
        from: from as 'agent:a',
        to: to as 'agent:a',
        isHandOff: at === 1,
        count: at + 1,
        cost: undefined,
      })),
    });
    expect(nodes.every(({ x, y }) => Number.isFinite(x) && Number.isFinite(y))).toBe(true);
    expect(edges.every(({ path }) => /^M[\d. QCL-]+$/.test(path))).toBe(true);
  });
});
