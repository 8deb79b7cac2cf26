import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { BadSetting } from './settings.ts';

/** Whether a process with this id runs on this machine, under any user. */
export const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
};

/** A data folder that this process has for itself. */
interface DataDir {
  /** An absolute path. */
  readonly path: string;
  release(): Promise<void>;
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

const reasons: Readonly<Record<string, string>> = {
  EEXIST: 'it is a file or lies below one',
  ENOTDIR: 'it is a file or lies below one',
  EACCES: 'it is not writable',
  EPERM: 'it is not writable',
  EROFS: 'it is on a read-only file system',
  ENOENT: 'it cannot be created',
  ENOSPC: 'its disk is full',
};

/** Why a folder cannot be written to. */
const reasonOf = (error: unknown): string => {
  const code = codeOf(error) ?? '';
  return `${reasons[code] ?? String(error)} (${code})`;
};

const unusable = (path: string, error: unknown): BadSetting =>
  new BadSetting(
    `DATA_DIR is ${path}, but ${reasonOf(error)}: name a writable folder; it is created if missing`,
    { cause: error },
  );

/**
 * Makes a folder for temporary files.
 *
 * @returns its path
 * @throws BadSetting if the machine's folder for them cannot be used
 */
export const makeTemporaryFolder = async (): Promise<string> => {
  const path = tmpdir();
  try {
    return await mkdtemp(join(path, 'pennytrace-'));
  } catch (error) {
    throw new BadSetting(
      `temporary files go to ${path}, but ${codeOf(error) === 'ENOENT' ? 'there is no such folder' : reasonOf(error)}: set TMPDIR to a folder that exists and is writable`,
      { cause: error },
    );
  }
};

/** The lock file of a process that uses the folder. */
const lockOf = (path: string, pid: number): string => join(path, `lock.${pid}`);

const pidsIn = async (path: string): Promise<number[]> =>
  (await readdir(path)).flatMap((name) => {
    const [, pid] = /^lock\.(\d+)$/.exec(name) ?? [];
    return pid === undefined ? [] : [Number(pid)];
  });

/** Creates this process's lock file, and the folder if it is missing. */
const lock = async (path: string): Promise<void> => {
  try {
    await mkdir(path, { recursive: true });
    await writeFile(lockOf(path, process.pid), '');
  } catch (error) {
    throw unusable(path, error);
  }
};

/**
 * Claims a folder for this process. Each process first writes its lock and then looks for others,
 * so that of two concurrent starts at least one sees the other. Locks of ended processes are
 * removed.
 *
 * @param dataDir the folder; made if missing
 * @throws BadSetting if it cannot be made or written to, or another process uses it; no lock is
 * left then
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
      `DATA_DIR is ${path}, which process ${user} uses: end that service or name another folder ` +
        `(if process ${user} is not a service, delete ${lockOf(path, user)})`,
    );
  }
  await Promise.all(others.map((pid) => rm(lockOf(path, pid), { force: true })));
  return { path, release };
};
