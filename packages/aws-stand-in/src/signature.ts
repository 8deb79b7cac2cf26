import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/*
 * Signature Version 4, as far as the local stand-ins of AWS's services check it. Libraries sign, and
 * asynchronously; the stores do their requests in the order in which they came.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */

/** What requests are signed with. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/**
 * Credentials of one run, with a secret that nobody else knows. The id is always the
 * same: DynamoDB Local keeps the tables of each id apart, and takes only letters and digits.
 */
export const newCredentials = (): Credentials => ({
  accessKeyId: 'local',
  secretAccessKey: randomBytes(32).toString('hex'),
});

/** A request as it came. */
export interface ReceivedRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

const form =
  /^AWS4-HMAC-SHA256 Credential=[^/,]+\/(\d{8})\/([^/,]+)\/([^/,]+)\/aws4_request, *SignedHeaders=([^,]+), *Signature=([0-9a-f]{64})$/;

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

const toText = (value: string | string[] | undefined): string =>
  [value ?? ''].flat().join(',').trim().replace(/\s+/g, ' ');

/** The parameters of a query, encoded as they were sent, by their names and then by their values. */
const canonicalQuery = (query: string): string =>
  query
    .split('&')
    .filter(Boolean)
    // No encoded text has a character below this one, so a name comes before those that it begins.
    .map((pair) => pair.replace(/=|$/, '\0'))
    .sort()
    .map((pair) => pair.replace('\0', '='))
    .join('&');

/** All services but S3 encode a path once more than it is in the request. */
const canonicalPath = (path: string, service: string): string =>
  service === 's3' ? path : encodeURIComponent(path).replaceAll('%2F', '/');

/**
 * Whether a request was signed with a secret, whatever its access key id and its date.
 *
 * @param body of the request. @default - its hash is taken from `x-amz-content-sha256`, which S3's
 * clients send
 */
export const isSignedWith = (
  secret: string,
  { method = 'GET', url = '/', headers }: ReceivedRequest,
  body?: string | Buffer,
): boolean => {
  const [, date, region = '', service = '', names = '', signature] =
    form.exec(headers.authorization ?? '') ?? [];
  if (date === undefined || signature === undefined) return false;
  const [path = '/', query = ''] = url.split(/\?(.*)/s);
  const signed = names.split(';').map((name) => `${name}:${toText(headers[name])}\n`);
  const request = [
    method,
    canonicalPath(path, service),
    canonicalQuery(query),
    signed.join(''),
    names,
    body === undefined ? toText(headers['x-amz-content-sha256']) : sha256(body),
  ].join('\n');
  const scope = `${date}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', toText(headers['x-amz-date']), scope, sha256(request)].join('\n');
  let key: string | Buffer = `AWS4${secret}`;
  for (const part of [date, region, service, 'aws4_request']) key = hmac(key, part);
  return timingSafeEqual(hmac(key, text), Buffer.from(signature, 'hex'));
};

/** What a stand-in requires of the signatures of its requests. */
export interface Signing {
  readonly secret: string;
  /** Where clients find the secret, for the message of a refusal. @default - it is not said */
  readonly whereToFind?: string;
}

/** Why a request is refused that was not signed with the secret. */
export interface SignatureRefusal {
  readonly isMissing: boolean;
  readonly message: string;
}

/** Checks a request as {@link isSignedWith}. @returns undefined if it was signed with the secret */
export const signatureRefusal = (
  { secret, whereToFind }: Signing,
  request: ReceivedRequest,
  body?: string | Buffer,
): SignatureRefusal | undefined => {
  if (isSignedWith(secret, request, body)) return undefined;
  const hint = whereToFind === undefined ? '' : `: ${whereToFind}`;
  if (!form.test(request.headers.authorization ?? ''))
    return { isMissing: true, message: `The request has no signature${hint}` };
  return { isMissing: false, message: `The request was signed with another secret${hint}` };
};
