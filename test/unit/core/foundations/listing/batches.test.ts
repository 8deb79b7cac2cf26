import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bySize,
  encodeBatches,
  inBatches,
  mapBatches,
} from '../../../../../core/foundations/listing/batches.ts';
import { batchesFrom, collect } from './support.ts';

const sizes = fc.array(fc.nat(12), { maxLength: 30 });
const total = (batch: readonly number[]) => batch.reduce((sum, size) => sum + size, 0);
const itself = (size: number) => size;

describe('batches by size', () => {
  it('hold every item once and in order, and no more bytes than they may unless by one item', () => {
    fc.assert(
      fc.property(sizes, fc.nat(10), (list, max) => {
        const batches = bySize(list, max, itself);
        expect(batches.flat()).toEqual(list);
        for (const batch of batches) expect(batch.length === 1 || total(batch) <= max).toBe(true);
      }),
    );
  });

  it('are as few as they can be in that order', () => {
    fc.assert(
      fc.property(sizes, fc.nat(10), (list, max) => {
        const batches = bySize(list, max, itself);
        for (const [i, batch] of batches.entries()) {
          const next = batches[i + 1];
          expect(batch.length).toBeGreaterThan(0);
          if (next) expect(total(batch) + (next[0] ?? 0)).toBeGreaterThan(max);
        }
      }),
    );
  });

  it('never join what came apart', async () => {
    const batches = await Array.fromAsync(inBatches(batchesFrom([1, 1, 1, 5, 1], [3, 2]), 2, itself));
    expect(batches).toEqual([[1, 1], [1], [5], [1]]);
  });
});

describe('changed batches', () => {
  it('leave out those that become empty', async () => {
    const odd = mapBatches(batchesFrom([1, 2, 4, 3, 4, 5], [1, 2]), (batch) => batch.filter((n) => n % 2));
    expect(await Array.fromAsync(odd)).toEqual([[1], [3], [5]]);
  });

  it('are counted as they are sent', async () => {
    const counts = { sent: 0 };
    const encoded = encodeBatches(batchesFrom([1, 2, 3], [2]), counts, String);
    await encoded.next();
    expect(counts.sent).toBe(2);
    expect(await collect(encoded)).toEqual(['3']);
    expect(counts.sent).toBe(3);
  });
});
