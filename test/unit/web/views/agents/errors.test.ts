import { describe, expect, it } from 'vitest';
import type { CallRow } from '../../../../../web/api/calls.ts';
import { findAgent, groupErrors } from '../../../../../web/views/agents/errors.ts';

const failed = (id: string, exception: string | null, tool = 'Bash') =>
  ({ id, op_name: 'tool', attributes: { tool: { name: tool } }, exception }) as unknown as CallRow;

const shown = (calls: readonly CallRow[]) =>
  groupErrors(calls).map(({ name, message, count, latest }) => [name, message, count, latest.id]);

describe('errors', () => {
  it('are put together whatever ids, numbers, paths and quoted values they name, the commonest first', () => {
    expect(
      shown([
        failed('1', 'ENOENT: no such file /srv/app/one.txt'),
        failed('2', "KeyError: 'order'"),
        failed('3', "KeyError: 'customer'\n  at line 12"),
        failed('4', 'Timeout after 30 s for 8f3a2b9c11'),
        failed('5', "KeyError: 'parcel'"),
        failed('6', 'Timeout after 45 s for 00aa11bb22'),
      ]),
    ).toEqual([
      ['Bash', "KeyError: 'order'", 3, '2'],
      ['Bash', 'Timeout after 30 s for 8f3a2b9c11', 2, '4'],
      ['Bash', 'ENOENT: no such file /srv/app/one.txt', 1, '1'],
    ]);
  });

  it('are told apart by what failed', () => {
    expect(groupErrors([failed('1', 'boom'), failed('2', 'boom', 'Read')])).toHaveLength(2);
  });

  it('have the line that says why: the last of a traceback, and what a command printed', () => {
    expect(
      shown([
        failed('1', 'Traceback (most recent call last):\n  File "a.py", line 3\nValueError: bad'),
        failed('2', 'Error: Exit code 1\n\n FAIL test/cart.test.ts'),
        failed('3', null),
      ]).map(([, message]) => message),
    ).toEqual(['ValueError: bad', 'Error: Exit code 1: FAIL test/cart.test.ts', '']);
  });

  it('are cut, and are found in little time whatever they say', () => {
    const hostile = `${'/a'.repeat(50_000)}"${'x'.repeat(50_000)}`;
    const [error] = groupErrors([failed('1', hostile)]);
    expect(error?.message.length).toBe(300);
  });
});

describe('the agent of a failure', () => {
  const call = (id: string, parent: string | null, attributes: object = {}) =>
    ({
      id,
      op_name: id,
      parent_id: parent,
      attributes,
      summary: { svc: { trace_name: id } },
    }) as unknown as CallRow;
  const byId = (...calls: CallRow[]) => new Map(calls.map((one) => [one.id, one]));

  it('is the nearest one at or above it, by its name or that of its operation', () => {
    const root = call('agent.turn', null);
    const named = call('inner', 'agent.turn', { agent: { name: 'coder' } });
    const said = call('runner', null, { kind: 'agent' });
    expect(findAgent(call('x', 'inner'), byId(root, named))).toEqual({ agent: 'coder' });
    expect(findAgent(call('x', 'agent.turn'), byId(root))).toEqual({ agent: 'agent.turn' });
    expect(findAgent(said, byId())).toEqual({ agent: 'runner' });
    expect(findAgent(call('x', null), byId())).toEqual({ agent: null });
  });

  it('takes calls above that are not there yet, and ends in a circle', () => {
    expect(findAgent(call('x', 'y'), byId(call('y', 'z')))).toEqual({ missing: 'z' });
    expect(findAgent(call('x', 'y'), byId(call('y', 'x'), call('x', 'y')))).toEqual({ agent: null });
  });
});
