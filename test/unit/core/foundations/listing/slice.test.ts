import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { takeSlice } from '../../../../../core/foundations/listing/slice.ts';
import { batchesFrom, collect } from './support.ts';

describe('a slice', () => {
  it('skips and takes as that of an array does', async () => {
    const limits = fc.option(fc.nat(20), { nil: null });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(), { maxLength: 30 }),
        fc.nat(20),
        limits,
        async (list, offset, limit) => {
          const kept = await collect(takeSlice({ offset, limit }, batchesFrom(list, [3, 1, 4])));
          expect(kept).toEqual(list.slice(offset, limit === null ? undefined : offset + limit));
        },
      ),
    );
  });

  it('asks for nothing beyond its limit, and ends what it reads from', async () => {
    let asked = 0;
    let ended = false;
    const endless = (async function* () {
      try {
        for (;;) yield [++asked];
      } finally {
        ended = true;
      }
    })();
    expect(await collect(takeSlice({ offset: 2, limit: 3 }, endless))).toEqual([3, 4, 5]);
    expect([asked, ended]).toEqual([5, true]);
  });
});
