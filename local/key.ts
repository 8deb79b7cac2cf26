import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  formatKey,
  type Key,
  makeKey,
  newRecord,
  parseKey,
  putKey,
  roles,
} from '../core/foundations/auth/index.ts';
import type { Table } from '../core/foundations/storage/index.ts';

/** A setting of the operator is wrong. The message says what to write instead. */
export class BadSetting extends Error {
  override readonly name = 'BadSetting';
}

/** Where the key may come from. */
export interface LocalKeyOptions {
  /** The service's name. */
  readonly service: string;
  /** The key as the operator set it. @default - the key in the folder, or a new one */
  readonly configured?: string;
  /** The folder for a new key, absolute. @default - the key is not stored */
  readonly folder?: string;
}

/** A key that may do everything. */
export interface LocalKey {
  readonly key: Key;
  /** The file with the key, absolute; absent if the operator set the key or there is no folder. */
  readonly file?: string;
}

const formOf = (service: string): string => `${service}_<16 of 0-9a-z>_<64 hex digits>`;

const readKeyFile = async (file: string): Promise<string | undefined> => {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new BadSetting(`${file} holds the service's key but cannot be read: ${error}`, {
      cause: error,
    });
  }
};

/**
 * Writes a key to a file that only its owner can read. Renaming makes the file complete or absent.
 */
const writeKeyFile = async (file: string, key: Key): Promise<void> => {
  const draft = `${file}.draft`;
  await writeFile(draft, `${formatKey(key)}\n`, { mode: 0o600 });
  await rename(draft, file);
};

/**
 * Finds the service's key: the operator's, else the folder's, else a new one that the folder
 * stores.
 *
 * @throws BadSetting if the operator's or the stored text is not a key of this service
 */
export const findLocalKey = async ({ service, configured, folder }: LocalKeyOptions): Promise<LocalKey> => {
  if (configured !== undefined) {
    const key = parseKey(service, configured);
    if (key) return { key };
    throw new BadSetting(`LOCAL_KEY should be ${formOf(service)}; leave it out to make a new key`);
  }
  if (folder === undefined) return { key: makeKey(service) };
  const file = join(folder, 'key');
  const stored = await readKeyFile(file);
  const key = stored === undefined ? makeKey(service) : parseKey(service, stored);
  if (!key) throw new BadSetting(`${file} should be ${formOf(service)}; delete it to make a new key`);
  if (stored === undefined) await writeKeyFile(file, key);
  return { key, file };
};

/**
 * Stores the key with every role on every project, for the user `local`. Storing it again changes
 * nothing.
 *
 * @throws BadSetting if its id belongs to another key or it was revoked
 */
export const storeLocalKey = async (table: Table, { key, file }: LocalKey): Promise<void> => {
  const grants = roles.map((role) => ({ scope: '*', role }) as const);
  const record = newRecord(key, { user: 'local', grants }, Date.now() * 1000);
  if (await putKey(table, record)) return;
  const remedy = file === undefined ? 'set LOCAL_KEY to another one' : `delete ${file} to make a new key`;
  throw new BadSetting(`the key ${key.id} was revoked or differs in this data: ${remedy}`);
};
