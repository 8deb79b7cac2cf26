import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** How often to look whether another worker is done, in milliseconds. */
const pollMs = 50;

/** Makes a folder by itself, which fails where another worker has made it. */
const claim = async (folder: string): Promise<boolean> => {
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
};

/**
 * Makes a folder once for all workers of a test run. The first that asks makes it, and the others
 * wait. Where it cannot be made, the next one tries again.
 *
 * @param folder its path; what it lies in must be there
 * @param make fills an empty folder, which becomes the one that is asked for
 * @throws what `make` throws
 */
export const onceInRun = async (
  folder: string,
  make: (unfinished: string) => Promise<void> | void,
): Promise<void> => {
  const unfinished = `${folder}.unfinished`;
  while (!existsSync(folder)) {
    if (!(await claim(unfinished))) {
      await sleep(pollMs);
      continue;
    }
    try {
      // Another worker may have finished between the look and the claim.
      if (existsSync(folder)) return;
      await make(unfinished);
      await rename(unfinished, folder);
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
  }
};
