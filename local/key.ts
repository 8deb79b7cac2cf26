import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatKey, type Key, makeKey, newRecord, parseKey, putKey, roles } from '../core/auth/index.ts';
import type { Table } from '../core/storage/index.ts';

/** The operator's settings are not what they should be; the message says what to write. */
export class BadSetting extends Error {
  override readonly name = 'BadSetting';
}

/** Where the key may come from. */
export interface LocalKeyOptions {
  /** The service's name. */
  readonly service: string;
  /**
   * The key as text, as the operator gave it. @default - the one that the folder keeps, or one that
   * is made
   */
  readonly given?: string;
  /** The folder that keeps a key that was made, absolute. @default - it is not kept */
  readonly folder?: string;
}

/** The key that may do everything. */
export interface LocalKey {
  readonly key: Key;
  /** The file that keeps it, absolute; absent where it was given, or is gone with this process. */
  readonly file?: string;
}

const formOf = (service: string): string => `${service}_<16 of 0-9a-z>_<64 hex digits>`;

const keptIn = async (file: string): Promise<string | undefined> => {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new BadSetting(`${file} should keep the service's key and cannot be read: ${error}`, {
      cause: error,
    });
  }
};

/**
 * Writes a new key to a file that its owner alone can read, and that is there whole or not at all.
 */
const keep = async (file: string, key: Key): Promise<void> => {
  const draft = `${file}.draft`;
  await writeFile(draft, `${formatKey(key)}\n`, { mode: 0o600 });
  await rename(draft, file);
};

/**
 * Finds the key that the service is to have: the given one, else the one that the folder keeps,
 * else a new one, which the folder keeps from now on.
 *
 * @throws BadSetting where the given or the kept text is no key of this service
 */
export const findLocalKey = async ({ service, given, folder }: LocalKeyOptions): Promise<LocalKey> => {
  if (given !== undefined) {
    const key = parseKey(service, given);
    if (key) return { key };
    throw new BadSetting(`LOCAL_KEY should be ${formOf(service)}; leave it out to have one made`);
  }
  if (folder === undefined) return { key: makeKey(service) };
  const file = join(folder, 'key');
  const kept = await keptIn(file);
  const key = kept === undefined ? makeKey(service) : parseKey(service, kept);
  if (!key) throw new BadSetting(`${file} should be ${formOf(service)}; delete it to have a key made`);
  if (kept === undefined) await keep(file, key);
  return { key, file };
};

/**
 * Stores a key with every role on every project, which belongs to the user `local`. Storing it
 * again changes nothing.
 *
 * @throws BadSetting where its id belongs to another key, or it has been revoked
 */
export const storeLocalKey = async (table: Table, { key, file }: LocalKey): Promise<void> => {
  const grants = roles.map((role) => ({ scope: '*', role }) as const);
  const record = newRecord(key, { user: 'local', grants }, Date.now() * 1000);
  if (await putKey(table, record)) return;
  const mend = file === undefined ? 'give another in LOCAL_KEY' : `delete ${file} to have one made`;
  throw new BadSetting(`the key ${key.id} has been revoked, or is another one, in this data: ${mend}`);
};
