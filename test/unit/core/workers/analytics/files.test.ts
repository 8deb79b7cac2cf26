import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compacted } from '../../../../../core/workers/analytics/files.ts';
import { datasets, fromParquet, toParquet } from '../../../../../core/workers/analytics/index.ts';

const cells = (fields: object = {}) => ({
  project_id: 'acme/shop',
  id: 'c',
  version: '1',
  written_at: 1_790_812_800_123_456,
  deleted: false,
  ...fields,
});

describe('a file', () => {
  it('gives back what was written', async () => {
    const row = cells({
      op_name: 'chat ✓',
      started_at: 1_790_812_800_123_456,
      latency_ms: 1500,
      total_cost: 0.003_500_001,
      usage: {
        'gpt-4o': {
          prompt_tokens: 5,
          completion_tokens: 6,
          total_tokens: 11,
          requests: 1,
          cache_read_tokens: 0,
          cache_write_tokens: 0,
        },
      },
      costs: { 'gpt-4o': 0.0035, other: 0 },
    });
    const [read] = await fromParquet(toParquet('calls', [{ cells: row }]));
    const empty = Object.fromEntries(datasets.calls.map(({ name }) => [name, null]));
    expect(read).toEqual({ ...empty, ...row, total_cost: expect.closeTo(0.003_500_001, 12) });
  });

  it('takes any price and any number', async () => {
    const numbers = fc.oneof(
      fc.double({ noNaN: true }),
      fc.constantFrom(1e300, -1e300, Number.MAX_VALUE, 1e-300),
    );
    await fc.assert(
      fc.asyncProperty(numbers, numbers, async (cost, latency) => {
        const row = cells({ total_cost: cost, latency_ms: latency, costs: { m: cost } });
        const [read] = await fromParquet(toParquet('calls', [{ cells: row }]));
        expect(
          Math.abs(Number(read?.total_cost) - Math.max(-999_999_999, Math.min(999_999_999, cost))),
        ).toBeLessThan(1e-6);
      }),
      { numRuns: 30 },
    );
  });
});

describe('compacting', () => {
  const row = (id: string, version: string, fields: object = {}) => cells({ id, version, ...fields });

  it('leaves the last state of each id', () => {
    const rows = [
      row('a', '2', { op_name: 'new' }),
      row('a', '1'),
      row('b', '1'),
      row('a', '2', { written_at: 1 }),
    ];
    expect(compacted(rows, 0)).toEqual([row('a', '2', { op_name: 'new' }), row('b', '1')]);
  });

  it('leaves rows of deletions for a while, and then nothing', () => {
    const rows = [row('a', '1'), row('a', '2', { deleted: true, written_at: 100 })];
    expect(compacted(rows, 100)).toEqual([rows[1]]);
    expect(compacted(rows, 101)).toEqual([]);
  });
});
