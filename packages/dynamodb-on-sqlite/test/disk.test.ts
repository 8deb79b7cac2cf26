import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startServer } from '../src/server.ts';
import { bytes, filled, makeTable, wireTo } from './support.ts';

it('A full disk fails writes by its name, is told once, and loses nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'disk-'));
  const file = join(folder, 'store.sqlite');
  const lines: string[] = [];
  const server = await startServer({ file, maxPages: 60, notify: (line) => lines.push(line) });
  const wire = wireTo(`http://127.0.0.1:${server.port}`);
  // Without a stream, in which deletions take room, too.
  await wire.send('CreateTable', { ...makeTable('table'), StreamSpecification: { StreamEnabled: false } });
  const makeKey = (i: number) => ({ k: bytes(`item ${i}`), p: { S: 'S' } });
  const put = (i: number, size: number) =>
    wire.send('PutItem', { TableName: 'table', Item: { ...makeKey(i), h: filled(size) } });
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
  expect(lines).toEqual([
    `${file} cannot be written: the disk is full. Requests that write fail until some space is free`,
  ]);
  for (const [i, status] of statuses.entries()) {
    const { body } = await wire.send('GetItem', { TableName: 'table', Key: makeKey(i) });
    expect('Item' in body, `item ${i}`).toBe(status === 200);
  }
  for (let i = 0; i < 3; i++) await wire.send('DeleteItem', { TableName: 'table', Key: makeKey(i) });
  expect((await put(1000, 10_000)).status).toBe(200);
  expect(lines.slice(1)).toEqual([`${file} can be written again`]);
  wire.close();
  await server.stop();
  rmSync(folder, { recursive: true });
});
