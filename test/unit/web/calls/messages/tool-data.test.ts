import { describe, expect, it } from 'vitest';
import { parseConversation, toolParts } from '../../../../../api/shared/conversation.ts';
import { isCodeLike, parseToolData } from '../../../../../web/calls/messages/tool-data.ts';

describe('what a tool takes', () => {
  it('is a command, whether a text or what Codex gives to a shell', () => {
    const command = { kind: 'command', command: 'ls -l' };
    expect(parseToolData({ command: 'ls -l' })).toEqual([command]);
    expect(parseToolData({ command: ['bash', '-lc', 'ls -l'] })).toEqual([command]);
    expect(parseToolData({ cmd: ['ls', '-l'] })).toEqual([command]);
  });

  it('keeps what is beside the command as data', () => {
    expect(parseToolData({ command: 'ls', timeout: 5 })).toEqual([
      { kind: 'data', value: { timeout: 5 } },
      { kind: 'command', command: 'ls' },
    ]);
  });

  it('is a diff, or several', () => {
    const diff = { kind: 'diff', before: 'a', after: 'b' };
    const edit = { old_string: 'a', new_string: 'b' };
    const file = { kind: 'data', value: { file_path: 'x.ts' } };
    expect(parseToolData({ file_path: 'x.ts', ...edit })).toEqual([file, diff]);
    expect(parseToolData({ file_path: 'x.ts', edits: [edit, edit] })).toEqual([file, diff, diff]);
    expect(parseToolData({ command: 'str_replace', path: 'x.ts', old_str: 'a', new_str: 'b' })).toEqual([
      { kind: 'data', value: { command: 'str_replace', path: 'x.ts' } },
      diff,
    ]);
  });

  it('loses no edit that is none', () => {
    const value = { file_path: 'x.ts', edits: [{ old_string: 'a', new_string: 'b' }, { line: 3 }] };
    expect(parseToolData(value)).toEqual([{ kind: 'data', value }]);
  });

  it('is a file in the language of its name', () => {
    expect(parseToolData({ file_path: 'src/a.py', content: 'x = 1\ny = 2' })).toEqual([
      { kind: 'data', value: { file_path: 'src/a.py' } },
      { kind: 'code', text: 'x = 1\ny = 2', language: 'py' },
    ]);
  });

  it('is a list of tasks, of Claude Code or Codex', () => {
    const tasks = [
      { text: 'Read', state: 'done' },
      { text: 'Write', state: 'doing' },
      { text: 'Rest', state: 'open' },
    ];
    const statuses = ['completed', 'in_progress', 'pending'];
    const named = (name: string) => tasks.map(({ text }, at) => ({ [name]: text, status: statuses[at] }));
    expect(parseToolData({ todos: named('content') })).toEqual([{ kind: 'tasks', tasks }]);
    expect(parseToolData({ plan: named('step') })).toEqual([{ kind: 'tasks', tasks }]);
  });

  it('is data, if it has no shape of its own', () => {
    for (const value of [{}, { order: '4711' }, [1, 2], 7, null, { todos: ['a'] }, { content: 'short' }])
      expect(parseToolData(value)).toEqual([{ kind: 'data', value }]);
  });
});

describe('what a tool gives', () => {
  it('is the part of a file that it read, with the numbers of its lines', () => {
    expect(parseToolData('    41→if (a) {\n    42→}\n', 'x.ts')).toEqual([
      { kind: 'code', text: 'if (a) {\n}', firstLine: 41, language: 'ts' },
    ]);
    const gap = '1→a\n3→b';
    expect(parseToolData(gap)).toEqual([{ kind: 'text', text: gap }]);
  });

  it('is a diff, code or prose, as it looks', () => {
    const patch = 'diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b';
    expect(parseToolData(patch)).toEqual([{ kind: 'code', text: patch, language: 'diff' }]);
    expect(isCodeLike('function a() {\n  return 1;\n}')).toBe(true);
    expect(isCodeLike('The order is on its way.\nIt comes on Monday.\nThank you.')).toBe(false);
    expect(isCodeLike('return 1;')).toBe(false);
    expect(isCodeLike('<p>\nThe order is on its way.\n</p>')).toBe(true);
  });

  it('is read in lines of any length', () => {
    // One that takes the square of its length would need minutes for these.
    const long = `<${'a'.repeat(500_000)}`;
    expect(isCodeLike(`${long}\n${long}`)).toBe(false);
  });

  it('is a table, if its rows are alike and small', () => {
    const rows = [
      { id: 1, name: 'Ada' },
      { id: 2, name: 'Bo' },
    ];
    expect(parseToolData(rows)).toEqual([{ kind: 'table', columns: ['id', 'name'], rows }]);
    const uneven = [...rows, { id: 3 }];
    expect(parseToolData(uneven)).toEqual([{ kind: 'data', value: uneven }]);
  });

  it('is of the file that the call named', () => {
    const messages = [
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'r1', name: 'Read', input: { file_path: 'x.ts' } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'r1', content: '1→a' }] },
    ];
    const result = parseConversation({ inputs: { messages }, output: null })?.sent[1]?.parts[0];
    expect(result).toMatchObject({ kind: 'result', name: 'Read', path: 'x.ts' });
    const { gave } = toolParts('Read', { inputs: { file_path: 'x.ts' }, output: '1→a' });
    expect(gave).toEqual([{ kind: 'result', id: undefined, output: '1→a', path: 'x.ts' }]);
  });
});
