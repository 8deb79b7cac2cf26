import { createHash } from 'node:crypto';
import { isJsonObject, type JsonValue } from '../wire/index.ts';

/**
 * A value as canonical JSON, after RFC 8785: no white space, the keys of objects in the order of their UTF-16 code units,
 * numbers and strings as ECMAScript writes them. Values that are equal as JSON have the same text. Lone surrogates, of which
 * the RFC says nothing good, are escaped.
 */
export const canonicalJson = (value: JsonValue): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  // Written out by hand: an object would put keys that look like integers first, whatever order they are set in.
  const fields = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`);
  return `{${fields.join(',')}}`;
};

/**
 * The digest of a value: the SHA-256 of its {@link canonicalJson} in base64url, 43 characters of letters, digits, `-` and `_`.
 */
export const digestOf = (value: JsonValue): string =>
  createHash('sha256').update(canonicalJson(value)).digest('base64url');

const digest = /^[\w-]{43}$/;

/** What a digest looks like, for error messages. */
export const digestRule =
  'should be a digest, 43 characters as /obj/create answers it; neither "latest" nor "v<N>"';

/** Whether a text looks like a digest. */
export const isDigest = (text: string): boolean => digest.test(text);
