/** The HTTP authentication schemes that the service knows. */
export type Scheme = 'basic' | 'bearer';

/** What a route takes: one scheme, or `any` of them. */
export type AcceptedScheme = Scheme | 'any';

/** What an `Authorization` header carries. The key is still any text. */
export type Credentials =
  | { readonly scheme: 'basic'; readonly username: string; readonly key: string }
  | { readonly scheme: 'bearer'; readonly key: string };

/**
 * Twice the length of the longest user name (128 characters of four bytes) and a key, in base64.
 */
const maxHeaderLength = 2048;

/** One character class, repeated once: no input makes it backtrack. */
const bearerToken = /^[A-Za-z0-9._~+/=-]+$/;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const parseBasic = (encoded: string): Credentials | undefined => {
  const bytes = Buffer.from(encoded, 'base64');
  // Node skips what is not base64, so only text that encodes back to itself counts.
  if (bytes.toString('base64') !== encoded) return undefined;
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return undefined;
  }
  // RFC 7617: the user name has no colon, the password may.
  const colon = text.indexOf(':');
  if (colon < 0) return undefined;
  return { scheme: 'basic', username: text.slice(0, colon), key: text.slice(colon + 1) };
};

/**
 * Parses an `Authorization` header of at most 2,048 characters. It is one of two:
 *
 * - `Basic` and the base64 of `<username>:<password>` in UTF-8 (RFC 7617), the key as password;
 * - `Bearer` and the key (RFC 6750).
 *
 * The scheme's case does not matter, and one space follows it. Base64 is canonical, with its
 * padding.
 *
 * @returns undefined if the header is absent, malformed, too long or of another scheme; never
 * throws
 */
export const parseCredentials = (header: string | undefined): Credentials | undefined => {
  if (header === undefined || header.length > maxHeaderLength) return undefined;
  const space = header.indexOf(' ');
  if (space < 0) return undefined;
  const value = header.slice(space + 1);
  switch (header.slice(0, space).toLowerCase()) {
    case 'basic':
      return parseBasic(value);
    case 'bearer':
      return bearerToken.test(value) ? { scheme: 'bearer', key: value } : undefined;
    default:
      return undefined;
  }
};
