import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ObjectVersion } from '../../../../../core/records/objects/model.ts';
import { compareBy, sortVersions, storedOrder } from '../../../../../core/records/objects/order.ts';
import { type SortKey, sortFields } from '../../../../../core/records/objects/request.ts';
import { markLatest } from '../../../../../core/records/objects/scan.ts';
import { project } from '../../../../support/calls.ts';

const version = (
  objectId: string,
  versionIndex: number,
  createdAt: number,
  isLatest = false,
): ObjectVersion => ({
  header: {
    projectId: project,
    objectId,
    versionIndex,
    createdAt,
    digest: '',
    kind: 'object',
    baseObjectClass: null,
    userId: 'ada',
    bytes: 2,
    home: 'item',
  },
  isLatest,
});

const key: fc.Arbitrary<SortKey> = fc.record({
  field: fc.constantFrom(...sortFields),
  direction: fc.constantFrom('asc' as const, 'desc' as const),
});
const versions = fc
  .uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'é', '😀', '\uffee'), fc.nat(4), fc.nat(3)), {
    selector: ([objectId, index]) => `${objectId} ${index}`,
  })
  .map((list) => list.map(([objectId, index, createdAt]) => version(objectId, index, createdAt)));

/** Cuts a list into batches, in order. */
async function* batched<T>(list: readonly T[], size: number): AsyncGenerator<T[]> {
  for (let i = 0; i < list.length; i += size) yield list.slice(i, i + size);
}

describe('an order', () => {
  it('is total, so that pages never overlap', () => {
    fc.assert(
      fc.property(fc.array(key), versions, (sortBy, list) => {
        const compare = compareBy(sortBy);
        for (const a of list)
          for (const b of list) expect(Math.sign(compare(a, b))).toBe(-Math.sign(compare(b, a)) || 0);
        for (const a of list) for (const b of list) if (a !== b) expect(compare(a, b)).not.toBe(0);
      }),
    );
  });

  it('follows code points, as storage does', () => {
    const ids = ['\uffee', '😀', 'b', 'a'].map((id) => version(id, 0, 0)).sort(compareBy([]));
    expect(ids.map(({ header }) => header.objectId)).toEqual(['a', 'b', '\uffee', '😀']);
  });

  it('of storage equals the one that sorting gives', () => {
    fc.assert(
      fc.property(fc.array(key), versions, (sortBy, list) => {
        const order = storedOrder(sortBy);
        const stored = list.toSorted(compareBy([]));
        if (order === 'descending') stored.reverse();
        if (order) expect(list.toSorted(compareBy(sortBy))).toEqual(stored);
      }),
    );
  });

  it.each<[SortKey[], ReturnType<typeof storedOrder>]>([
    [[], 'ascending'],
    [[{ field: 'object_id', direction: 'asc' }], 'ascending'],
    [
      [
        { field: 'object_id', direction: 'desc' },
        { field: 'version_index', direction: 'desc' },
      ],
      'descending',
    ],
    [[{ field: 'object_id', direction: 'desc' }], null],
    [[{ field: 'created_at', direction: 'asc' }], null],
  ])('%j is stored: %s', (sortBy, order) => {
    expect(storedOrder(sortBy)).toBe(order);
  });
});

describe('sorting', () => {
  it('gives a slice of everything, in any batches', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(key),
        versions,
        fc.integer({ min: 1, max: 7 }),
        fc.nat(12),
        fc.nat(12),
        async (by, list, size, offset, limit) => {
          const all = list.toSorted(compareBy(by));
          const slice = (from: number, count: number | null) =>
            sortVersions(by, { offset: from, limit: count }, batched(list, size));
          expect(await slice(offset, limit)).toEqual(all.slice(offset, offset + limit));
          expect(await slice(0, limit)).toEqual(all.slice(0, limit));
          expect(await slice(0, null)).toEqual(all);
        },
      ),
    );
  });

  it('refuses what it cannot hold, but not what it does not need', async () => {
    const list = Array.from({ length: 100 }, (_, i) => version('a', i, -i));
    const by: SortKey[] = [{ field: 'created_at', direction: 'asc' }];
    const slice = (limit: number | null) => sortVersions(by, { offset: 0, limit }, batched(list, 3), 50);
    await expect(slice(null)).rejects.toMatchObject({
      status: 422,
      detail: [{ loc: ['body', 'sort_by'] }],
    });
    expect((await slice(10)).map(({ header }) => header.versionIndex)).toEqual([
      99, 98, 97, 96, 95, 94, 93, 92, 91, 90,
    ]);
  });
});

describe('the latest versions', () => {
  it('are recognized by their neighbours, in either direction and with any pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        versions,
        fc.integer({ min: 1, max: 5 }),
        fc.boolean(),
        async (list, size, descending) => {
          const stored = list.toSorted(compareBy([]));
          if (descending) stored.reverse();
          const headers = stored.map(({ header }) => header);
          const marked = (await Array.fromAsync(markLatest(batched(headers, size), descending))).flat();
          expect(marked.map(({ header }) => header)).toEqual(headers);
          for (const { header, isLatest } of marked) {
            const ofObject = headers.filter(({ objectId }) => objectId === header.objectId);
            const newest = Math.max(...ofObject.map(({ versionIndex }) => versionIndex));
            expect(isLatest).toBe(header.versionIndex === newest);
          }
        },
      ),
    );
  });
});
