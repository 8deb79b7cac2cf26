import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareCalls, orderTies, sortCalls } from '../../../../../core/questions/query/order.ts';
import { QueriedCall } from '../../../../../core/questions/query/queried-call.ts';
import type { CallHeader, Payload } from '../../../../../core/records/calls/index.ts';
import { sortableId } from '../../../../../foundations/encoding/index.ts';
import { compareBy, compareText, sortable, toPath } from '../../../../../foundations/expression/index.ts';
import { batchesFrom, collect } from '../../../foundations/listing/support.ts';

const byDefault = compareCalls({ descending: false, idsDescending: false });

const call = (startedAt: number, id: string) => ({ id, start: { startedAt } }) as CallHeader;
/** Ids that keys hold as they are, and ids that keys know by a digest. */
const ids = fc.oneof(
  fc.string({ minLength: 1, maxLength: 3 }),
  fc.constantFrom('日', 'é', '').map((end) => `${'日'.repeat(110)}${end}`),
);
const calls = fc.uniqueArray(fc.tuple(fc.nat(5), ids), { maxLength: 30, selector: ([, id]) => id });

describe('orderTies', () => {
  it('sorts calls in order of the index into the order of the query, for any batches', async () => {
    await fc.assert(
      fc.asyncProperty(
        calls,
        fc.array(fc.integer({ min: 1, max: 7 })),
        fc.record({ descending: fc.boolean(), idsDescending: fc.boolean() }),
        async (pairs, sizes, order) => {
          const sign = order.descending ? -1 : 1;
          const inIndex = pairs
            .map(([time, id]) => ({ call: call(time, id), key: sortableId(id) }))
            .sort(
              (a, b) =>
                sign * (a.call.start.startedAt - b.call.start.startedAt || Buffer.compare(a.key, b.key)),
            )
            .map((row) => row.call);
          const ordered = await collect(orderTies(order, batchesFrom(inIndex, sizes)));
          expect(ordered).toEqual([...inIndex].sort(compareCalls(order)));
        },
      ),
    );
  });
});

describe('compareText', () => {
  it('compares code points, where < compares code units', () => {
    expect(compareText('\uffff', '😀')).toBeLessThan(0);
    expect('\uffff' < '😀').toBe(false);
    expect(compareText('a', 'a')).toBe(0);
    expect(compareText('a', 'ab')).toBeLessThan(0);
  });
});

/**
 * A call whose inputs have a list of values under `0`, `1`, …; those that are undefined are not
 * there.
 */
const callWith = (header: CallHeader, values: readonly unknown[]) =>
  new QueriedCall(header, { inputs: JSON.stringify({ ...values }) } as Payload);

describe('sorted calls', () => {
  const value = fc.oneof(
    fc.constantFrom(undefined, null, true, false, '', 'a', '\uffff', '😀', [1], { a: 1 }),
    fc.integer({ min: -3, max: 3 }),
  );
  const limits = fc.option(fc.nat(10), { nil: null });

  it('equal the slice of everything sorted, for any batches', async () => {
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
            row: callWith(call(time, `${i}`), values),
          }));
          const batches = batchesFrom(
            keyed.map(({ row }) => row),
            sizes,
          );
          const found = await sortCalls(sort, { offset, limit }, batches);
          const byKey = compareBy(sort);
          const wanted = keyed.toSorted(
            (a, b) => byKey(a.key, b.key) || byDefault(a.row.header, b.row.header),
          );
          const end = limit === null ? undefined : offset + limit;
          expect(found).toEqual(wanted.slice(offset, end).map(({ row }) => row.header));
        },
      ),
    );
  });

  it('are refused if they exceed the memory', async () => {
    const text = 'x'.repeat(100_000);
    const endless = (async function* () {
      for (let i = 0; ; i++) yield [callWith(call(i, 'a'), [i + text])];
    })();
    const sort = [{ path: toPath('inputs.0'), descending: false }];
    await expect(sortCalls(sort, { offset: 0, limit: null }, endless)).rejects.toMatchObject({ status: 422 });
  });
});
