import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { claimDataDir } from '../../../local/data-dir.ts';

const folder = mkdtempSync(join(tmpdir(), 'pennytrace-claim-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The id of a process that has ended. */
const endedPid = (): number => spawnSync('true').pid;

it('A data folder is made with its missing parents, and is left unlocked', async () => {
  const path = join(folder, 'new', 'deep');
  const claimed = await claimDataDir(path);
  expect(claimed.path).toBe(path);
  expect(readdirSync(path)).toEqual([`lock.${process.pid}`]);
  await claimed.release();
  expect(readdirSync(path)).toEqual([]);
});

it('A data folder that another process uses is refused with its id and left unchanged', async () => {
  const path = join(folder, 'used');
  await (await claimDataDir(path)).release();
  const lock = `lock.${process.ppid}`;
  writeFileSync(join(path, lock), '');
  await expect(claimDataDir(path)).rejects.toThrow(
    `DATA_DIR is ${path}, which process ${process.ppid} uses: end that service or name another folder`,
  );
  expect(readdirSync(path)).toEqual([lock]);
});

it('The lock of an ended process is taken over', async () => {
  const path = join(folder, 'stale');
  await (await claimDataDir(path)).release();
  writeFileSync(join(path, `lock.${endedPid()}`), '');
  const claimed = await claimDataDir(path);
  expect(readdirSync(path)).toEqual([`lock.${process.pid}`]);
  await claimed.release();
});

it.each([
  ['a file', () => join(folder, 'file')],
  ['below a file', () => join(folder, 'file', 'below')],
])('A data folder that is %s is refused with what to do', async (_, toPath) => {
  writeFileSync(join(folder, 'file'), 'text');
  await expect(claimDataDir(toPath())).rejects.toThrow(
    /^DATA_DIR is .*file.*, but it is a file or lies below one \((?:EEXIST|ENOTDIR)\): name a writable folder/,
  );
});
