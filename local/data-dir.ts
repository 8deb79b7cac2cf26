import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { BadSetting } from './key.ts';
import { isRunning } from './running.ts';

/** A data folder that is this process's alone. */
export interface DataDir {
  /** Absolute. */
  readonly path: string;
  /** Leaves it to others. */
  release(): Promise<void>;
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

const makeIfMissing = async (path: string): Promise<void> => {
  try {
    await mkdir(path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
};

/**
 * Makes a folder with those on the way to it. Node's own way of doing so never ends below /proc.
 */
const makeFolder = async (path: string): Promise<void> => {
  try {
    await makeIfMissing(path);
  } catch (error) {
    const parent = dirname(path);
    if (codeOf(error) !== 'ENOENT' || parent === path) throw error;
    await makeFolder(parent);
    await makeIfMissing(path);
  }
};

const reasons: Readonly<Record<string, string>> = {
  ENOTDIR: 'it is a file, or lies below one',
  EACCES: 'it may not be written to',
  EPERM: 'it may not be written to',
  EROFS: 'it may only be read',
  ENOENT: 'it cannot be made',
  ENOSPC: 'its disk is full',
};

const unusable = (path: string, error: unknown): BadSetting => {
  const code = codeOf(error) ?? '';
  const reason = reasons[code] ?? String(error);
  return new BadSetting(
    `DATA_DIR is ${path}, but ${reason} (${code}): name a folder that you can write to; it is made if missing`,
    { cause: error },
  );
};

/** The file by which a process says that it uses the folder. */
const lockOf = (path: string, pid: number): string => join(path, `lock.${pid}`);

const pidsIn = async (path: string): Promise<number[]> =>
  (await readdir(path)).flatMap((name) => {
    const [, pid] = /^lock\.(\d+)$/.exec(name) ?? [];
    return pid === undefined ? [] : [Number(pid)];
  });

/** Writes down that this process uses the folder, making the folder if it is missing. */
const lock = async (path: string): Promise<void> => {
  try {
    await makeFolder(path);
    await writeFile(lockOf(path, process.pid), '');
  } catch (error) {
    throw unusable(path, error);
  }
};

/**
 * Claims a folder for this process. Each process first says that it uses the folder and then looks
 * who else does: of two that start at once neither can miss the other. Locks of processes that have
 * ended are removed.
 *
 * @param dataDir the folder; made if missing
 * @throws BadSetting where it cannot be made or written to, or another process uses it; nothing is
 * left behind then
 */
export const claimDataDir = async (dataDir: string): Promise<DataDir> => {
  const path = resolve(dataDir);
  await lock(path);
  const release = () => rm(lockOf(path, process.pid), { force: true });
  const others = (await pidsIn(path)).filter((pid) => pid !== process.pid);
  const user = others.find(isRunning);
  if (user !== undefined) {
    await release();
    throw new BadSetting(
      `DATA_DIR is ${path}, which process ${user} uses already: end that service, or name another folder ` +
        `(if ${user} is something else, delete ${lockOf(path, user)})`,
    );
  }
  await Promise.all(others.map((pid) => rm(lockOf(path, pid), { force: true })));
  return { path, release };
};
