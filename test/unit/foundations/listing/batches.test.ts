import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bySize,
  encodeBatches,
  inBatches,
  mapAhead,
  mapBatches,
  takeSlice,
} from '../../../../foundations/listing/batches.ts';
import { batchesFrom, collect, nextTurn } from './support.ts';

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

  it('are sent in pieces when they are large', async () => {
    const pieces = await Array.fromAsync(
      encodeBatches(batchesFrom([1, 2, 3, 4, 5], [5]), { sent: 0 }, (item) => String(item).repeat(300_000)),
    );
    expect(pieces.map((piece) => piece.map(([first]) => first).join(''))).toEqual(['12', '34', '5']);
  });
});

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

async function* numbers(count: number, onEnd = () => {}): AsyncGenerator<number> {
  try {
    for (let i = 0; i < count; i++) yield i;
  } finally {
    onEnd();
  }
}

describe('mapAhead', () => {
  it('gives the results in the order of the items, however long each takes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(3), { maxLength: 12 }), fc.nat(4), async (turns, ahead) => {
        const work = async (i: number) => {
          for (let turn = 0; turn < (turns[i] ?? 0); turn++) await nextTurn();
          return i;
        };
        const results = await Array.fromAsync(mapAhead(numbers(turns.length), ahead, work));
        expect(results).toEqual(turns.map((_, i) => i));
      }),
    );
  });

  it('begins nothing before the first is taken, and one ahead of a slow reader', async () => {
    let begun = 0;
    const seen: number[] = [];
    const work = async () => ++begun;
    for await (const _ of mapAhead(numbers(10), 3, work)) {
      for (let turn = 0; turn < 20; turn++) await nextTurn();
      seen.push(begun);
    }
    expect(seen).toEqual([1, 3, 4, 5, 6, 7, 8, 9, 10, 10]);
  });

  it('works on more at once for a reader who waits, up to what it may', async () => {
    let underWay = 0;
    const seen: number[] = [];
    const work = async () => {
      seen.push(++underWay);
      for (let turn = 0; turn < 20; turn++) await nextTurn();
      underWay--;
    };
    for await (const _ of mapAhead(numbers(20), 3, work));
    expect(Math.max(...seen)).toBe(4);
  });

  it('ends what it reads from when nobody takes more, once what is under way is done', async () => {
    let ended = false;
    let under = 0;
    const work = async (i: number) => {
      under++;
      await nextTurn();
      under--;
      return i;
    };
    for await (const i of mapAhead(
      numbers(1000, () => (ended = true)),
      2,
      work,
    ))
      if (i === 5) break;
    expect([ended, under]).toEqual([true, 0]);
  });

  it('fails where one of its works fails, after the results before', async () => {
    const results: number[] = [];
    const work = async (i: number) => {
      if (i === 3) throw new Error('no more');
      return i;
    };
    const all = async () => {
      for await (const i of mapAhead(numbers(10), 2, work)) results.push(i);
    };
    await expect(all()).rejects.toThrow('no more');
    expect(results).toEqual([0, 1, 2]);
  });
});
