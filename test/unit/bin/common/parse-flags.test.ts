import { describe, expect, it } from 'vitest';
import { parseFlags } from '../../../../bin/common/parse-flags.ts';
import { UsageError } from '../../../../bin/common/usage-error.ts';

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
