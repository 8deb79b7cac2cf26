import type { JsonObject } from '../../../foundations/wire/index.ts';

/**
 * The forwarded paths below `/inference/v1`, each with the operation name of its recorded calls.
 * The names are those that the tracing of OpenAI's own clients uses.
 */
export const endpoints = {
  '/chat/completions': 'openai.chat.completions.create',
  '/completions': 'openai.completions.create',
  '/embeddings': 'openai.embeddings.create',
  '/responses': 'openai.responses.create',
} as const;

/** A path that is forwarded. */
export type InferencePath = keyof typeof endpoints;

/** Whether a path is exactly one of those that are forwarded. */
export const isInferencePath = (path: string): path is InferencePath => Object.hasOwn(endpoints, path);

/**
 * A validated inference request: the service's own fields, and everything else for the upstream.
 */
export interface InferenceBody extends Readonly<Record<string, unknown>> {
  readonly model: string;
  /**
   * Seconds that the upstream may take, above 0. Null or absent: as long as the function may run.
   */
  readonly timeout?: number | null | undefined;
  /** Headers for the upstream beside the service's own. */
  readonly extra_headers?: JsonObject | undefined;
  /** The `api-version` query parameter. */
  readonly api_version?: string | null | undefined;
}

/**
 * Makes the upstream's body from a client's. It drops the service's own fields and sets the
 * upstream's name of the model. Parsed numbers keep their text, so none loses a digit.
 *
 * @param body as it was received, its numbers as `parseJson` reads them
 * @param model the model's name at the upstream
 */
export const upstreamBody = (body: InferenceBody, model: string): string => {
  const { timeout: _t, extra_headers: _h, api_version: _v, ...rest } = body;
  return JSON.stringify({ ...rest, model });
};

/** Headers by lower-case name. */
export type Headers = Readonly<Record<string, string>>;

/** Headers that concern one connection only (RFC 9110, 7.6.1) or describe how a body is framed. */
const hopByHop = new Set(
  (
    'connection content-length expect host http2-settings keep-alive proxy-authenticate proxy-authentication-info ' +
    'proxy-authorization proxy-connection te trailer transfer-encoding upgrade'
  ).split(' '),
);

/** The client's own headers that reach an upstream. A client sends others in `extra_headers`. */
const forwarded = ['idempotency-key', 'openai-beta', 'x-client-request-id'];

/** Headers that the service sets itself. The client's are dropped. */
const ownRequest =
  /^(authorization|accept-encoding|content-type|content-encoding|forwarded|x-forwarded-.*|x-amz-.*)$/;

/**
 * Makes the headers of a request to an upstream, without credentials: a few of the client's, and
 * its `extra_headers`.
 *
 * @param client the client's headers by lower-case name
 * @param extra the body's `extra_headers`, validated. Dropped are hop-by-hop headers, credentials,
 * content encodings and the headers in which proxies describe a client
 */
export const requestHeaders = (
  client: Readonly<Record<string, string | undefined>>,
  extra: JsonObject = {},
): Headers => {
  const headers: Record<string, string> = {};
  for (const name of forwarded) {
    const value = client[name];
    if (value !== undefined && isValue(value)) headers[name] = value;
  }
  for (const [key, value] of Object.entries(extra)) {
    const name = key.toLowerCase();
    if (typeof value !== 'string' || hopByHop.has(name) || ownRequest.test(name)) continue;
    headers[name] = value;
  }
  return {
    accept: 'application/json, text/event-stream',
    'user-agent': 'pennytrace',
    ...headers,
    'content-type': 'application/json',
    // The client and the recording both have to read the bytes that are forwarded.
    'accept-encoding': 'identity',
  };
};

/**
 * Headers of an upstream about its own host, connection or caller, and those that API Gateway sets.
 * Cookies and challenges are credentials between the upstream and the service.
 */
const ownAnswer =
  /^(access-control-.*|alt-svc|date|nel|report-to|reporting-endpoints|server|set-cookie2?|strict-transport-security|via|www-authenticate|x-amz-.*|x-amzn-.*|x-request-id)$/;

const isValue = (text: string): boolean => /^[\t\x20-\x7e]*$/.test(text);

/**
 * Makes the headers of the answer to the client from the upstream's, with rate limits and
 * `retry-after`. Hop-by-hop headers, credentials and those about the upstream's host are dropped.
 * `x-request-id` becomes `x-upstream-request-id`, because the service sends its own.
 *
 * @param upstream the upstream's headers by lower-case name
 */
export const answerHeaders = (
  upstream: Readonly<Record<string, string | string[] | undefined>>,
  requestId: string,
): Headers => {
  const named = listOf(upstream.connection);
  const kept = Object.entries(upstream).flatMap(([name, value]): [string, string][] => {
    if (value === undefined || hopByHop.has(name) || named.has(name) || ownAnswer.test(name)) return [];
    const text = Array.isArray(value) ? value.join(', ') : value;
    return isValue(text) ? [[name, text]] : [];
  });
  const upstreamId = upstream['x-request-id'];
  return {
    'content-type': 'application/octet-stream',
    ...Object.fromEntries(kept),
    ...(typeof upstreamId === 'string' && isValue(upstreamId) && { 'x-upstream-request-id': upstreamId }),
    'x-request-id': requestId,
  };
};

/** The names listed in a `connection` header. */
const listOf = (value: string | string[] | undefined): ReadonlySet<string> =>
  new Set(
    [value ?? []]
      .flat()
      .flatMap((text) => text.split(','))
      .map((name) => name.trim().toLowerCase()),
  );
