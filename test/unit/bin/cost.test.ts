import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { measured, toMeasured } from '../../../bin/cost/load.ts';
import { docsWith } from '../../../bin/cost/tables.ts';
import { run } from '../../../bin/cost.ts';

/** Runs the command, and gives what it wrote. */
const cost = (...args: string[]) => {
  const written = { code: -1, out: '', err: '' };
  written.code = run(args, measured(), {
    out: (text) => {
      written.out += text;
    },
    err: (text) => {
      written.err += text;
    },
  });
  return written;
};

describe('npm run cost', () => {
  it('prints the bill, beside that of the usual layout', () => {
    const { code, out } = cost('--calls', '1,000,000', '--bytes', '7500');
    expect(code).toBe(0);
    expect(out).toMatch(/DynamoDB: writes +2\.\d\d +\d\d\.\d\d/);
  });

  it('prints JSON whose lines add up', () => {
    const { service } = JSON.parse(cost('--json').out) as {
      service: { lines: Record<string, number>; total: number };
    };
    const sum = Object.values(service.lines).reduce((a, b) => a + b, 0);
    expect(service.total).toBeCloseTo(sum, 9);
  });

  it('costs twice as much to write for twice the calls', () => {
    const writes = (calls: string) =>
      JSON.parse(cost('--json', '--statistics', '0', '--calls', calls).out).service.lines[
        'DynamoDB: writes'
      ] as number;
    expect(writes('2000000')).toBeCloseTo(2 * writes('1000000'), 9);
  });

  it('explains every option in --help', () => {
    const { code, out } = cost('--help');
    expect(code).toBe(0);
    for (const flag of ['--calls', '--apart', '--latency-ms', '--json']) expect(out).toContain(flag);
  });

  it.each([
    ['--apart', '2', 'should be a share from 0 to 1'],
    ['--calls', 'many', 'should be a number above 0'],
    ['--queries', 'few', 'should be a number, 0 or more'],
    ['--bytes', '0', 'should be a number above 0'],
    ['--batch', '1000', 'at most 666 of that size'],
    ['--callz', '1', "Unknown option '--callz'"],
  ])('refuses %s %s, and says what to write', (flag, value, message) => {
    const { code, out, err } = cost(flag, value);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(message);
    expect(err).toContain('npm run cost -- --help');
  });
});

describe('the measured figures', () => {
  it('are named if they are missing', () => {
    expect(() => toMeasured({})).toThrow('has no figure "writes: together: write units"');
  });
});

describe('docs/cost.md', () => {
  it('has the tables that the command makes', () => {
    const text = readFileSync(join(import.meta.dirname, '../../../docs/cost.md'), 'utf8');
    expect(docsWith(text, measured()), 'write docs/cost.md anew with `npm run generate`').toBe(text);
  });
});
