import { describe, expect, it } from 'vitest';
import { parseFlags, runCommand, UsageError } from '../../../bin/common.ts';

const options = { name: { type: 'string' }, json: { type: 'boolean' } } as const;

describe('parseFlags', () => {
  it('gives the values of flags and what stands between them', () => {
    const { values, positionals } = parseFlags({
      args: ['file', '--name', 'x', '--json'],
      options,
      allowPositionals: true,
    });
    expect({ ...values }).toEqual({ name: 'x', json: true });
    expect(positionals).toEqual(['file']);
  });

  it.each([
    ['an unknown flag', ['--nmae', 'x']],
    ['a flag without its value', ['--name']],
    ['a value that no flag takes', ['--json=yes']],
    ['a word where none is expected', ['file']],
  ])('refuses %s as wrong usage', (_, args) => {
    expect(() => parseFlags({ args, options })).toThrow(UsageError);
  });
});

const ran = async (task: () => void | Promise<void>, ...argv: string[]) => {
  const lines: string[] = [];
  const line = (text: string) => lines.push(text);
  const command = { name: 'keys', help: 'Make keys', argv };
  return { code: await runCommand(command, { out: line, err: line }, task), lines };
};

describe('runCommand', () => {
  it('ends with 0 and says nothing when the task is done', async () => {
    expect(await ran(() => {})).toEqual({ code: 0, lines: [] });
  });

  it('ends with 2 and leads to the help after wrong usage', async () => {
    const task = () => {
      throw new UsageError('--nmae: unknown');
    };
    const lines = ['keys: --nmae: unknown\nSee npm run keys -- --help'];
    expect(await ran(task)).toEqual({ code: 2, lines });
  });

  it('ends with 1 and the explanation after any other error', async () => {
    const task = () => Promise.reject(new Error('no table'));
    expect(await ran(task)).toEqual({ code: 1, lines: ['keys: Error: no table'] });
  });

  it.each(['--help', '-h'])('prints the help for %s, and does nothing', async (argument) => {
    const task = () => {
      throw new Error('done');
    };
    expect(await ran(task, 'create', argument)).toEqual({ code: 0, lines: ['Make keys'] });
  });
});
