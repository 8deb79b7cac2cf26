import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { resolveRefs } from '../../../../../core/records/objects/index.ts';
import { requestBudget, type Store } from '../../../../../foundations/storage/index.ts';
import { type JsonValue, type ProjectId, parseRef } from '../../../../../foundations/wire/index.ts';
import { runs } from '../../../../support/run/sampling.ts';
import { project } from '../../../../support/values/calls.ts';
import {
  bigValue,
  create,
  createObjectStore,
  queryAll,
  readVersion,
  remove,
  type SeenVersion,
} from '../../../../support/values/objects.ts';

let store: Store;
beforeAll(async () => {
  store = await createObjectStore();
});

let fresh = 0;
const newId = (): string => `object-${fresh++}`;

/** Every version of an object, oldest first. */
const findVersions = (objectId: string) => queryAll(store, { filter: { objectIds: [objectId] } });

/** The keys of all values in the bucket. */
const inBucket = async (): Promise<string[]> => {
  const client = await store.bucket.client;
  const { Contents } = await client.send(
    new ListObjectsV2Command({ Bucket: store.bucket.name, Prefix: 'objects/' }),
  );
  return (Contents ?? []).map(({ Key }) => String(Key));
};

/**
 * What an object must be after a row of operations: its versions, and the index of the next one.
 */
class Model {
  readonly versions: { digest: string; versionIndex: number; val: JsonValue }[] = [];
  next = 0;

  create(digest: string, val: JsonValue): void {
    if (!this.versions.some((version) => version.digest === digest))
      this.versions.push({ digest, versionIndex: this.next++, val });
  }

  remove(digests: readonly string[] | null): number {
    const targets = this.versions.filter(({ digest }) => digests === null || digests.includes(digest));
    for (const version of targets) this.versions.splice(this.versions.indexOf(version), 1);
    return targets.length;
  }

  get seen(): SeenVersion[] {
    return this.versions.map((version) => ({ ...version, isLatest: version === this.versions.at(-1) }));
  }
}

describe('an object', () => {
  const values: JsonValue[] = [null, 'text', { a: [1, { b: 2 }] }, bigValue(), [bigValue()]];
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ create: fc.nat(values.length - 1) }) },
    {
      weight: 1,
      arbitrary: fc.record({ remove: fc.option(fc.array(fc.nat(values.length - 1)), { nil: null }) }),
    },
  );

  it('has the versions that were made and not deleted, in any order of requests', async () => {
    const digests = new Map<JsonValue, string>();
    const scratch = newId();
    for (const val of values) digests.set(val, await create(store, scratch, val));
    const digestAt = (i: number): string => digests.get(values[i] ?? null) ?? '';

    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
        const objectId = newId();
        const model = new Model();
        for (const step of steps) {
          if ('create' in step) {
            const val = values[step.create] ?? null;
            const digest = await create(store, objectId, val);
            expect(digest).toBe(digestAt(step.create));
            model.create(digest, val);
          } else {
            const targets = step.remove?.map(digestAt) ?? null;
            expect(await remove(store, objectId, targets)).toBe(model.remove(targets));
          }
        }
        const listed = (await findVersions(objectId)).map((version) => ({
          digest: version.digest,
          versionIndex: version.version_index,
          isLatest: version.is_latest === 1,
          val: version.val,
        }));
        expect(listed).toEqual(model.seen);
        for (const version of model.seen) {
          expect(await readVersion(store, objectId, version.digest)).toEqual(version);
          expect(await readVersion(store, objectId, `v${version.versionIndex}`)).toEqual(version);
        }
        expect(await readVersion(store, objectId, 'latest')).toEqual(model.seen.at(-1));
        const live = new Set(model.seen.map(({ digest }) => digest));
        for (const i of values.keys()) {
          if (!live.has(digestAt(i))) expect(await readVersion(store, objectId, digestAt(i))).toBeUndefined();
        }
      }),
      { numRuns: runs(4, 60) },
    );
  });

  it('has different versions in different projects', async () => {
    const objectId = newId();
    const elsewhere = 'acme/elsewhere' as ProjectId;
    const digest = await create(store, objectId, { mine: true });
    expect(await create(store, objectId, { mine: false }, elsewhere)).not.toBe(digest);
    expect(await create(store, objectId, { mine: true }, elsewhere)).toBe(digest);
    expect(await readVersion(store, objectId, 'latest')).toMatchObject({
      versionIndex: 0,
      val: { mine: true },
    });
    expect(await remove(store, objectId)).toBe(1);
    expect(await queryAll(store, { projectId: elsewhere, filter: { objectIds: [objectId] } })).toHaveLength(
      2,
    );
  });

  it('keeps the key order of its first value', async () => {
    const objectId = newId();
    const digest = await create(store, objectId, { role: 'user', content: 'hi' });
    expect(await create(store, objectId, { content: 'hi', role: 'user' })).toBe(digest);
    const version = await readVersion(store, objectId, digest);
    expect(JSON.stringify(version?.val)).toBe('{"role":"user","content":"hi"}');
  });

  it('has no new version and the same latest one if an older value is made again', async () => {
    const objectId = newId();
    await create(store, objectId, 'one');
    const second = await create(store, objectId, 'two');
    await create(store, objectId, 'one');
    expect(await readVersion(store, objectId, 'latest')).toMatchObject({ digest: second, versionIndex: 1 });
    expect(await findVersions(objectId)).toHaveLength(2);
  });

  it('never reuses the index of a deleted version, even for the same value', async () => {
    const objectId = newId();
    const digest = await create(store, objectId, 'one');
    expect(await remove(store, objectId)).toBe(1);
    expect(await remove(store, objectId)).toBe(0);
    expect(await readVersion(store, objectId, 'latest')).toBeUndefined();
    expect(await readVersion(store, objectId, 'v0')).toBeUndefined();
    expect(await create(store, objectId, 'one')).toBe(digest);
    expect(await readVersion(store, objectId, 'v0')).toBeUndefined();
    expect(await readVersion(store, objectId, 'latest')).toMatchObject({ digest, versionIndex: 1 });
  });

  it('is deleted completely with 100 versions, and by digests', async () => {
    const objectId = newId();
    const digests: string[] = [];
    for (let i = 0; i < 100; i++) digests.push(await create(store, objectId, i));
    expect(await remove(store, objectId, digests.slice(40))).toBe(60);
    expect(await readVersion(store, objectId, 'latest')).toMatchObject({ versionIndex: 39 });
    expect(await remove(store, objectId)).toBe(40);
    expect(await findVersions(objectId)).toEqual([]);
  });
});

describe('values in the bucket', () => {
  it('are read back unchanged, and are gone when they are deleted', async () => {
    const objectId = newId();
    const before = await inBucket();
    const one = bigValue();
    const two = bigValue(4000);
    const digests = [await create(store, objectId, one), await create(store, objectId, two)];
    expect(await readVersion(store, objectId, 'v0')).toMatchObject({ val: one });
    expect(await readVersion(store, objectId, 'v1')).toMatchObject({ val: two });
    expect(await inBucket()).toHaveLength(before.length + 2);
    expect(await remove(store, objectId, digests.slice(0, 1))).toBe(1);
    expect(await inBucket()).toHaveLength(before.length + 1);
    expect(await remove(store, objectId)).toBe(1);
    expect(await inBucket()).toEqual(before);
  });

  it('leave nothing behind if many clients made versions at once', async () => {
    const objectId = newId();
    const before = await inBucket();
    const [shared, ...others] = Array.from({ length: 6 }, () => bigValue());
    const made = await Promise.all(
      [shared, shared, shared, ...others].map((val) => create(store, objectId, val ?? null)),
    );
    const distinct = new Set(made);
    expect(distinct.size).toBe(6);
    expect(await inBucket()).toHaveLength(before.length + 6);
    await remove(store, objectId);
    expect(await inBucket()).toEqual(before);
  });
});

describe('at the same moment', () => {
  it('different values become versions with distinct, consecutive indexes', async () => {
    const objectId = newId();
    const digests = await Promise.all(Array.from({ length: 25 }, (_, i) => create(store, objectId, { i })));
    const versions = await findVersions(objectId);
    expect(versions.map((version) => version.version_index)).toEqual([...Array(25).keys()]);
    expect(versions.map((version) => version.digest).sort()).toEqual(digests.toSorted());
    expect(versions.filter((version) => version.is_latest === 1)).toEqual([versions.at(-1)]);
    expect(await readVersion(store, objectId, 'latest')).toMatchObject({ versionIndex: 24 });
  });

  it('the same value becomes one version', async () => {
    const objectId = newId();
    const digests = await Promise.all(
      Array.from({ length: 20 }, (_, i) => create(store, objectId, i % 2 ? { a: 1, b: 2 } : { b: 2, a: 1 })),
    );
    expect(new Set(digests).size).toBe(1);
    expect(await findVersions(objectId)).toHaveLength(1);
  });

  it('the newest versions are deleted one by one while others are made', async () => {
    for (let round = 0; round < 5; round++) {
      const objectId = newId();
      const old: string[] = [];
      for (let i = 0; i < 8; i++) old.push(await create(store, objectId, i));
      const [made] = await Promise.all([
        Promise.all(Array.from({ length: 6 }, (_, i) => create(store, objectId, `new ${i}`))),
        ...old.slice(2).map((digest) => remove(store, objectId, [digest])),
      ]);
      const versions = await findVersions(objectId);
      expect(versions.map((version) => version.version_index)).toEqual([0, 1, 8, 9, 10, 11, 12, 13]);
      await remove(store, objectId, made);
      expect(await readVersion(store, objectId, 'latest')).toMatchObject({ versionIndex: 1, digest: old[1] });
      await create(store, objectId, 'afterwards');
      expect(await readVersion(store, objectId, 'latest')).toMatchObject({ versionIndex: 14 });
    }
  });

  it('versions are made and deleted, and the rest stays consistent', async () => {
    const small = Array.from({ length: 4 }, (_, i) => ({ i }));
    const values: JsonValue[] = [...small, bigValue(), bigValue()];
    const step = fc.oneof(
      { weight: 2, arbitrary: fc.nat(values.length - 1) },
      { weight: 1, arbitrary: fc.constant('delete' as const) },
    );
    const before = await inBucket();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
        const objectId = newId();
        const removed = await Promise.all(
          steps.map(async (step) => {
            if (step === 'delete') return remove(store, objectId);
            await create(store, objectId, values[step] ?? null);
            return 0;
          }),
        );
        const versions = await findVersions(objectId);
        const deleted = removed.reduce((sum, count) => sum + count, 0);
        // No index was given twice, or skipped.
        await create(store, objectId, 'afterwards');
        const last = await readVersion(store, objectId, 'latest');
        expect(last?.versionIndex).toBe(versions.length + deleted);
        // What one way of reading finds, every other finds.
        expect(new Set(versions.map(({ digest }) => digest)).size).toBe(versions.length);
        for (const { digest, version_index: index, val } of versions) {
          const seen = { digest, versionIndex: index, val, isLatest: false };
          expect(await readVersion(store, objectId, String(digest))).toEqual(seen);
          expect(await readVersion(store, objectId, `v${index}`)).toEqual(seen);
        }
        const heads = await queryAll(store, { filter: { objectIds: [objectId], latestOnly: true } });
        expect(heads).toMatchObject([{ val: 'afterwards', is_latest: 1 }]);
        expect(await remove(store, objectId)).toBe(versions.length + 1);
      }),
      { numRuns: runs(4, 48) },
    );
    expect(await inBucket()).toEqual(before);
  });
});

describe('refs', () => {
  const refTo = (text: string) => {
    const ref = parseRef(`svc:///${text}`);
    if (!ref) throw new Error(`no ref: ${text}`);
    return ref;
  };

  it('resolve in their order, whatever they are mixed with', async () => {
    const objectId = newId();
    const big = bigValue();
    const first = await create(store, objectId, { x: [{ y: 1 }], none: null });
    const second = await create(store, objectId, big);
    const at = (version: string, path = '') => refTo(`${project}/object/${objectId}:${version}${path}`);
    const refs = [
      at(second),
      at(first, '/attr/x/index/0'),
      at('f'.repeat(43)),
      at(first),
      at(first, '/attr/none'),
      at('latest'),
      at('v0', '/attr/x'),
      at(first, '/attr/gone'),
      at('not-a-digest'),
      refTo(`${project}/op/${objectId}:${first}`),
      refTo(`acme/elsewhere/object/${objectId}:${first}`),
      refTo(`${project}/call/${objectId}`),
      refTo(`${project}/object/${'x'.repeat(3000)}:${first}`),
      refTo(`${project}/object/${objectId}:${'x'.repeat(3000)}`),
    ];
    const one = { x: [{ y: 1 }], none: null };
    expect(await resolveRefs(store, refs, requestBudget(30_000))).toEqual([
      big,
      { y: 1 },
      undefined,
      one,
      null,
      big,
      [{ y: 1 }],
      undefined,
      undefined,
      one,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('read each object once, and 100 in a request', async () => {
    const objectId = newId();
    const digest = await create(store, objectId, { x: 1 });
    const big = await create(store, objectId, bigValue());
    const refs = Array.from({ length: 500 }, (_, i) =>
      refTo(`${project}/object/${objectId}:${i % 2 ? digest : big}`),
    );
    const spent = requestBudget(30_000);
    expect(await resolveRefs(store, refs, spent)).toHaveLength(500);
    // One for both items, one for the value in the bucket.
    expect(spent.meter.requests).toBe(2);
  });
});
