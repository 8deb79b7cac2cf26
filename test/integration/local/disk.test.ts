import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { claimDataDir } from '../../../local/data-dir.ts';
import { startServer } from '../../../local/store/server.ts';
import { localCredentials, startS3 } from '../../../local/stores.ts';
import { localRegion } from '../../../local/template/cloudformation.ts';
import { startService } from '../../support/service.ts';
import { bytes, filled, tableOf, wireTo } from './store/support.ts';

const folders: string[] = [];
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'pennytrace-disk-'));
  folders.push(folder);
  return folder;
};
afterEach(() => vi.restoreAllMocks());
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
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

const pagesOf = (database: DatabaseSync): number =>
  Number(Object.values(database.prepare('PRAGMA page_count').get() ?? {})[0]);

describe('a full disk', () => {
  it('fails writes to the embedded store by its name, once for the terminal, and loses nothing', async () => {
    const file = join(newFolder(), 'store.sqlite');
    const told: string[] = [];
    const server = await startServer({ file, maxPages: 60, tell: (line) => told.push(line) });
    const wire = wireTo(`http://127.0.0.1:${server.port}`);
    // Without a stream, in which deletions take room, too.
    await wire.send('CreateTable', { ...tableOf('table'), StreamSpecification: { StreamEnabled: false } });
    const keyOf = (i: number) => ({ k: bytes(`item ${i}`), p: { S: 'S' } });
    const put = (i: number, size: number) =>
      wire.send('PutItem', { TableName: 'table', Item: { ...keyOf(i), h: filled(size) } });
    const statuses: number[] = [];
    while (!statuses.includes(500)) statuses.push((await put(statuses.length, 50_000)).status);
    const refused = await put(statuses.length, 50_000);
    expect(refused).toEqual({
      status: 500,
      body: {
        __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError',
        message: 'the embedded store failed: the disk is full',
      },
    });
    expect(told).toEqual([
      `${file} cannot be written: the disk is full. Requests that write are answered with 503 until ` +
        'some space is free',
    ]);
    for (const [i, status] of statuses.entries()) {
      const { body } = await wire.send('GetItem', { TableName: 'table', Key: keyOf(i) });
      expect('Item' in body, `item ${i}`).toBe(status === 200);
    }
    for (let i = 0; i < 3; i++) await wire.send('DeleteItem', { TableName: 'table', Key: keyOf(i) });
    expect((await put(1000, 10_000)).status).toBe(200);
    expect(told.slice(1)).toEqual([`${file} can be written again`]);
    wire.close();
    await server.stop();
  });

  it('fails writes to S3 by its name, once for the terminal, and loses nothing', async () => {
    const opened = openedDatabases();
    const folder = newFolder();
    const told: string[] = [];
    const store = await startS3(folder, { tell: (line) => told.push(line) });
    const client = new S3Client({
      ...{ endpoint: store.endpoint, region: localRegion, credentials: localCredentials, maxAttempts: 1 },
    });
    await client.send(new CreateBucketCommand({ Bucket: 'bucket' }));
    const put = (Key: string, size: number) =>
      client.send(new PutObjectCommand({ Bucket: 'bucket', Key, Body: Buffer.alloc(size, 1) }));
    await put('kept', 20_000);
    for (const database of opened) database.exec(`PRAGMA max_page_count = ${pagesOf(database) + 2}`);
    for (const _ of [1, 2])
      await expect(put('kept', 200_000)).rejects.toMatchObject({
        name: 'InternalError',
        message: 'the local S3 failed: the disk is full',
        $metadata: { httpStatusCode: 500 },
      });
    expect(told).toEqual([
      `${folder} cannot be written: the disk is full. Requests that write are answered with 503 until ` +
        'some space is free',
    ]);
    const { ContentLength } = await client.send(new GetObjectCommand({ Bucket: 'bucket', Key: 'kept' }));
    expect(ContentLength).toBe(20_000);
    for (const database of opened) database.exec('PRAGMA max_page_count = 1000000');
    await put('kept', 200_000);
    expect(told.slice(1)).toEqual([`${folder} can be written again`]);
    client.destroy();
    await store.stop();
  });
});

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** The modes of all that is in a folder, and of itself. */
const modesIn = (folder: string): Set<string> =>
  new Set(
    [folder, ...readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)))].map(
      modeOf,
    ),
  );

describe.skipIf(process.platform === 'win32')('the data folder', () => {
  it('and all in it are for its owner alone, however open they were', async () => {
    const folder = join(newFolder(), 'data');
    const options = { dynamodb: '', s3: '', stackName: 'Kept' };
    await (await startService({ ...options, dataDir: folder })).stop();
    for (const name of ['', ...readdirSync(folder, { recursive: true }).map(String)])
      chmodSync(join(folder, name), statSync(join(folder, name)).isDirectory() ? 0o755 : 0o644);
    const umask = process.umask(0o077);
    const service = await startService({ ...options, dataDir: folder });
    process.umask(umask);
    expect(modesIn(folder)).toEqual(new Set(['700', '600']));
    await service.stop();
  });

  it('is made for its owner alone', async () => {
    const folder = join(newFolder(), 'made');
    const { release } = await claimDataDir(folder);
    expect(modesIn(folder)).toEqual(new Set(['700', '600']));
    await release();
  });

  it('is refused if others can read it and it has what is not the service’s', async () => {
    const folder = newFolder();
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, 'README'), '');
    await expect(claimDataDir(folder)).rejects.toThrow(
      `DATA_DIR is ${folder}, which other users can read, and which has README beside the service's data: ` +
        `name a folder only for the data, or run chmod go= ${folder}`,
    );
    expect(readdirSync(folder)).toEqual(['README']);
    expect(modeOf(folder)).toBe('755');
    chmodSync(folder, 0o700);
    await (await claimDataDir(folder)).release();
  });

  it('leaves alone what links in it lead to', async () => {
    const folder = newFolder();
    const elsewhere = join(newFolder(), 'file');
    writeFileSync(elsewhere, '', { mode: 0o644 });
    chmodSync(elsewhere, 0o644);
    mkdirSync(join(folder, 's3'));
    symlinkSync(elsewhere, join(folder, 's3', 'link'));
    await (await claimDataDir(folder)).release();
    expect(modeOf(elsewhere)).toBe('644');
  });
});
