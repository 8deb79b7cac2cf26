import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ObjectSortKey, sortFields } from '../../../../../api/objects.ts';
import type { ObjectVersion } from '../../../../../core/records/objects/model.ts';
import { flagLatest, sortVersions, storedOrder } from '../../../../../core/records/objects/query.ts';
import { requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import type { JsonObject, ProjectId } from '../../../../../foundations/wire/index.ts';
import { deep, runs } from '../../../../support/run/sampling.ts';
import { project } from '../../../../support/values/calls.ts';
import { bigValue, create, createObjectStore, queryAll } from '../../../../support/values/objects.ts';

let store: Store;
/** Every version of the project of most tests, in the stored order. */
let all: JsonObject[];

const objectIds = ['agent', 'dataset', 'é', '😀', '\uffee', 'zebra'];
/** A value for each version of an object: some ops, some of a class, one too big for an item. */
const versionValue = (objectId: string, i: number) => {
  if (objectId === 'agent') return { _type: 'op', i };
  if (objectId === 'dataset') return { _class_name: 'Rows', _bases: ['Dataset', 'Object', 'BaseModel'], i };
  return objectId === 'zebra' && i === 2 ? bigValue() : { i };
};

beforeAll(async () => {
  store = await createObjectStore();
  for (let i = 0; i < 5; i++) for (const id of objectIds) await create(store, id, versionValue(id, i));
  all = await queryAll(store);
});

describe('a query', () => {
  it('gives every version with its value, by object id and version index', () => {
    const expected = objectIds
      .map((id) => Buffer.from(id))
      .sort(Buffer.compare)
      .flatMap((id) => Array.from({ length: 5 }, (_, i) => [String(id), i]));
    expect(all.map((version) => [version.object_id, version.version_index])).toEqual(expected);
    expect(all[0]).toEqual({
      project_id: 'acme/shop',
      object_id: 'agent',
      digest: expect.stringMatching(/^[\w-]{43}$/),
      version_index: 0,
      is_latest: 0,
      kind: 'op',
      base_object_class: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      svc_user_id: 'ada',
      val: { _type: 'op', i: 0 },
    });
  });

  it.each<[string, object, (version: JsonObject) => boolean]>([
    ['the latest versions', { latestOnly: true }, (v) => v.is_latest === 1],
    [
      'some objects',
      { objectIds: ['zebra', 'é', 'é', 'nobody'] },
      (v) => v.object_id === 'zebra' || v.object_id === 'é',
    ],
    [
      'the latest of some',
      { objectIds: ['zebra'], latestOnly: true },
      (v) => v.object_id === 'zebra' && v.is_latest === 1,
    ],
    ['ops', { isOp: true }, (v) => v.kind === 'op'],
    ['what is no op', { isOp: false }, (v) => v.kind === 'object'],
    ['a class', { baseObjectClasses: ['Dataset', 'Prompt'] }, (v) => v.base_object_class === 'Dataset'],
    ['a class, of ops', { baseObjectClasses: ['Dataset'], isOp: true }, () => false],
    ['no object', { objectIds: [] }, () => false],
    ['no class', { baseObjectClasses: [] }, () => false],
  ])('for %s gives them alone', async (_name, filter, matches) => {
    expect(await queryAll(store, { filter })).toEqual(all.filter(matches));
  });

  it('has the requested order and slice', async () => {
    const sortBy: fc.Arbitrary<ObjectSortKey[]> = fc.array(
      fc.record({
        field: fc.constantFrom(...sortFields),
        direction: fc.constantFrom('asc' as const, 'desc' as const),
      }),
      { maxLength: 3 },
    );
    await fc.assert(
      fc.asyncProperty(
        sortBy,
        fc.option(fc.nat(35), { nil: null }),
        fc.nat(35),
        async (by, limit, offset) => {
          const ordered = all.toSorted((a, b) => {
            const keys = [
              ...by,
              { field: 'object_id', direction: 'asc' },
              { field: 'version_index', direction: 'asc' },
            ];
            for (const { field, direction } of keys) {
              const x = a[field] ?? null;
              const y = b[field] ?? null;
              const order =
                typeof x === 'number'
                  ? x - Number(y)
                  : Buffer.compare(Buffer.from(String(x)), Buffer.from(String(y)));
              if (order !== 0) return direction === 'asc' ? order : -order;
            }
            return 0;
          });
          const expected = ordered.slice(offset, limit === null ? undefined : offset + limit);
          expect(await queryAll(store, { sortBy: by, limit, offset })).toEqual(expected);
        },
      ),
      { numRuns: runs(10, 160) },
    );
  });

  it('reads no value if only metadata is requested', async () => {
    const spent = requestBudget(30_000);
    const found = await queryAll(store, { metadataOnly: true }, spent);
    expect(found).toEqual(all.map((version) => ({ ...version, val: null })));
    expect(spent.meter.requests).toBe(1);
  });

  it('reads no others for the latest versions', async () => {
    const spent = requestBudget(30_000);
    await queryAll(store, { metadataOnly: true, filter: { latestOnly: true } }, spent);
    // Six heads are less than 4 KB.
    expect(spent.meter).toMatchObject({ requests: 1, readUnits: 1 });
  });
});

describe('hundreds of versions', () => {
  const projectId = 'acme/thousand' as ProjectId;
  const ids = ['a', 'b', 'c', 'd'];
  /** How many versions each object has: a deep run has more pages. */
  const count = deep ? 250 : 100;

  beforeAll(async () => {
    await Promise.all(
      ids.map(async (id) => {
        for (let i = 0; i < count; i++) await create(store, id, { i }, projectId);
      }),
    );
  });

  const whole = ids.flatMap((id) => Array.from({ length: count }, (_, i) => [id, i]));
  const seen = (versions: JsonObject[]) =>
    versions.map((version) => [version.object_id, version.version_index]);

  it('come complete, over several pages, forwards and backwards', async () => {
    const spent = requestBudget(60_000);
    const versions = await queryAll(store, { projectId, metadataOnly: true }, spent);
    expect(seen(versions)).toEqual(whole);
    expect(versions.filter((version) => version.is_latest === 1)).toHaveLength(4);
    expect(spent.meter.requests).toBeGreaterThan(1);
    const backwards = await queryAll(store, {
      projectId,
      sortBy: [
        { field: 'object_id', direction: 'desc' },
        { field: 'version_index', direction: 'desc' },
      ],
    });
    expect(seen(backwards)).toEqual(whole.toReversed());
    expect(backwards.filter((version) => version.is_latest === 1)).toHaveLength(4);
  });

  it('come page by page without gap or overlap', async () => {
    const pages: JsonObject[] = [];
    for (let offset = 0; offset < whole.length; offset += 70)
      pages.push(...(await queryAll(store, { projectId, limit: 70, offset })));
    expect(seen(pages)).toEqual(whole);
  });

  it('cost one small page if ten are requested', async () => {
    const spent = requestBudget(30_000);
    await queryAll(store, { projectId, metadataOnly: true, limit: 10 }, spent);
    expect(spent.meter.requests).toBe(1);
    expect(spent.meter.readUnits).toBeLessThan(15);
  });
});

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
    meaning: null,
    userId: 'ada',
    bytes: 2,
    home: 'item',
  },
  isLatest,
});

const key: fc.Arbitrary<ObjectSortKey> = fc.record({
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

/** The order of versions as a request describes it, ties in the stored order. */
const compareBy =
  (sortBy: readonly ObjectSortKey[]) =>
  ({ header: a }: ObjectVersion, { header: b }: ObjectVersion): number => {
    const orders = {
      object_id: Buffer.compare(Buffer.from(a.objectId), Buffer.from(b.objectId)),
      version_index: a.versionIndex - b.versionIndex,
      created_at: a.createdAt - b.createdAt,
    };
    const byKeys = sortBy.map(({ field, direction }) => (direction === 'asc' ? 1 : -1) * orders[field]);
    return [...byKeys, orders.object_id, orders.version_index].find((order) => order !== 0) ?? 0;
  };

describe('an order', () => {
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

  it.each<[ObjectSortKey[], ReturnType<typeof storedOrder>]>([
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
    const by: ObjectSortKey[] = [{ field: 'created_at', direction: 'asc' }];
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
          const marked = (await Array.fromAsync(flagLatest(batched(headers, size), descending))).flat();
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
