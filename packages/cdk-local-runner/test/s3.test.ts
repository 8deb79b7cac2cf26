import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import type { StandIn } from 'aws-stand-in';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { startS3 } from '../src/s3.ts';
import { localCredentials } from '../src/stores.ts';
import { localRegion } from '../src/template/index.ts';

const folders: string[] = [];
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 's3-'));
  folders.push(folder);
  return folder;
};
afterEach(() => vi.restoreAllMocks());
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const Bucket = 'bucket';

describe.each(['in memory', 'in a folder'])('an S3 %s', (where) => {
  let server: StandIn;
  let client: S3Client;
  beforeAll(async () => {
    server = await startS3(where === 'in memory' ? {} : { folder: newFolder() });
    client = new S3Client({ region: localRegion, credentials: localCredentials, endpoint: server.endpoint });
    await client.send(new CreateBucketCommand({ Bucket }));
  });
  afterAll(async () => {
    client.destroy();
    await server.stop();
  });

  const put = (Key: string, Body: string, IfMatch?: string) =>
    client.send(new PutObjectCommand({ Bucket, Key, Body, ...(IfMatch !== undefined && { IfMatch }) }));
  const remove = (Key: string, IfMatch: string) =>
    client.send(new DeleteObjectCommand({ Bucket, Key, IfMatch }));
  const get = async (Key: string) => {
    const { Body, ETag = '' } = await client.send(new GetObjectCommand({ Bucket, Key }));
    return { text: (await Body?.transformToString()) ?? '', etag: ETag };
  };
  const isGone = { name: 'NoSuchKey' };
  const differs = { name: 'PreconditionFailed' };

  it('takes tags of an object, which stays as it is, and of none says that it is not there', async () => {
    await put('tagged', 'one');
    const { etag } = await get('tagged');
    const tag = (Key: string) =>
      client.send(
        new PutObjectTaggingCommand({ Bucket, Key, Tagging: { TagSet: [{ Key: 'a', Value: 'b' }] } }),
      );
    await tag('tagged');
    expect(await get('tagged')).toEqual({ text: 'one', etag });
    await expect(tag('nothing')).rejects.toMatchObject(isGone);
    await expect(get('nothing')).rejects.toMatchObject(isGone);
  });

  it('replaces an object only if it is the one that was read', async () => {
    await put('a/b', 'one');
    const { etag } = await get('a/b');
    await put('a/b', 'two', etag);
    await expect(put('a/b', 'three', etag)).rejects.toMatchObject(differs);
    expect((await get('a/b')).text).toBe('two');
  });

  it('makes no object in the place of one that is gone', async () => {
    await expect(put('none', 'x', '"0"')).rejects.toMatchObject(isGone);
    await expect(get('none')).rejects.toMatchObject(isGone);
  });

  it('deletes an object only if it is the one that was read', async () => {
    await put('c', 'one');
    const { etag } = await get('c');
    await put('c', 'two');
    await expect(remove('c', etag)).rejects.toMatchObject(differs);
    await remove('c', (await get('c')).etag);
    await expect(get('c')).rejects.toMatchObject(isGone);
  });

  it('lets one of many concurrent writers succeed at a time', async () => {
    await put('count', '');
    const add = async (letter: string): Promise<void> => {
      const { text, etag } = await get('count');
      await put('count', text + letter, etag).catch((error: Error) => {
        if (error.name !== differs.name) throw error;
        return add(letter);
      });
    };
    await Promise.all([...'abcdefghijkl'].map(add));
    expect([...(await get('count')).text].sort().join('')).toBe('abcdefghijkl');
  });
});

/**
 * The databases that are opened from now on. A bound on the pages of one makes SQLite say what it says
 * of a full disk.
 */
const openedDatabases = (): Set<DatabaseSync> => {
  const opened = new Set<DatabaseSync>();
  const { exec } = DatabaseSync.prototype;
  vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql) {
    opened.add(this);
    return exec.call(this, sql);
  });
  return opened;
};

const countPages = (database: DatabaseSync): number =>
  Number(Object.values(database.prepare('PRAGMA page_count').get() ?? {})[0]);

it('A full disk fails writes by its name, is told once, and loses nothing', async () => {
  const opened = openedDatabases();
  const folder = newFolder();
  const lines: string[] = [];
  const store = await startS3({ folder, notify: (line) => lines.push(line) });
  const client = new S3Client({
    endpoint: store.endpoint,
    region: localRegion,
    credentials: localCredentials,
    maxAttempts: 1,
  });
  await client.send(new CreateBucketCommand({ Bucket: 'bucket' }));
  const put = (Key: string, size: number) =>
    client.send(new PutObjectCommand({ Bucket: 'bucket', Key, Body: Buffer.alloc(size, 1) }));
  await put('kept', 20_000);
  for (const database of opened) database.exec(`PRAGMA max_page_count = ${countPages(database) + 2}`);
  for (const _ of [1, 2])
    await expect(put('kept', 200_000)).rejects.toMatchObject({
      name: 'InternalError',
      message: 'the local S3 failed: the disk is full',
      $metadata: { httpStatusCode: 500 },
    });
  expect(lines).toEqual([
    `${folder} cannot be written: the disk is full. Requests that write fail until some space is free`,
  ]);
  const { ContentLength } = await client.send(new GetObjectCommand({ Bucket: 'bucket', Key: 'kept' }));
  expect(ContentLength).toBe(20_000);
  for (const database of opened) database.exec('PRAGMA max_page_count = 1000000');
  await put('kept', 200_000);
  expect(lines.slice(1)).toEqual([`${folder} can be written again`]);
  client.destroy();
  await store.stop();
});
