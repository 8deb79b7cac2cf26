import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sortable } from '../../../../foundations/expression/index.ts';
import { keyBytes, sortedByKeys, sortedSlice, sortTies } from '../../../../foundations/listing/sort.ts';
import { invalid } from '../../../../foundations/wire/index.ts';
import { batchesFrom, collect } from './support.ts';

const tooMany = invalid({ loc: ['body'], msg: 'too many', type: 'too_long' });
const limits = fc.option(fc.nat(12), { nil: null });
const batchSizes = fc.array(fc.integer({ min: 1, max: 7 }));
const ascending = (a: number, b: number) => a - b;

describe('a sorted slice', () => {
  it('is what sorting everything and slicing gives, however it is cut into batches', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(9)),
        batchSizes,
        fc.nat(12),
        limits,
        async (list, sizes, offset, limit) => {
          const sorting = { compare: ascending, getSize: () => 1, tooMany };
          const found = await sortedSlice(sorting, { offset, limit }, batchesFrom(list, sizes));
          const end = limit === null ? undefined : offset + limit;
          expect(found).toEqual(list.toSorted(ascending).slice(offset, end));
        },
      ),
    );
  });

  it('is refused when it takes more than may be held, but not when what came does', async () => {
    const list = Array.from({ length: 100 }, (_, i) => 100 - i);
    const sorting = { compare: ascending, getSize: () => 2, maxSize: 60, tooMany };
    const batches = () => batchesFrom(list, [10]);
    await expect(sortedSlice(sorting, { offset: 0, limit: null }, batches())).rejects.toBe(tooMany);
    await expect(sortedSlice(sorting, { offset: 11, limit: 20 }, batches())).rejects.toBe(tooMany);
    expect(await sortedSlice(sorting, { offset: 10, limit: 20 }, batches())).toEqual(
      list.toSorted(ascending).slice(10, 30),
    );
  });
});

describe('sorting by keys', () => {
  const value = fc.oneof(
    fc.constantFrom(undefined, null, true, false, '', 'a', '\uffff', '😀', [1], { a: 1 }),
    fc.integer({ min: -3, max: 3 }),
  );

  it('keeps what it is told to, in the order of the keys and then of the ties', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(value), fc.boolean(), batchSizes, async (values, descending, sizes) => {
        const items = values.map((v, i) => ({ value: v, id: (i * 7) % 31 }));
        const sorting = {
          sort: [{ descending }],
          toKey: (item: (typeof items)[number]) => [sortable(item.value)],
          keep: ({ id }: (typeof items)[number]) => id,
          ties: ascending,
          getSize: () => 1,
          tooMany,
        };
        const kept = await sortedByKeys(sorting, { offset: 0, limit: null }, batchesFrom(items, sizes));
        const getRank = (id: number) => sortable(items.find((item) => item.id === id)?.value);
        expect(kept.toSorted(ascending)).toEqual(items.map(({ id }) => id).sort(ascending));
        for (const [i, id] of kept.entries()) {
          const next = kept[i + 1];
          if (next === undefined) break;
          const a = getRank(id);
          const b = getRank(next);
          // Missing values come last in both directions; equal ones go by their ids.
          if (a === null) expect(b).toBeNull();
          if (JSON.stringify(a) === JSON.stringify(b)) expect(id).toBeLessThan(next);
          else if (a && b && a[0] !== b[0]) expect(a[0] < b[0]).toBe(!descending);
        }
      }),
    );
  });

  it('counts the texts of keys at two bytes a character', () => {
    expect(keyBytes([sortable('four'), null, sortable(1), sortable('')])).toBe(8);
  });
});

describe('ties', () => {
  it('are sorted by themselves, however they are cut into batches', async () => {
    const pairs = fc.array(fc.tuple(fc.nat(5), fc.nat(9)), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(pairs, batchSizes, async (list, sizes) => {
        const inOrder = list.toSorted(([a], [b]) => a - b);
        const batches = sortTies<[number, number]>(
          ([a], [b]) => a === b,
          ([, a], [, b]) => a - b,
          batchesFrom(inOrder, sizes),
        );
        expect(await collect(batches)).toEqual(list.toSorted(([a, x], [b, y]) => a - b || x - y));
      }),
    );
  });
});
