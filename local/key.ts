import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { formatKey, type Key, makeKey, newRecord, parseKey, putKey, roles } from '../core/auth/index.ts';

/** The operator's settings are not what they should be; the message says what to write. */
export class BadSetting extends Error {
  override readonly name = 'BadSetting';
}

/** Where the key goes, and what it is for. */
export interface LocalKeyOptions {
  readonly dynamodb: DynamoDBClient;
  readonly keysTable: string;
  /** The service's name. */
  readonly service: string;
  /** The key to store, as text. @default - one that is made */
  readonly given?: string;
}

const keyOf = ({ service, given }: LocalKeyOptions): Key => {
  if (given === undefined) return makeKey(service);
  const key = parseKey(service, given);
  if (key) return key;
  throw new BadSetting(
    `LOCAL_KEY should be ${service}_<16 of 0-9a-z>_<64 hex digits>; leave it out to have one made`,
  );
};

/**
 * Stores a key that has every role on every project, and belongs to the user `local`.
 *
 * @returns the key as text
 * @throws BadSetting where the given text is no key, or its id belongs to another
 */
export const storeLocalKey = async (options: LocalKeyOptions): Promise<string> => {
  const key = keyOf(options);
  const grants = roles.map((role) => ({ scope: '*', role }) as const);
  const record = newRecord(key, { user: 'local', grants }, Date.now() * 1000);
  const table = { client: options.dynamodb, name: options.keysTable };
  if (await putKey(table, record)) return formatKey(key);
  throw new BadSetting(`LOCAL_KEY has the id of another key, or of a revoked one, in this data: ${key.id}`);
};
