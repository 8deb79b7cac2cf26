import { readFile } from 'node:fs/promises';
import { Failure } from './failure.ts';

/**
 * Reads a JSON file; undefined if it does not exist.
 *
 * @throws Failure if it cannot be read or is not JSON
 */
export const readJson = async (path: string): Promise<unknown> => {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new Failure(`${path} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
};
