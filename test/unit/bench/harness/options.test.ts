import { describe, expect, it } from 'vitest';
import { help, parseOptions } from '../../../../bench/harness/options.ts';

const parts = ['writes', 'queries'];
const parse = (...args: string[]) => parseOptions(args, parts);

describe('the command line of the bench', () => {
  it('runs every part on the generator’s calls by default', () => {
    expect(parse()).toEqual({
      help: false,
      file: undefined,
      only: undefined,
      sizes: [1000, 10_000],
      json: '.local/bench.json',
    });
  });

  it('accepts a file, parts, sizes in any order and an output file', () => {
    const options = parse('calls.jsonl', '--only', 'queries', '--sizes', '5000,100', '--json', 'out.json');
    expect(options).toMatchObject({
      file: 'calls.jsonl',
      only: ['queries'],
      sizes: [100, 5000],
      json: 'out.json',
    });
  });

  it.each([
    [['--only', 'sales'], 'unknown part "sales"; the parts are writes, queries'],
    [['--sizes', 'many'], 'should be whole numbers above 0'],
    [['--size', '1'], "Unknown option '--size'"],
    [['a.jsonl', 'b.jsonl'], 'give one file of calls, not 2'],
  ])('refuses %j, and says why', (args, message) => {
    expect(() => parse(...args)).toThrow(message);
  });

  it('lists the parts in --help', () => {
    expect(help(parts)).toContain('writes, queries');
  });
});
