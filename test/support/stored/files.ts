import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Changes } from './compare.ts';
import type { StoredAnswer } from './exchange.ts';
import type { Authorization } from './keys.ts';
import type { Entry } from './snapshot.ts';

/** What the files of a data set hold, by name: a list each, one element a line. */
export interface StoredFiles {
  /** What the stores held once all was written. */
  readonly items: Entry;
  /** The answers to what was written, where the code of today writes the same. */
  readonly written: StoredAnswer;
  /** The answers to what was read then. */
  readonly read: StoredAnswer;
  /** The answers to what was written over it. */
  readonly rewritten: StoredAnswer;
  /** What the stores held then, as changes: one element. */
  readonly changes: Changes;
  /** The answers to what was read at last. */
  readonly reread: StoredAnswer;
  /** What the authorizer made of keys, where the set has some. */
  readonly authorized: Authorization;
  /** The version of zstd that made the frames: one element. */
  readonly zstd: string;
}

const pathOf = (set: string, name: string): string =>
  join(import.meta.dirname, `fixtures/${set}/${name}.jsonl`);

/** Reads a file of a data set. */
export const readStored = async <Name extends keyof StoredFiles>(
  set: string,
  name: Name,
): Promise<StoredFiles[Name][]> => {
  const text = await readFile(pathOf(set, name), 'utf8');
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as StoredFiles[Name]]));
};

/** Writes a file of a data set. */
export const writeStored = async <Name extends keyof StoredFiles>(
  set: string,
  name: Name,
  list: readonly StoredFiles[Name][],
): Promise<void> => {
  const path = pathOf(set, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, list.map((element) => `${JSON.stringify(element)}\n`).join(''));
};
