import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mapAhead } from '../../../../../core/foundations/listing/map-ahead.ts';
import { nextTurn } from './support.ts';

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

  it('begins no more than it may: none before the first is taken, then one more at a time', async () => {
    let begun = 0;
    const seen: number[] = [];
    const work = async () => ++begun;
    for await (const _ of mapAhead(numbers(10), 3, work)) {
      for (let turn = 0; turn < 20; turn++) await nextTurn();
      seen.push(begun);
    }
    expect(seen).toEqual([1, 3, 5, 7, 8, 9, 10, 10, 10, 10]);
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
