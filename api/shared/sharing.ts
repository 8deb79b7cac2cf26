/*
 * What service and page know of public links. Nothing is imported here, since browsers load this as it is.
 */

/** The object of a project that says whether it allows public links. */
export const sharingObject = 'sharing';

/** For how long a link may last at most, in days. */
export const maxLinkDays = 365;

/** How many calls of a trace a link shows at most, and how many bytes of JSON: the first ones. */
export const maxSharedCalls = 1000;
export const maxSharedBytes = 10_000_000;

/** The length of a link's secret, in bytes. */
export const secretBytes = 32;

/** The longest token that can name a link, in characters. */
export const maxToken = 1500;

/** What the token of a link says: the project, the object that is the link, and its secret in base64url. */
export type TokenParts = readonly [project: string, link: string, secret: string];

/** Bytes in base64url. */
export const base64url = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** The token of a link. It may stand in a URL as it is. */
export const formatToken = (parts: TokenParts): string =>
  base64url(new TextEncoder().encode(JSON.stringify(parts)));
