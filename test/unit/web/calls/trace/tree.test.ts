import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallRow } from '../../../../../web/api/calls.ts';
import { findAncestors, toLines, toTree } from '../../../../../web/calls/trace/tree.ts';

const call = (id: string, parent: string | null, start = 0, end: number | null = 1000): CallRow => ({
  id,
  project_id: 'acme/shop',
  op_name: `op.${id}`,
  trace_id: 't',
  started_at: new Date(start).toISOString(),
  ended_at: end === null ? null : new Date(end).toISOString(),
  parent_id: parent,
});

const shape = (calls: readonly CallRow[]): string[] =>
  toLines(toTree(calls, 5000), new Set()).map(({ node, depth }) => `${depth} ${node.call.id}`);

describe('the tree of a trace', () => {
  it('has calls below their parents, siblings in order of their start', () => {
    expect(shape([call('a', null), call('b', 'a'), call('c', 'b'), call('d', 'a')])).toEqual([
      '0 a',
      '1 b',
      '2 c',
      '1 d',
    ]);
  });

  it('has calls whose parent is missing beside the roots', () => {
    expect(shape([call('a', null), call('b', 'elsewhere')])).toEqual(['0 a', '0 b']);
  });

  it('ends a running call at the time of reading', () => {
    expect(toTree([call('a', null, 1000, null)], 5000)[0]).toMatchObject({ start: 1000, end: 5000 });
  });

  it('counts a moment as its own only if no child covers it', () => {
    const [root] = toTree(
      [call('a', null, 0, 1000), call('b', 'a', 100, 500), call('c', 'a', 300, 600)],
      5000,
    );
    expect(root?.ownMs).toBe(500);
  });

  it('waits as long as what is below it waited, and no longer than it took', () => {
    const waited = (call: CallRow, waited_ms: number): CallRow => ({
      ...call,
      summary: { svc: { waited_ms } },
    });
    const waits = (...calls: CallRow[]) => toLines(toTree(calls, 5000)).map(({ node }) => node.waitedMs);
    const tools = [waited(call('b', 'a', 0, 400), 300), waited(call('c', 'a', 400, 900), 200)];
    expect(waits(call('a', null), ...tools)).toEqual([500, 300, 200]);
    // What the turn tells of itself is the same wait.
    expect(waits(waited(call('a', null), 450), ...tools)).toEqual([500, 300, 200]);
    expect(waits(waited(call('a', null), 600), ...tools)).toEqual([600, 300, 200]);
    expect(waits(waited(call('a', null), 9000))).toEqual([1000]);
    expect(waits({ ...call('a', null), summary: { svc: { waiting: true } } })).toEqual([0]);
  });

  it('says the agent of a call where neither its name nor a call above does', () => {
    const withAgent = (agent: string, kind: string, call: CallRow): CallRow => ({
      ...call,
      attributes: { kind, agent: { name: agent } },
    });
    const forest = toTree(
      [
        withAgent('triage', 'agent', call('a', null)),
        withAgent('triage', 'model', call('b', 'a')),
        call('c', 'a'),
        withAgent('refunds', 'model', call('d', 'c')),
        withAgent('refunds', 'tool', call('e', 'd')),
      ],
      0,
    );
    expect(toLines(forest).map(({ node, agent }) => [node.name, agent])).toEqual([
      ['triage', undefined],
      ['op.b', undefined],
      ['op.c', undefined],
      ['op.d', 'refunds'],
      ['op.e', undefined],
    ]);
  });

  it('hides what is below a closed line', () => {
    const forest = toTree([call('a', null), call('b', 'a'), call('c', 'b')], 0);
    expect(toLines(forest, new Set(['b'])).map(({ node }) => node.call.id)).toEqual(['a', 'b']);
  });

  it('has every call exactly once, whatever parents clients report', () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const parents = fc.array(fc.option(fc.constantFrom(...ids, 'missing')), { minLength: 6, maxLength: 6 });
    fc.assert(
      fc.property(parents, (chosen) => {
        const calls = ids.map((id, at) => call(id, chosen[at] ?? null));
        const found = toLines(toTree(calls, 0), new Set()).map(({ node }) => node.call.id);
        expect(found.toSorted()).toEqual(ids);
      }),
    );
  });

  it('is as deep as its calls', () => {
    const calls = Array.from({ length: 20_000 }, (_, at) => call(`${at}`, at === 0 ? null : `${at - 1}`));
    expect(toLines(toTree(calls, 0), new Set()).at(-1)?.depth).toBe(19_999);
  });

  it('names the parents above a call, and ends in a circle', () => {
    expect(findAncestors([call('a', 'b'), call('b', 'a')], 'a').toSorted()).toEqual(['a', 'b']);
  });
});
