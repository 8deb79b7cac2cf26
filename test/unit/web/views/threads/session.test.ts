import { describe, expect, it } from 'vitest';
import type { CallRow } from '../../../../../web/api/calls.ts';
import {
  agentShares,
  commandOf,
  editsIn,
  failedCommands,
  toolShares,
  writtenFiles,
} from '../../../../../web/views/threads/session.ts';

interface Fields {
  readonly parent?: string;
  readonly agent?: string;
  readonly tool?: string;
  readonly cost?: number;
  readonly status?: 'success' | 'error';
  readonly waited?: number;
  readonly inputs?: unknown;
}

/** A call of a session. */
const call = (id: string, fields: Fields = {}): CallRow => {
  const { parent = null, agent, tool, cost, status = 'success', waited, inputs = {} } = fields;
  const model = { prompt_tokens_total_cost: cost, completion_tokens_total_cost: 0 };
  return {
    id,
    op_name: 'claude_code.tool',
    parent_id: parent,
    started_at: '2026-10-01T00:00:00Z',
    ended_at: '2026-10-01T00:00:02Z',
    attributes: { ...(agent && { agent: { name: agent } }), ...(tool && { tool: { name: tool } }) },
    inputs,
    summary: {
      ...(cost !== undefined && {
        usage: { m: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 } },
      }),
      svc: {
        status,
        ...(waited !== undefined && { waited_ms: waited }),
        ...(cost !== undefined && { costs: { m: model } }),
      },
    },
  } as unknown as CallRow;
};

const session = [
  call('turn', { agent: 'claude-code' }),
  call('m1', { parent: 'turn', cost: 2 }),
  call('spawn', { parent: 'turn', tool: 'Agent' }),
  call('sub', { parent: 'spawn', agent: 'Explore' }),
  call('m2', { parent: 'sub', cost: 3 }),
  call('grep', { parent: 'sub', tool: 'Grep', status: 'error' }),
  call('bash', { parent: 'turn', tool: 'Bash', waited: 1500 }),
  call('stray', { parent: 'nobody', cost: 1 }),
];

describe('a session', () => {
  it('is told by agent: the nearest at or above each call, the dearest first', () => {
    expect(agentShares(session).map(({ cost, ...share }) => ({ ...share, cost: [...(cost ?? [])] }))).toEqual(
      [
        { name: 'Explore', requests: 1, tools: 1, errors: 1, tokens: 11, cost: [['USD', 3]] },
        { name: 'claude-code', requests: 1, tools: 2, errors: 0, tokens: 11, cost: [['USD', 2]] },
        { name: null, requests: 1, tools: 0, errors: 0, tokens: 11, cost: [['USD', 1]] },
      ],
    );
  });

  it('is told by tool: with what the sub-agents cost that it started', () => {
    const tools = new Map(toolShares(session).map((share) => [share.name, share]));
    expect(tools.get('Agent')?.cost?.get('USD')).toBe(3);
    expect(tools.get('Bash')).toMatchObject({
      calls: 1,
      errors: 0,
      ms: 2000,
      waitedMs: 1500,
      cost: undefined,
    });
    expect(tools.get('Grep')).toMatchObject({ errors: 1 });
  });

  it('ends where parents form a circle', () => {
    const circle = [call('a', { parent: 'b', cost: 1 }), call('b', { parent: 'a' })];
    expect(agentShares(circle)).toMatchObject([{ name: null, requests: 1 }]);
  });
});

describe('files that were written', () => {
  const edit = (tool: string, inputs: unknown, status?: 'error') =>
    call(tool, { tool, inputs, ...(status && { status }) });

  it('have the lines that edits added and removed, all of a file together', () => {
    const calls = [
      edit('Edit', { file_path: '/a.ts', old_string: 'one\ntwo\nthree', new_string: 'one\n2\nthree\nfour' }),
      edit('MultiEdit', { file_path: '/a.ts', edits: [{ old_string: 'x', new_string: 'y' }] }),
      edit('Write', { file_path: '/b.ts', content: 'a\nb\n' }),
      edit('Edit', { file_path: '/c.ts', old_string: 'a', new_string: 'b' }, 'error'),
      edit('Read', { file_path: '/d.ts' }),
    ];
    expect(writtenFiles(calls)).toEqual([
      { path: '/a.ts', edits: 2, added: 3, removed: 2, isCut: false },
      { path: '/b.ts', edits: 1, added: 2, removed: 0, isCut: false },
    ]);
  });

  it('are those of patches, as Codex writes them as arguments and in commands', () => {
    const patch =
      '*** Begin Patch\n*** Update File: a.ts\n@@\n-old\n+new\n+more\n*** Add File: b.ts\n+x\n*** End Patch';
    const expected = [
      { path: 'a.ts', added: 2, removed: 1, isCut: false },
      { path: 'b.ts', added: 1, removed: 0, isCut: false },
    ];
    expect(editsIn(edit('apply_patch', { input: patch }))).toEqual(expected);
    expect(editsIn(edit('shell', { command: ['apply_patch', patch] }))).toEqual(expected);
    expect(editsIn(edit('exec_command', { cmd: `apply_patch <<'EOF'\n${patch}\nEOF` }))).toEqual(expected);
    expect(editsIn(edit('exec_command', { cmd: 'cat a.ts' }))).toEqual([]);
  });

  it('say if there may be more lines, since telemetry cuts long arguments', () => {
    expect(editsIn(edit('Write', { file_path: '/b.ts', content: 'a\nb…' }))).toMatchObject([{ isCut: true }]);
    expect(editsIn(edit('Write', 'nothing'))).toEqual([]);
  });
});

describe('commands that failed', () => {
  it('are those of shells, by what they ran', () => {
    const failed = call('1', { tool: 'Bash', status: 'error', inputs: { command: 'npm test' } });
    const other = call('2', { tool: 'Read', status: 'error' });
    expect(failedCommands([failed, other, call('3', { tool: 'Bash' })])).toEqual([failed]);
    expect(commandOf(failed)).toBe('npm test');
    expect(commandOf(call('4', { tool: 'shell', inputs: { command: ['bash', '-lc', 'ls'] } }))).toBe(
      'bash -lc ls',
    );
    expect(commandOf(call('5', { tool: 'Bash' }))).toBe('Bash');
  });
});
