import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import type { Store } from '../../../../../core/foundations/storage/index.ts';
import { localCredentials } from '../../../../../local/stores.ts';
import { localRegion } from '../../../../../local/template/cloudformation.ts';
import { type Fault, type FaultyProxy, startFaultyProxy } from '../../../../support/faulty-proxy.ts';
import {
  bigValue,
  create,
  createObjectStore,
  queryAll,
  readVersion,
  remove,
} from '../../../../support/objects.ts';

let store: Store;
beforeAll(async () => {
  store = await createObjectStore();
});

const client = { region: localRegion, credentials: localCredentials, maxAttempts: 1 };

/** The store, with the table behind a proxy. */
const through = ({ endpoint }: FaultyProxy): Store => ({
  ...store,
  table: { ...store.table, client: new DynamoDBClient({ ...client, endpoint }) },
});

describe('a table that fails sometimes', () => {
  const faults: Fault[] = ['throttle', 'none', 'error', 'none', 'reset', 'none', 'half'];

  it('makes and deletes every version once', async () => {
    let seen = 0;
    await using proxy = await startFaultyProxy(
      inject('stores').dynamodb,
      () => faults[seen++ % faults.length] ?? 'none',
    );
    const faulty = through(proxy);
    for (let i = 0; i < 10; i++) await create(faulty, 'flaky', i % 3 ? i : bigValue());
    const versions = await queryAll(store, { filter: { objectIds: ['flaky'] } });
    expect(versions.map((version) => version.version_index)).toEqual([...Array(10).keys()]);
    expect(await queryAll(faulty, { filter: { objectIds: ['flaky'] } })).toEqual(versions);
    const some = versions.slice(5).map(({ digest }) => String(digest));
    expect(await remove(faulty, 'flaky', some)).toBe(5);
    expect(await remove(faulty, 'flaky')).toBe(5);
    expect(await queryAll(store, { filter: { objectIds: ['flaky'] } })).toEqual([]);
  });
});

describe('a bucket that fails', () => {
  it('leaves nothing visible of a version whose value it did not accept', async () => {
    await using proxy = await startFaultyProxy(inject('stores').s3, () => 'refuse');
    const s3 = new S3Client({ ...client, endpoint: proxy.endpoint, forcePathStyle: true });
    const faulty: Store = { ...store, bucket: { ...store.bucket, client: s3 } };
    const val = bigValue();
    await expect(create(faulty, 'half', val)).rejects.toThrow();
    expect(await queryAll(store, { filter: { objectIds: ['half'] } })).toEqual([]);
    // The same request sent again makes the version.
    const digest = await create(store, 'half', val);
    expect(await readVersion(store, 'half', 'v0')).toMatchObject({ digest, val });
  });

  it('keeps a value that it did not delete for the next request, which completes the deletion', async () => {
    let fault: Fault = 'none';
    await using proxy = await startFaultyProxy(inject('stores').s3, () => fault);
    const s3 = new S3Client({ ...client, endpoint: proxy.endpoint, forcePathStyle: true });
    const faulty: Store = { ...store, bucket: { ...store.bucket, client: s3 } };
    await create(store, 'kept', bigValue());
    fault = 'refuse';
    await expect(remove(faulty, 'kept')).rejects.toThrow();
    expect(await readVersion(store, 'kept', 'v0')).toBeUndefined();
    const before = proxy.requests.length;
    fault = 'none';
    expect(await remove(faulty, 'kept')).toBe(0);
    expect(proxy.requests.length).toBe(before + 1);
    expect(await remove(faulty, 'kept')).toBe(0);
    expect(proxy.requests.length).toBe(before + 1);
  });
});
