import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Bucket,
  deleteReadObject,
  putObject,
  readObject,
  replaceObject,
  requestBudget,
} from '../../../../core/foundations/storage/index.ts';
import { startS3 } from '../../../../local/stores/s3.ts';
import { type LocalStore, localCredentials, localRegion } from '../../../../local/stores/store.ts';

const spent = requestBudget(60_000);
const bytes = (text: string) => Buffer.from(text);

describe.each(['in memory', 'in a folder'])('an S3 %s', (where) => {
  let folder: string | undefined;
  let server: LocalStore;
  let bucket: Bucket;
  beforeAll(async () => {
    folder = where === 'in memory' ? undefined : await mkdtemp(join(tmpdir(), 'pennytrace-s3-'));
    server = await startS3(folder);
    const client = new S3Client({
      region: localRegion,
      credentials: localCredentials,
      endpoint: server.endpoint,
    });
    bucket = { client, name: 'bucket' };
    await client.send(new CreateBucketCommand({ Bucket: bucket.name }));
  });
  afterAll(async () => {
    (await bucket.client).destroy();
    await server.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });
  const text = async (key: string) => {
    const found = await readObject(bucket, key, spent);
    return found && Buffer.from(found.body).toString();
  };
  const etag = async (key: string) => (await readObject(bucket, key, spent))?.etag ?? '';

  it('replaces an object only if it is the one that was read', async () => {
    await putObject(bucket, 'a/b', bytes('one'), spent);
    const first = await etag('a/b');
    expect(await replaceObject(bucket, 'a/b', bytes('two'), first, spent)).toBe(true);
    expect(await replaceObject(bucket, 'a/b', bytes('three'), first, spent)).toBe(false);
    expect(await text('a/b')).toBe('two');
  });

  it('does not create an object in place of one that is gone', async () => {
    expect(await replaceObject(bucket, 'none', bytes('x'), '"0"', spent)).toBe(false);
    expect(await text('none')).toBeUndefined();
  });

  it('deletes an object only if it is the one that was read', async () => {
    await putObject(bucket, 'c', bytes('one'), spent);
    const first = await etag('c');
    await putObject(bucket, 'c', bytes('two'), spent);
    expect(await deleteReadObject(bucket, 'c', first, spent)).toBe(false);
    expect(await text('c')).toBe('two');
    expect(await deleteReadObject(bucket, 'c', await etag('c'), spent)).toBe(true);
    expect(await text('c')).toBeUndefined();
    expect(await deleteReadObject(bucket, 'c', first, spent)).toBe(false);
  });

  it('lets one of many concurrent writers succeed at a time', async () => {
    await putObject(bucket, 'count', bytes(''), spent);
    const add = async (letter: string): Promise<void> => {
      const found = await readObject(bucket, 'count', spent);
      const body = Buffer.concat([found?.body ?? bytes('?'), bytes(letter)]);
      if (!(await replaceObject(bucket, 'count', body, found?.etag ?? '', spent))) await add(letter);
    };
    await Promise.all([...'abcdefghijkl'].map(add));
    expect([...((await text('count')) ?? '')].sort().join('')).toBe('abcdefghijkl');
  });
});
