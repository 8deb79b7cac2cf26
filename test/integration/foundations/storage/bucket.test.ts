import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { StandIn } from 'aws-stand-in';
import { localCredentials, startS3 } from 'cdk-local-runner';
import { localRegion } from 'cdk-local-runner/template';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Bucket,
  deleteReadObject,
  putObject,
  readObject,
  replaceObject,
  requestBudget,
} from '../../../../foundations/storage/index.ts';

/** Each test has its own. */
const budget = () => requestBudget(60_000);
const bytes = (text: string) => Buffer.from(text);

describe('an object', () => {
  let server: StandIn;
  let bucket: Bucket;
  beforeAll(async () => {
    server = await startS3();
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
  });
  const text = async (key: string) => {
    const found = await readObject(bucket, key, budget());
    return found && Buffer.from(found.body).toString();
  };
  const etag = async (key: string) => (await readObject(bucket, key, budget()))?.etag ?? '';

  it('replaces an object only if it is the one that was read', async () => {
    await putObject(bucket, 'a/b', bytes('one'), budget());
    const first = await etag('a/b');
    expect(await replaceObject(bucket, 'a/b', bytes('two'), first, budget())).toBe(true);
    expect(await replaceObject(bucket, 'a/b', bytes('three'), first, budget())).toBe(false);
    expect(await text('a/b')).toBe('two');
  });

  it('does not create an object in place of one that is gone', async () => {
    expect(await replaceObject(bucket, 'none', bytes('x'), '"0"', budget())).toBe(false);
    expect(await text('none')).toBeUndefined();
  });

  it('deletes an object only if it is the one that was read', async () => {
    await putObject(bucket, 'c', bytes('one'), budget());
    const first = await etag('c');
    await putObject(bucket, 'c', bytes('two'), budget());
    expect(await deleteReadObject(bucket, 'c', first, budget())).toBe(false);
    expect(await text('c')).toBe('two');
    expect(await deleteReadObject(bucket, 'c', await etag('c'), budget())).toBe(true);
    expect(await text('c')).toBeUndefined();
    expect(await deleteReadObject(bucket, 'c', first, budget())).toBe(false);
  });

  it('lets one of many concurrent writers succeed at a time', async () => {
    await putObject(bucket, 'count', bytes(''), budget());
    const add = async (letter: string): Promise<void> => {
      const found = await readObject(bucket, 'count', budget());
      const body = Buffer.concat([found?.body ?? bytes('?'), bytes(letter)]);
      if (!(await replaceObject(bucket, 'count', body, found?.etag ?? '', budget()))) await add(letter);
    };
    await Promise.all([...'abcdefghijkl'].map(add));
    expect([...((await text('count')) ?? '')].sort().join('')).toBe('abcdefghijkl');
  });
});
