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
import { afterAll, describe, expect, it } from 'vitest';
import { claimDataDir } from '../../../local/data-dir.ts';
import { startService } from '../../support/service/service.ts';

const folders: string[] = [];
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'pennytrace-disk-'));
  folders.push(folder);
  return folder;
};
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const getMode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** The modes of all that is in a folder, and of itself. */
const modesIn = (folder: string): Set<string> =>
  new Set(
    [folder, ...readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)))].map(
      getMode,
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
    expect(getMode(folder)).toBe('755');
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
    expect(getMode(elsewhere)).toBe('644');
  });
});
