import { describe, expect, it } from 'vitest';
import type { CallRow } from '../../../../../web/api/calls.ts';
import { toTree } from '../../../../../web/calls/trace/tree.ts';
import { nodeIn, pairSteps } from '../../../../../web/views/compare/compare.ts';

/** A trace of calls by name, each with the name of its parent. */
const trace = (calls: readonly (readonly [name: string, parent: string | null])[]) => {
  const rows = calls.map(
    ([op_name, parent_id], at): CallRow => ({
      id: op_name,
      project_id: 'acme/shop',
      op_name,
      parent_id,
      trace_id: 't',
      started_at: `2026-10-01T00:00:0${at}Z`,
    }),
  );
  return nodeIn(toTree(rows, 0), 'root');
};

describe('steps beside each other', () => {
  it('are those of the same name and depth; what one side alone has stands alone', () => {
    const left = trace([
      ['root', null],
      ['plan', 'root'],
      ['search', 'root'],
      ['answer', 'root'],
    ]);
    const right = trace([
      ['root', null],
      ['plan', 'root'],
      ['search', 'plan'],
      ['answer', 'root'],
    ]);
    const names = pairSteps(left, right).map((pair) => [pair.left?.node.name, pair.right?.node.name]);
    expect(names).toContainEqual(['plan', 'plan']);
    expect(names).toContainEqual(['search', undefined]);
    expect(names).toContainEqual([undefined, 'search']);
    expect(names).toContainEqual(['answer', 'answer']);
    expect(names).toHaveLength(4);
  });
});
