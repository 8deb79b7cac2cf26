import type { JsonObject } from '../wire/index.ts';

/** Headers by their names in lower case. */
export type Headers = Readonly<Record<string, string>>;

/**
 * Headers that are between two neighbours on the way (RFC 9110, 7.6.1), or say how a body is
 * framed.
 */
const hopByHop = new Set(
  (
    'connection content-length expect host http2-settings keep-alive proxy-authenticate proxy-authentication-info ' +
    'proxy-authorization proxy-connection te trailer transfer-encoding upgrade'
  ).split(' '),
);

/** The client's own headers that an upstream gets; for others there is `extra_headers`. */
const passedOn = ['idempotency-key', 'openai-beta', 'x-client-request-id'];

/** What the service says itself, whatever a client would have said. */
const ownRequest =
  /^(authorization|accept-encoding|content-type|content-encoding|forwarded|x-forwarded-.*|x-amz-.*)$/;

/**
 * The headers of a request to an upstream, without credentials: the few of the client's that mean
 * something to it, and its `extra_headers`.
 *
 * @param client the client's headers, by their names in lower case
 * @param extra the body's `extra_headers`, checked. Hop-by-hop headers, credentials, those that say
 * how the body is encoded and those in which a proxy would speak of the client are left out
 */
export const requestHeaders = (
  client: Readonly<Record<string, string | undefined>>,
  extra: JsonObject = {},
): Headers => {
  const headers: Record<string, string> = {};
  for (const name of passedOn) {
    const value = client[name];
    if (value !== undefined && isValue(value)) headers[name] = value;
  }
  for (const [given, value] of Object.entries(extra)) {
    const name = given.toLowerCase();
    if (typeof value !== 'string' || hopByHop.has(name) || ownRequest.test(name)) continue;
    headers[name] = value;
  }
  return {
    accept: 'application/json, text/event-stream',
    'user-agent': 'pennytrace',
    ...headers,
    'content-type': 'application/json',
    // What is passed on byte by byte should be what the client can read, and what a record is made
    // of.
    'accept-encoding': 'identity',
  };
};

/**
 * What an upstream says of its own host, connection or caller, and what API Gateway would say in
 * its place. Its cookies and challenges are credentials between it and the service.
 */
const ownAnswer =
  /^(access-control-.*|alt-svc|date|nel|report-to|reporting-endpoints|server|set-cookie2?|strict-transport-security|via|www-authenticate|x-amz-.*|x-amzn-.*|x-request-id)$/;

const isValue = (text: string): boolean => /^[\t\x20-\x7e]*$/.test(text);

/**
 * The headers of an answer to the client: those of the upstream, rate limits and `retry-after`
 * included, but for hop-by-hop ones, credentials and what speaks of its host. The upstream's
 * `x-request-id` becomes `x-upstream-request-id`, since the service has one of its own.
 *
 * @param upstream the upstream's headers, by their names in lower case
 */
export const answerHeaders = (
  upstream: Readonly<Record<string, string | string[] | undefined>>,
  requestId: string,
): Headers => {
  const named = listOf(upstream.connection);
  const passed = Object.entries(upstream).flatMap(([name, value]): [string, string][] => {
    if (value === undefined || hopByHop.has(name) || named.has(name) || ownAnswer.test(name)) return [];
    const text = Array.isArray(value) ? value.join(', ') : value;
    return isValue(text) ? [[name, text]] : [];
  });
  const theirs = upstream['x-request-id'];
  return {
    'content-type': 'application/octet-stream',
    ...Object.fromEntries(passed),
    ...(typeof theirs === 'string' && isValue(theirs) && { 'x-upstream-request-id': theirs }),
    'x-request-id': requestId,
  };
};

/** The names in a `connection` header. */
const listOf = (value: string | string[] | undefined): ReadonlySet<string> =>
  new Set(
    [value ?? []]
      .flat()
      .flatMap((text) => text.split(','))
      .map((name) => name.trim().toLowerCase()),
  );
