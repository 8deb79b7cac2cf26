import { chmod, lstat, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
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

const getCode = (error: unknown): string | undefined =>
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
const toReason = (error: unknown): string => {
  const code = getCode(error) ?? '';
  return `${reasons[code] ?? String(error)} (${code})`;
};

const unusable = (path: string, error: unknown): BadSetting =>
  new BadSetting(
    `DATA_DIR is ${path}, but ${toReason(error)}: name a writable folder; it is created if missing`,
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
      `temporary files go to ${path}, but ${getCode(error) === 'ENOENT' ? 'there is no such folder' : toReason(error)}: set TMPDIR to a folder that exists and is writable`,
      { cause: error },
    );
  }
};

/** The lock file of a process that uses the folder. */
const lockFile = (path: string, pid: number): string => join(path, `lock.${pid}`);

const pidsIn = async (path: string): Promise<number[]> =>
  (await readdir(path)).flatMap((name) => {
    const [, pid] = /^lock\.(\d+)$/.exec(name) ?? [];
    return pid === undefined ? [] : [Number(pid)];
  });

/** Creates this process's lock file, and the folder if it is missing. */
const lock = async (path: string): Promise<void> => {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await writeFile(lockFile(path, process.pid), '', { mode: 0o600 });
  } catch (error) {
    throw unusable(path, error);
  }
};

/** What the service keeps in its folder, beside locks. */
const ownEntries: ReadonlySet<string> = new Set([
  'analytics',
  'dynamodb',
  'key',
  'key.draft',
  'redaction-key',
  's3',
]);

const isOwn = (name: string): boolean => ownEntries.has(name) || /^lock\.\d+$/.test(name);

const isOpen = ({ mode }: { readonly mode: number }): boolean => (mode & 0o077) !== 0;

/**
 * Takes a file or a folder from all users but its owner.
 *
 * @throws BadSetting if its owner or its file system does not let that be
 */
const close = async (path: string, mode: number): Promise<void> => {
  // What is wrong shows in the mode that it has since.
  await chmod(path, mode).catch(() => {});
  if (isOpen(await stat(path)))
    throw new BadSetting(
      `DATA_DIR has ${path}, which other users can read, and this user or its file system cannot change that: ` +
        `run chmod -R go= on it as its owner, or name a folder elsewhere`,
    );
};

/**
 * Takes the folder, and what the service has in it, from all other users: it has keys and all that was
 * reported. An earlier version made it with the user's usual modes.
 *
 * @throws BadSetting if it cannot be taken from them, or has what may be meant for them
 */
const closeFolder = async (path: string): Promise<void> => {
  // There, modes say nothing of other users.
  if (process.platform === 'win32') return;
  const names = await readdir(path);
  if (isOpen(await stat(path))) {
    const foreign = names.find((name) => !isOwn(name));
    if (foreign !== undefined)
      throw new BadSetting(
        `DATA_DIR is ${path}, which other users can read, and which has ${foreign} beside the service's data: ` +
          `name a folder only for the data, or run chmod go= ${path}`,
      );
    await close(path, 0o700);
  }
  // Locks come and go, and have nothing in them.
  for (const name of names.filter((one) => ownEntries.has(one))) {
    const own = join(path, name);
    const below = (await lstat(own)).isDirectory()
      ? (await readdir(own, { recursive: true })).map((one) => join(own, one))
      : [];
    for (const one of [own, ...below]) {
      const found = await lstat(one);
      if (!isOpen(found) || found.isSymbolicLink()) continue;
      await close(one, found.isDirectory() ? 0o700 : 0o600);
    }
  }
};

/**
 * Claims a folder for this process. Each process first writes its lock and then looks for others,
 * so that of two concurrent starts at least one sees the other. Locks of ended processes are
 * removed.
 *
 * @param dataDir the folder; made if missing. Other users can't read it from then on
 * @throws BadSetting if it cannot be made or written to, another process uses it, or it cannot be kept
 * from other users; no lock is left then
 */
export const claimDataDir = async (dataDir: string): Promise<DataDir> => {
  const path = resolve(dataDir);
  await lock(path);
  const release = () => rm(lockFile(path, process.pid), { force: true });
  const others = (await pidsIn(path)).filter((pid) => pid !== process.pid);
  const user = others.find(isRunning);
  if (user !== undefined) {
    await release();
    throw new BadSetting(
      `DATA_DIR is ${path}, which process ${user} uses: end that service or name another folder ` +
        `(if process ${user} is not a service, delete ${lockFile(path, user)})`,
    );
  }
  await Promise.all(others.map((pid) => rm(lockFile(path, pid), { force: true })));
  await closeFolder(path).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  return { path, release };
};
