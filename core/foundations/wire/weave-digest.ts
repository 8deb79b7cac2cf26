import { createHash } from 'node:crypto';
import type { JsonValue } from './json.ts';
import { pythonJson } from './python-json.ts';

/*
 * Digests as Weave's SDKs compute them (Python: `weave/trace/serialization/digest.py`).
 */

/** The digest of bytes: SHA-256 in base64url, `-` as `X` and `_` as `Y`, 43 characters. */
export const bytesDigest = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('base64url').replaceAll('-', 'X').replaceAll('_', 'Y');

/** The digest of a value: that of its JSON as Python writes it. */
export const valueDigest = (value: JsonValue): string => bytesDigest(pythonJson(value));

/** The digest of a table: the SHA-256 of its rows' digests one after the other, in hex. */
export const tableDigest = (rows: Iterable<string>): string => {
  const hash = createHash('sha256');
  for (const row of rows) hash.update(row);
  return hash.digest('hex');
};

/** What a digest of a value or of bytes looks like. Its last character holds four bits. */
export const digestPattern = /^[A-Za-z0-9]{42}[AEIMQUYcgkosw048]$/;
/** What a digest of a table looks like. */
export const tableDigestPattern = /^[0-9a-f]{64}$/;

/**
 * A digest as 32 bytes, which tell it from all others. They are not the hash: letters stand for
 * the characters that were replaced.
 */
export const digestBytes = (digest: string): Buffer => Buffer.from(digest, 'base64');

/** Undoes {@link digestBytes}. */
export const digestOfBytes = (bytes: Uint8Array): string =>
  Buffer.from(bytes).toString('base64').slice(0, 43);
