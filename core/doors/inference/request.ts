import { passedHeaders } from '../../../api/passed-headers.ts';
import type { JsonObject } from '../../../foundations/wire/index.ts';

/**
 * The forwarded paths below `/inference/v1`, each with the operation name of its recorded calls.
 * The names are those that the tracing of OpenAI's and Anthropic's own clients uses.
 */
export const endpoints = {
  '/chat/completions': 'openai.chat.completions.create',
  '/completions': 'openai.completions.create',
  '/embeddings': 'openai.embeddings.create',
  '/responses': 'openai.responses.create',
  '/messages': 'anthropic.messages.create',
  '/messages/count_tokens': 'anthropic.messages.count_tokens',
} as const;

/** A path that is forwarded. */
export type InferencePath = keyof typeof endpoints;

/** Whether a path is exactly one of those that are forwarded. */
export const isInferencePath = (path: string): path is InferencePath => Object.hasOwn(endpoints, path);

/** Whether a path is of Anthropic's Messages API, whose clients read other errors. */
export const isMessagesPath = (path: string): boolean => /^\/messages(?:\/|$)/.test(path);

/** Whether a path asks a model. Counting tokens costs nothing, and is no call. */
export const asksModel = (path: InferencePath): boolean => path !== '/messages/count_tokens';

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

/**
 * The client's own headers that reach an upstream. A client sends others in `extra_headers`. Those of
 * Anthropic's API come from its clients alone.
 */
const forwarded = [
  'anthropic-beta',
  'anthropic-version',
  'idempotency-key',
  'openai-beta',
  'x-client-request-id',
];

/**
 * Makes the headers of a request to an upstream, without credentials: a few of the client's, and
 * those of its `extra_headers` that may pass.
 *
 * @param client the client's headers by lower-case name
 * @param extra the body's `extra_headers`, validated
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
    if (typeof value === 'string' && passedHeaders.includes(name)) headers[name] = value;
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
 * The headers of an upstream that a client gets: what the body is, when to try again, rate limits,
 * and the provider's ids of the request. All others could speak for the service's own origin, as
 * `clear-site-data` does, or tell of the account behind its key.
 */
const passedBack =
  /^(content-(type|encoding|language)|retry-after(-ms)?|x-should-retry|(x-|anthropic-)?ratelimit(-[a-z\d-]+)?|openai-(processing-ms|version|model)|(apim-|x-upstream-)?request-id|x-generation-id)$/;

const isValue = (text: string): boolean => /^[\t\x20-\x7e]*$/.test(text);

/**
 * Makes the headers of the answer to the client from the upstream's. `x-request-id` becomes
 * `x-upstream-request-id`, because the service has its own.
 *
 * @param upstream the upstream's headers by lower-case name
 */
export const answerHeaders = (upstream: Readonly<Record<string, string | string[] | undefined>>): Headers => {
  const { 'x-request-id': upstreamId, ...theirs } = upstream;
  const kept = Object.entries({ ...theirs, 'x-upstream-request-id': upstreamId }).filter(
    (entry): entry is [string, string] =>
      passedBack.test(entry[0]) && typeof entry[1] === 'string' && isValue(entry[1]),
  );
  return { 'content-type': 'application/octet-stream', ...Object.fromEntries(kept) };
};
