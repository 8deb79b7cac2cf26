import type { Meter, Table } from '../storage/index.ts';
import type { Micros } from '../wire/index.ts';
import type { Caller } from './caller.ts';
import { type AcceptedScheme, type Credentials, parseCredentials } from './credentials.ts';
import { matchesDigest, parseKey } from './key.ts';
import { type KeyRecord, keyState } from './record.ts';
import { getKey } from './table.ts';

/** The keys of one service. */
export interface KeyStore {
  /** The service's name, which every key begins with. */
  readonly service: string;
  readonly table: Table;
}

/** Why a request was refused. Only the log says it; the caller learns no more than that it was. */
export type Refusal =
  | 'no header'
  | 'malformed header'
  | 'wrong scheme'
  | 'malformed key'
  | 'unknown key'
  | 'wrong secret'
  | 'revoked key'
  | 'expired key'
  | 'wrong user';

/** The caller, or why there is none, with the key's id once it is known. */
export type Authentication =
  | { readonly caller: Caller }
  | { readonly refusal: Refusal; readonly keyId?: string };

/** The user name that fits every key, for clients that don't know whose key they have. */
const anyUser = 'api';

const refusalOf = (record: KeyRecord, credentials: Credentials, now: Micros): Refusal | undefined => {
  const state = keyState(record, now);
  if (state !== 'active') return `${state} key`;
  if (credentials.scheme === 'bearer') return undefined;
  return [record.user, anyUser].includes(credentials.username) ? undefined : 'wrong user';
};

/**
 * Finds out who makes a request.
 *
 * @param header the `Authorization` header; undefined if there is none
 * @param scheme what the route takes
 * @param now microseconds since 1970
 * @param meter counts the look-up of the key
 * @returns the caller, or why there is none
 * @throws the SDK's error when the table does not answer: that says nothing about the key
 */
export const authenticate = async (
  header: string | undefined,
  scheme: AcceptedScheme,
  keys: KeyStore,
  now: Micros,
  meter?: Meter,
): Promise<Authentication> => {
  if (header === undefined) return { refusal: 'no header' };
  const credentials = parseCredentials(header);
  if (!credentials) return { refusal: 'malformed header' };
  if (scheme !== 'any' && credentials.scheme !== scheme) return { refusal: 'wrong scheme' };
  const key = parseKey(keys.service, credentials.key);
  if (!key) return { refusal: 'malformed key' };

  const record = await getKey(keys.table, key.id, meter);
  // The secret is compared first, even for an unknown id.
  const matches = matchesDigest(key, record?.digest);
  if (!record) return { refusal: 'unknown key', keyId: key.id };
  if (!matches) return { refusal: 'wrong secret', keyId: key.id };
  const refusal = refusalOf(record, credentials, now);
  if (refusal) return { refusal, keyId: key.id };
  const { user, grants, expiresAt } = record;
  return { caller: { user, keyId: key.id, grants, ...(expiresAt !== undefined && { expiresAt }) } };
};
