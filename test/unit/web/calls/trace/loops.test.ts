import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallRow } from '../../../../../web/api/calls.ts';
import {
  findAgentRuns,
  findHidden,
  findLoops,
  findRepeated,
  leastAlike,
  loopText,
  type Told,
  toldOf,
} from '../../../../../web/calls/trace/loops.ts';
import { toLines, toTree } from '../../../../../web/calls/trace/tree.ts';

const call = (id: string, parent: string | null, more: object = {}): CallRow => ({
  id,
  project_id: 'acme/shop',
  op_name: `op.${id}`,
  trace_id: 't',
  started_at: new Date(Number(/\d+/.exec(id)?.[0] ?? 0)).toISOString(),
  ended_at: new Date(1000).toISOString(),
  parent_id: parent,
  ...more,
});

const agent = (id: string, parent: string | null, name: string) =>
  call(id, parent, { attributes: { kind: 'agent', agent: { name } } });

const tool = (id: string, parent: string | null, name = 'find') =>
  call(id, parent, { attributes: { kind: 'tool', tool: { name } } });

const linesOf = (calls: readonly CallRow[]) => toLines(toTree(calls, 2000));

const loopsOf = (
  calls: readonly CallRow[],
  told: Readonly<Record<string, readonly (string | undefined)[]>>,
) =>
  findLoops(
    findRepeated(linesOf(calls)),
    new Map(
      Object.entries(told).map(([id, [took = null, gave = null]]): [string, Told] => [id, { took, gave }]),
    ),
  ).map(({ same, calls }) => [same, ...calls]);

describe('the agent of a call', () => {
  it('is the nearest at or above it, and another run of it where another agent called it again', () => {
    const runs = findAgentRuns(
      linesOf([
        call('r', null),
        agent('a0', 'r', 'desk'),
        tool('t1', 'a0'),
        agent('a2', 't1', 'desk'),
        agent('b3', 'a0', 'helper'),
        tool('t4', 'b3'),
        agent('b5', 'a0', 'helper'),
      ]),
    );
    const found = ['r', 't1', 'a2', 't4', 'b5'].map((id) => runs.get(id));
    expect(found.map((run) => run && [run.name, run.run])).toEqual([
      [undefined, ''],
      ['desk', 'a0'],
      ['desk', 'a0'],
      ['helper', 'b3'],
      ['helper', 'b5'],
    ]);
  });
});

describe('loops', () => {
  const desk = agent('a0', null, 'desk');
  const four = [1, 2, 3, 4].map((at) => tool(`t${at}`, 'a0'));

  it('are three calls of a tool or more with the same arguments, wherever they are below an agent', () => {
    const calls = [desk, tool('t1', 'a0'), call('m2', 'a0'), tool('t3', 'm2'), tool('t4', 'a0')];
    expect(loopsOf(calls, { t1: ['x', '1'], t3: ['x', '2'], t4: ['x', '3'] })).toEqual([
      ['arguments', 't1', 't3', 't4'],
    ]);
    expect(loopsOf(calls, { t1: ['x'], t3: ['x'], t4: ['y'] })).toEqual([]);
  });

  it('are those with the same answer, too, of calls that are in no other', () => {
    expect(
      loopsOf([desk, ...four], { t1: ['a', 'no'], t2: ['b', 'no'], t3: ['c', 'no'], t4: ['d'] }),
    ).toEqual([['answer', 't1', 't2', 't3']]);
    expect(
      loopsOf([desk, ...four], { t1: ['x', 'no'], t2: ['x', 'no'], t3: ['x', 'no'], t4: ['y', 'no'] }),
    ).toEqual([['both', 't1', 't2', 't3']]);
  });

  it('are of one tool and one run of an agent', () => {
    const others = [agent('b1', 'a0', 'helper'), agent('b2', 'a0', 'helper')];
    const calls = [
      desk,
      ...others,
      tool('t3', 'a0'),
      tool('t4', 'b1'),
      tool('t5', 'b2'),
      tool('t6', 'a0', 'get'),
    ];
    const same = Object.fromEntries(['t3', 't4', 't5', 't6'].map((id) => [id, ['x', 'y'] as const]));
    expect(loopsOf(calls, same)).toEqual([]);
  });

  it('are not of calls of which nothing is known, or that took and gave nothing', () => {
    expect(loopsOf([desk, ...four], {})).toEqual([]);
    expect(loopsOf([desk, ...four], { t1: ['', ''], t2: ['', ''], t3: ['', ''] })).toEqual([]);
  });

  it('have no call in two of them, and each at least three that are alike', () => {
    const texts = fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined });
    const told = fc.dictionary(
      fc.integer({ min: 1, max: 30 }).map((at) => `t${at}`),
      fc.tuple(texts, texts),
      { maxKeys: 30 },
    );
    const calls = [desk, ...Array.from({ length: 30 }, (_, at) => tool(`t${at + 1}`, 'a0'))];
    fc.assert(
      fc.property(told, (known) => {
        const loops = loopsOf(calls, known).map(([same, ...ids]) => ({ same, ids }));
        const all = loops.flatMap(({ ids }) => ids);
        expect(new Set(all).size).toBe(all.length);
        for (const { same, ids } of loops) {
          expect(ids.length).toBeGreaterThanOrEqual(leastAlike);
          for (const side of [0, 1])
            if (same === 'both' || same === (side === 0 ? 'arguments' : 'answer'))
              expect(new Set(ids.map((id) => known[id ?? '']?.[side])).size).toBe(1);
        }
      }),
    );
  });

  it('hide all calls but the first of each while they are folded, with what is below them', () => {
    const loops = [{ tool: 'find', same: 'both' as const, calls: ['t1', 't2', 't3'] }];
    const forest = toTree([desk, ...four, call('m5', 't2')], 2000);
    const shown = (unfolded: string[]) =>
      toLines(forest, undefined, findHidden(loops, new Set(unfolded))).map(({ node }) => node.call.id);
    expect(shown([])).toEqual(['a0', 't1', 't4']);
    expect(shown(['t1'])).toEqual(['a0', 't1', 't2', 'm5', 't3', 't4']);
    expect(loops.map(loopText)).toEqual(['3 × the same arguments and answer']);
  });
});

describe('what is compared of a call', () => {
  const row = (input: string | null, output: string | null) => ({
    ...call('t', null),
    preview: { input, output },
  });
  const whole = { ...call('t', null), inputs: { q: 'long' }, output: 'found' };

  it('is its preview, and where that is cut its payload', () => {
    expect(toldOf(row('x', 'y'), whole)).toEqual({ took: 'x', gave: 'y' });
    expect(toldOf(row('x…', 'y'), whole)).toEqual({ took: '[{"q":"long"}]', gave: 'y' });
    expect(toldOf(row('x…', 'y…'), undefined)).toEqual({ took: null, gave: null });
    expect(toldOf(undefined, undefined)).toEqual({ took: null, gave: null });
  });
});
