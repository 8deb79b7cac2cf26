import { createHash } from 'node:crypto';
import { canonicalJson, type Dialect, type JsonValue } from '../../foundations/wire/index.ts';
import { valueDigest } from '../../foundations/wire/weave-digest.ts';

/**
 * The digest of a value: the SHA-256 of its {@link canonicalJson} in base64url, 43 characters of
 * letters, digits, `-` and `_`. In Weave's dialect it is what Weave's SDKs compute.
 */
export const digestOf = (value: JsonValue, dialect: Dialect = 'svc'): string =>
  dialect === 'weave'
    ? valueDigest(value)
    : createHash('sha256').update(canonicalJson(value)).digest('base64url');

const digest = /^[\w-]{43}$/;

/** What a digest looks like, for error messages. */
export const digestRule =
  'should be a digest, 43 characters as /obj/create answers it; neither "latest" nor "v<N>"';

/** Whether a text looks like a digest. */
export const isDigest = (text: string): boolean => digest.test(text);
