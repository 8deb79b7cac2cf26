import { type Micros, parseTime } from '../wire/index.ts';

/*
 * A token of the setting `iam`: `svc-iam-v1.` and the base64url of a presigned GET of STS's
 * `GetCallerIdentity`. Whoever has a role's credentials makes one without a request. docs/keys.md explains
 * it to callers, docs/decisions/0278 says why.
 */

/** An endpoint of STS that the service asks. */
export interface StsEndpoint {
  /** `https://sts.eu-west-1.amazonaws.com`. */
  readonly origin: string;
  /** The region that signatures for it name. */
  readonly region: string;
}

/** The header that a token signs. Its value is the service's URL, so no other service can use the token. */
export const serviceHeader = 'x-pennytrace-service';

/** What STS is asked, rebuilt from the token's fields. */
export interface SignedIdentity {
  readonly endpoint: StsEndpoint;
  readonly query: Readonly<Record<string, string>>;
  readonly expiresAt: Micros;
}

/** Why a token is refused before STS is asked. */
export type TokenRefusal =
  | 'malformed token'
  | 'token for another STS'
  | 'token without x-pennytrace-service'
  | 'token of no role'
  | 'token from the future'
  | 'token valid for too long'
  | 'expired token';

const prefix = 'svc-iam-v1.';

/** Whether a text is meant as a token, be it a good one or not. */
export const isToken = (text: string): boolean => text.startsWith(prefix);

/** The token of a presigned URL. */
export const formatToken = (url: string): string => `${prefix}${Buffer.from(url).toString('base64url')}`;

/** The longest presigned URL. API Gateway takes 10,240 bytes of headers; a Basic token is encoded twice. */
const maxUrlLength = 4096;

/** The longest time that a token is good for. STS takes none that is older, whatever it says. */
const maxSeconds = 15 * 60;

/** How far the clock of a caller may be ahead. */
const maxSkewMicros = 5 * 60_000_000;

/** Every parameter that there may be, and the form of its value. All but the last have to be there. */
const parameters: Readonly<Record<string, RegExp>> = {
  Action: /^GetCallerIdentity$/,
  Version: /^2011-06-15$/,
  'X-Amz-Algorithm': /^AWS4-HMAC-SHA256$/,
  'X-Amz-Credential': /^\w{16,128}\/\d{8}\/[a-z0-9-]{1,32}\/sts\/aws4_request$/,
  'X-Amz-Date': /^\d{8}T\d{6}Z$/,
  'X-Amz-Expires': /^[1-9]\d{0,5}$/,
  'X-Amz-SignedHeaders': /^[a-z0-9;-]{1,256}$/,
  'X-Amz-Signature': /^[0-9a-f]{64}$/,
  'X-Amz-Security-Token': /^[A-Za-z0-9+/=]{1,4096}$/,
};

const readUrl = (token: string): URL | undefined => {
  const encoded = token.slice(prefix.length);
  const bytes = Buffer.from(encoded, 'base64url');
  // Node skips what is not base64url, so only text that encodes back to itself counts.
  if (bytes.length > maxUrlLength || bytes.toString('base64url') !== encoded) return undefined;
  const text = bytes.toString('latin1');
  if (!/^[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.pathname === '/' && !url.hash && !url.username && !url.password ? url : undefined;
};

/** The parameters of a URL; undefined if one is unknown, there twice, or of another form. */
const readQuery = ({ searchParams }: URL): Readonly<Record<string, string>> | undefined => {
  const pairs = [...searchParams];
  const query = Object.fromEntries(pairs);
  const areGood = pairs.every(
    ([name, value]) => Object.hasOwn(parameters, name) && parameters[name]?.test(value),
  );
  return areGood && Object.keys(query).length === pairs.length ? query : undefined;
};

/** `20261124T184500Z` as a time. */
const readDate = (text: string): Micros | undefined =>
  parseTime(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));

/**
 * Reads a token, and checks all that can be checked without STS.
 *
 * @param endpoints of STS, one of which the token has to be for
 * @param now microseconds since 1970
 * @returns what to ask STS, or why the token is refused; never throws
 */
export const parseToken = (
  token: string,
  endpoints: readonly StsEndpoint[],
  now: Micros,
): SignedIdentity | { readonly refusal: TokenRefusal } => {
  const url = readUrl(token);
  const query = url && readQuery(url);
  if (!url || !query) return { refusal: 'malformed token' };
  const {
    'X-Amz-Credential': credential = '',
    'X-Amz-Date': date = '',
    'X-Amz-Expires': seconds = '',
    'X-Amz-SignedHeaders': headers = '',
    'X-Amz-Security-Token': session,
    ...others
  } = query;
  const signedAt = readDate(date);
  const [, day, region] = credential.split('/');
  const isWhole = Object.keys(others).length === Object.keys(parameters).length - 5;
  if (!isWhole || signedAt === undefined || seconds === '' || headers === '' || !date.startsWith(day ?? '-'))
    return { refusal: 'malformed token' };
  const endpoint = endpoints.find(({ origin }) => origin === url.origin);
  if (!endpoint || endpoint.region !== region) return { refusal: 'token for another STS' };
  // The header's value is not in the token: the service sends its own, and STS compares the signature.
  if (headers !== `host;${serviceHeader}`) return { refusal: 'token without x-pennytrace-service' };
  // Only lasting credentials, of a user, have no session.
  if (session === undefined) return { refusal: 'token of no role' };
  if (Number(seconds) > maxSeconds) return { refusal: 'token valid for too long' };
  if (signedAt > now + maxSkewMicros) return { refusal: 'token from the future' };
  const expiresAt = signedAt + Number(seconds) * 1_000_000;
  if (expiresAt <= now) return { refusal: 'expired token' };
  return { endpoint, query, expiresAt };
};
