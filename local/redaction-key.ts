import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FunctionSpec } from './template/stack.ts';

/** The variable of functions that redact: a reference to the stack's secret. */
const variable = 'REDACTION_KEY';

const keyIn = async (folder: string): Promise<string> => {
  const file = join(folder, 'redaction-key');
  const key = randomBytes(32).toString('hex');
  // Whoever is first makes it.
  await writeFile(file, key, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  return readFile(file, 'utf8');
};

/**
 * Gives functions that redact a key of hashes in place of the stack's, which is in Secrets Manager:
 * that does not run locally.
 *
 * @param folder where the key is kept. @default - it is made anew at each start
 */
export const withRedactionKey = async (
  functions: readonly FunctionSpec[],
  folder: string | undefined,
): Promise<readonly FunctionSpec[]> => {
  if (!functions.some(({ environment }) => variable in environment)) return functions;
  const key = folder === undefined ? randomBytes(32).toString('hex') : await keyIn(folder);
  return functions.map((spec) =>
    variable in spec.environment ? { ...spec, environment: { ...spec.environment, [variable]: key } } : spec,
  );
};
