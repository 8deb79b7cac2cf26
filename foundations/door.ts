import { createHash } from 'node:crypto';
import { canonicalJson, type JsonValue } from './wire/json.ts';

/** How values are digested. */
export interface Digests {
  /** The digest of bytes: 43 characters of letters, digits, `-` and `_`. */
  readonly ofBytes: (content: Uint8Array | string) => string;
  /** The digest of a JSON value, which the order of its keys does not change. It looks the same. */
  readonly ofValue: (value: JsonValue) => string;
}

/** What fields of answers are called, by our names; those that are not here keep them. */
export type FieldNames = Readonly<Record<string, string>>;

/** What depends on the door that a request came in by. */
export interface Door {
  readonly digests: Digests;
  readonly names: FieldNames;
}

const ofBytes = (content: Uint8Array | string): string =>
  createHash('sha256').update(content).digest('base64url');

/** Our own digests: SHA-256 in base64url, that of a value of its {@link canonicalJson}. */
export const ownDigests: Digests = {
  ofBytes,
  ofValue: (value) => ofBytes(canonicalJson(value)),
};

export const ownNames: FieldNames = {};

/** Our own API. */
export const ownDoor: Door = { digests: ownDigests, names: ownNames };
