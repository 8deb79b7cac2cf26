import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallHeader } from '../../../../core/calls/index.ts';
import {
  compareBy,
  compareText,
  type Sortable,
  sortable,
  toPath,
} from '../../../../core/expression/index.ts';
import { compareCalls, cut, orderTies, sorted } from '../../../../core/query/order.ts';

const call = (startedAt: number, id: string) => ({ id, start: { startedAt } }) as CallHeader;
const calls = fc.array(fc.tuple(fc.nat(5), fc.string({ minLength: 1, maxLength: 3 })), { maxLength: 30 });

async function* batchesFrom<T>(list: readonly T[], sizes: readonly number[]): AsyncGenerator<T[]> {
  let at = 0;
  for (let i = 0; at < list.length; i++) {
    const size = Math.max(1, sizes[i % Math.max(1, sizes.length)] ?? 1);
    yield list.slice(at, at + size);
    at += size;
  }
}

const collect = async <T>(batches: AsyncIterable<T[]>): Promise<T[]> =>
  (await Array.fromAsync(batches)).flat();

describe('orderTies', () => {
  it('puts what comes in order of time in the order of the query, however it is cut into batches', async () => {
    await fc.assert(
      fc.asyncProperty(
        calls,
        fc.array(fc.integer({ min: 1, max: 7 })),
        fc.boolean(),
        async (pairs, sizes, descending) => {
          const sign = descending ? -1 : 1;
          const inTime = pairs
            .map(([time, id]) => call(time, id))
            .sort((a, b) => sign * (a.start.startedAt - b.start.startedAt));
          const ordered = await collect(orderTies(descending, batchesFrom(inTime, sizes)));
          expect(ordered).toEqual([...inTime].sort(compareCalls(descending)));
        },
      ),
    );
  });
});

describe('compareText', () => {
  it('goes by code point, where < goes by code unit', () => {
    expect(compareText('\uffff', '😀')).toBeLessThan(0);
    expect('\uffff' < '😀').toBe(false);
    expect(compareText('a', 'a')).toBe(0);
    expect(compareText('a', 'ab')).toBeLessThan(0);
  });
});

describe('sorted', () => {
  const value = fc.oneof(
    fc.constantFrom(undefined, null, true, false, '', 'a', '\uffff', '😀', [1], { a: 1 }),
    fc.integer({ min: -3, max: 3 }),
  );
  const limits = fc.option(fc.nat(10), { nil: null });

  it('gives what sorting everything and cutting gives, however it is cut into batches', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.array(value, { minLength: 2, maxLength: 2 }), fc.nat(3)), { maxLength: 40 }),
        fc.array(fc.integer({ min: 1, max: 7 })),
        fc.array(fc.boolean(), { minLength: 2, maxLength: 2 }),
        fc.nat(10),
        limits,
        async (rows, sizes, directions, offset, limit) => {
          const sort = directions.map((descending, i) => ({ path: toPath(`inputs.${i}`), descending }));
          const keyed = rows.map(([values, time], i) => ({
            key: values.map(sortable),
            header: call(time, `${i}`),
          }));
          const found = await sorted(sort, { offset, limit }, batchesFrom(keyed, sizes));
          const byKey = compareBy(sort);
          const wanted = keyed.toSorted(
            (a, b) => byKey(a.key, b.key) || compareCalls(false)(a.header, b.header),
          );
          expect(found).toEqual(wanted.slice(offset, limit === null ? undefined : offset + limit));
        },
      ),
    );
  });

  it('refuses to hold more than fits into memory', async () => {
    const text: Sortable = [3, 'x'.repeat(100_000)];
    const endless = (async function* () {
      for (let i = 0; ; i++) yield [{ key: [text], header: call(i, 'a') }];
    })();
    const sort = [{ path: toPath('inputs'), descending: false }];
    await expect(sorted(sort, { offset: 0, limit: null }, endless)).rejects.toMatchObject({ status: 422 });
  });
});

describe('cut', () => {
  it('skips and takes as a slice does', async () => {
    const limits = fc.option(fc.nat(20), { nil: null });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(), { maxLength: 30 }),
        fc.nat(20),
        limits,
        async (list, offset, limit) => {
          const kept = await collect(cut(offset, limit, batchesFrom(list, [3, 1, 4])));
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
    expect(await collect(cut(2, 3, endless))).toEqual([3, 4, 5]);
    expect([asked, ended]).toEqual([5, true]);
  });
});
