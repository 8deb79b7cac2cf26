import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Heap, mergeRanges, type ReadPage } from '../../../../foundations/listing/scan.ts';
import { runs } from '../../../support/run/sampling.ts';
import { collect, nextTurn } from './support.ts';

interface Row {
  readonly key: number;
  readonly range: number;
  /** Its place within the range. */
  readonly at: number;
}

const compare = (a: Row, b: Row) => a.key - b.key;
const forward = { compare, descending: false, firstPage: 2 };

/** What storage was asked for: of which range, where the page starts, how many rows. */
interface Request {
  readonly range: number;
  readonly start: number;
  readonly limit: number | undefined;
}

/** Ranges of rows in memory, given in pages of at most `maxRows`, each in a turn of its own. */
const fakeRanges = (ranges: readonly (readonly Row[])[], maxRows = Number.POSITIVE_INFINITY) => {
  const requests: Request[] = [];
  const reads = ranges.map(
    (rows, range): ReadPage<Row, { readonly at: number }> =>
      async (limit, start) => {
        const from = start?.at ?? 0;
        requests.push({ range, start: from, limit });
        await nextTurn();
        const end = from + Math.min(limit ?? maxRows, maxRows);
        // As DynamoDB does, a page that ends with the range's last row may name a next one, an
        // empty one.
        return { rows: rows.slice(from, end), next: end <= rows.length ? { at: end } : undefined };
      },
  );
  return { reads, requests };
};

const makeRows = (keys: readonly number[], range: number, descending = false): Row[] =>
  keys.toSorted((a, b) => (descending ? b - a : a - b)).map((key, at) => ({ key, range, at }));

const keyLists = fc.array(fc.array(fc.nat(9), { maxLength: 25 }), { maxLength: 12 });

describe('merged ranges', () => {
  it('are all rows in order, ties in the order of their ranges, whatever the pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        keyLists,
        fc.boolean(),
        fc.boolean(),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 9 }),
        fc.constantFrom(1, 1.5, 4),
        async (lists, descending, ahead, firstPage, maxRows, growth) => {
          const ranges = lists.map((keys, range) => makeRows(keys, range, descending));
          const { reads } = fakeRanges(ranges, maxRows);
          const merged = await collect(mergeRanges(reads, { compare, descending, firstPage, ahead, growth }));
          const sign = descending ? -1 : 1;
          // Sorting is stable, so that ties stay in the order of their ranges, and of their places.
          expect(merged).toEqual(ranges.flat().sort((a, b) => sign * compare(a, b)));
        },
      ),
      { numRuns: runs(100, 1200) },
    );
  });

  it('of two hundred come in order too', async () => {
    const ranges = Array.from({ length: 200 }, (_, range) =>
      makeRows(
        Array.from({ length: 10 }, (_, i) => (range * 7919 + i * 104_729) % 1000),
        range,
      ),
    );
    const merged = await collect(mergeRanges(fakeRanges(ranges, 4).reads, forward));
    expect(merged).toEqual(ranges.flat().sort(compare));
  });

  it('come in batches that are never empty, as soon as they are known', async () => {
    const ranges = [makeRows([1, 2, 5, 6], 0), [], makeRows([3, 4, 7], 2)];
    const batches = await Array.fromAsync(mergeRanges(fakeRanges(ranges).reads, forward));
    expect(batches.map((batch) => batch.map(({ key }) => key))).toEqual([
      [1, 2],
      [3, 4],
      [5, 6, 7],
    ]);
  });

  it('are none for no ranges', async () => {
    expect(await collect(mergeRanges([], forward))).toEqual([]);
  });
});

describe('what is read', () => {
  const long = makeRows(
    Array.from({ length: 60 }, (_, i) => i),
    0,
  );

  it('grows fourfold with each page, up to pages without a limit', async () => {
    const { reads, requests } = fakeRanges([long]);
    await collect(mergeRanges(reads, { ...forward, maxPage: 20 }));
    expect(requests.map(({ start, limit }) => [start, limit])).toEqual([
      [0, 2],
      [2, 8],
      [10, undefined],
    ]);
  });

  it('is no more than what is used, when nothing is read ahead', async () => {
    const { reads, requests } = fakeRanges([long, makeRows([100], 1)]);
    let taken = 0;
    for await (const batch of mergeRanges(reads, forward)) {
      taken += batch.length;
      for (let turn = 0; turn < 5; turn++) await nextTurn();
      if (taken >= 10) break;
    }
    expect(requests.map(({ range, start }) => [range, start])).toEqual([
      [0, 0],
      [1, 0],
      [0, 2],
    ]);
  });

  it('is one page ahead from the second page on, when all will be wanted', async () => {
    const { reads, requests } = fakeRanges([long]);
    const seen: number[] = [];
    for await (const _ of mergeRanges(reads, { ...forward, ahead: true })) {
      for (let turn = 0; turn < 5; turn++) await nextTurn();
      seen.push(requests.length);
    }
    expect(seen).toEqual([1, 3, 4, 4]);
  });

  it('is the next page of every range once more is asked for, when all will be wanted', async () => {
    const ranges = [long, makeRows([20, 40, 60, 80], 1), makeRows([100], 2)];
    const { reads, requests } = fakeRanges(ranges);
    const batches = mergeRanges(reads, { ...forward, ahead: true });
    await batches.next();
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    expect(requests).toHaveLength(3);
    const second = batches.next();
    expect(requests.slice(3).map(({ range, start }) => [range, start])).toEqual([
      [0, 2],
      [1, 2],
    ]);
    await second;
  });

  it('begins with the first pages of at most sixteen ranges at once', async () => {
    let under = 0;
    let most = 0;
    const reads = Array.from(
      { length: 40 },
      (): ReadPage<Row, never> => async () => {
        most = Math.max(most, ++under);
        await nextTurn();
        under--;
        return { rows: [], next: undefined };
      },
    );
    expect(await collect(mergeRanges(reads, forward))).toEqual([]);
    expect(most).toBe(16);
  });

  it('fails as a page does, after the rows before it', async () => {
    const { reads } = fakeRanges([long]);
    const failing = reads.map((read): (typeof reads)[number] => async (limit, start) => {
      if (start?.at === 10) throw new Error('no more');
      return read(limit, start);
    });
    const rows: Row[] = [];
    const all = async () => {
      for await (const batch of mergeRanges(failing, { ...forward, ahead: true })) rows.push(...batch);
    };
    await expect(all()).rejects.toThrow('no more');
    expect(rows).toEqual(long.slice(0, 10));
  });
});

const byValue = (a: { value: number }, b: { value: number }) => a.value - b.value;
const step = fc.oneof(
  fc.record({ do: fc.constant('push' as const), value: fc.nat(20) }),
  fc.record({ do: fc.constant('pop' as const), value: fc.constant(0) }),
  fc.record({ do: fc.constant('change' as const), value: fc.nat(20) }),
);

describe('a heap', () => {
  it('always has the least of its items first, whatever is pushed, popped and changed', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const heap = new Heap(byValue);
        const model: { value: number }[] = [];
        for (const { do: what, value } of steps) {
          const { first } = heap;
          if (what === 'push') {
            const item = { value };
            heap.push(item);
            model.push(item);
          } else if (what === 'pop') {
            expect(heap.pop()).toBe(first);
            if (first) model.splice(model.indexOf(first), 1);
          } else if (first) {
            first.value = value;
            heap.update();
          }
          expect(heap.size).toBe(model.length);
          expect(heap.first?.value).toBe(model.toSorted(byValue)[0]?.value);
        }
      }),
      { numRuns: runs(100, 2000) },
    );
  });

  it('does nothing when it is empty', () => {
    const heap = new Heap(byValue);
    heap.update();
    expect([heap.pop(), heap.first, heap.size]).toEqual([undefined, undefined, 0]);
  });
});
