/*
 * Stands in the package for aws-stand-in/thread-code, which makes scripts of threads with esbuild. The
 * package has them made.
 */

import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** The script of a module, by its file's name. */
const threadCodeSync = (file: string): string =>
  readFileSync(join(import.meta.dirname, 'threads', `${basename(file, '.ts')}.cjs`), 'utf8');

/** The same for who can wait. */
const threadCode = async (file: string): Promise<string> => threadCodeSync(file);

export { threadCode, threadCodeSync };

/** There is no compiler to end. */
export const endCompiler = async (): Promise<void> => {};
