import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject, parseOptionalJson } from '../../foundations/wire/index.ts';
import { Failure } from '../common.ts';
import type { Session } from './issuer.ts';

/*
 * The sessions of whoever runs the command, in a file that nobody else can read.
 */

/** The sessions by the URLs of their services. */
interface Kept {
  /** The service that somebody signed in to last; undefined if they signed out of it. */
  readonly latest?: string | undefined;
  readonly sessions: Readonly<Record<string, Session>>;
}

/** How long a process may hold the file, and how long others wait for it, in ms. A renewal takes less. */
const heldMs = 60_000;
const waitMs = 40_000;

/** What the system says of a file. */
const describeFailure = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
};

/** The file of the user, by the XDG Base Directory Specification. */
export const keptFile = ({ XDG_CONFIG_HOME: folder = '' }: NodeJS.ProcessEnv): string =>
  join(isAbsolute(folder) ? folder : join(homedir(), '.config'), 'pennytrace', 'sessions.json');

/** What is kept in a file. Throws a Failure if it cannot be read, or is something else. */
export const readKept = async (file: string): Promise<Kept> => {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new Failure(`${file} cannot be read: ${describeFailure(error)}`, { cause: error });
  });
  if (text === undefined) return { sessions: {} };
  const kept = parseOptionalJson(text);
  if (isJsonObject(kept) && isJsonObject(kept.sessions)) return kept as unknown as Kept;
  throw new Failure(`${file} is not what this command writes: delete it, then sign in again`);
};

/** How long ago a file was written, in ms, by the clock of its file system: a new file beside it tells the time. */
const ageOf = async (file: string): Promise<number> => {
  const probe = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(probe, '', { mode: 0o600, flag: 'wx' });
    const [now, then] = await Promise.all([probe, file].map((path) => stat(path)));
    return now && then ? now.mtimeMs - then.mtimeMs : 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  } finally {
    await rm(probe, { force: true });
  }
};

/** Takes a lock file, also from a process that has died with it. */
const takeLock = async (lock: string): Promise<void> => {
  const end = Date.now() + waitMs;
  for (;;) {
    try {
      return await writeFile(lock, String(process.pid), { mode: 0o600, flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if ((await ageOf(lock)) > heldMs) await rm(lock, { force: true });
    else if (Date.now() > end)
      throw new Failure(`another process holds ${lock}: end it, or delete this file if there is none`);
    else await sleep(50);
  }
};

/**
 * Changes what is kept, one process at a time: a refresh token is good once, and whoever uses it a second time ends
 * the session.
 *
 * @param change gets what is kept, and returns what is kept from now on; undefined to leave it as it is
 * @throws Failure if the file cannot be written; what `change` throws
 */
export const changeKept = async (
  file: string,
  change: (kept: Kept) => Promise<Kept | undefined>,
): Promise<void> => {
  const lock = `${file}.lock`;
  const unwritable = (error: unknown) => {
    if (error instanceof Failure) throw error;
    const why = describeFailure(error);
    throw new Failure(`${file} cannot be written: ${why}; XDG_CONFIG_HOME names another folder`, {
      cause: error,
    });
  };
  await mkdir(dirname(file), { recursive: true, mode: 0o700 }).catch(unwritable);
  await takeLock(lock).catch(unwritable);
  try {
    const kept = await change(await readKept(file));
    if (kept === undefined) return;
    const draft = `${file}.${randomBytes(6).toString('hex')}`;
    try {
      await writeFile(draft, `${JSON.stringify(kept, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' });
      await rename(draft, file);
    } catch (error) {
      await rm(draft, { force: true });
      unwritable(error);
    }
  } finally {
    await rm(lock, { force: true });
  }
};

/** What is kept once somebody has signed in to a service. */
export const withSession = (kept: Kept, url: string, session: Session): Kept => ({
  latest: url,
  sessions: { ...kept.sessions, [url]: session },
});

/** What is kept once somebody has signed out of a service. */
export const withoutSession = ({ latest, sessions }: Kept, url: string): Kept => {
  const others = Object.entries(sessions).filter(([other]) => other !== url);
  return { latest: latest === url ? undefined : latest, sessions: Object.fromEntries(others) };
};
