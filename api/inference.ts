import * as z from 'zod/mini';
import { isJsonObject, type JsonObject } from '../foundations/wire/index.ts';
import {
  documented,
  field,
  freeObject,
  id,
  integer,
  nullish,
  numeric,
  problem,
  projectId,
} from '../foundations/wire/schema.ts';
import { endpoint, type Operation, passThrough } from './endpoint.ts';
import { jsonObject } from './fields.ts';
import { passedHeaders } from './passed-headers.ts';
import { sources } from './shared/header-fields.ts';
import {
  cacheHeader,
  maxCacheDays,
  projectHeader,
  promptHeader,
  recordingHeader,
  sourceHeader,
} from './shared/headers.ts';

const number = nullish(numeric(z.number()));
const list = z.array(z.unknown());

const seconds = z.optional(
  numeric(
    z
      .custom<number | null>((value) => value === null || (Number.isFinite(value) && Number(value) > 0), {
        error: 'should be a number of seconds above 0, or null',
        params: { type: 'greater_than' },
      })
      .register(documented, { keywords: { type: ['number', 'null'], exclusiveMinimum: 0 } }),
  ),
);

const version = z.string().check(
  z.regex(/^[A-Za-z0-9._-]{1,64}$/, {
    error: 'should be 1 to 64 letters, digits, ".", "_" or "-"',
  }),
);

/**
 * A header's name is a token of RFC 9110. Its value is one line of text, so that nothing in it can
 * begin another header.
 */
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const headerValue = /^[\t\x20-\x7e]{0,4096}$/;
const maxHeaders = 50;

const headerProblem = (name: string, value: unknown): string | undefined => {
  if (!headerName.test(name))
    return "should be named with 1 to 128 letters, digits or any of !#$%&'*+-.^_`|~";
  if (!passedHeaders.includes(name.toLowerCase()))
    return `is not passed on to models; these are: ${passedHeaders.join(', ')}`;
  if (typeof value !== 'string') return 'should be a string';
  return headerValue.test(value) ? undefined : 'should be at most 4,096 printable ASCII characters';
};

const headers = z
  .custom<JsonObject>(isJsonObject, {
    error: 'should be an object',
    params: { type: 'dict_type' },
    abort: true,
  })
  .check(
    z.check<JsonObject>(({ value, issues }) => {
      const entries = Object.entries(value);
      if (entries.length > maxHeaders)
        issues.push(problem(`should have at most ${maxHeaders} headers`, value));
      for (const [name, text] of entries.slice(0, maxHeaders)) {
        const message = headerProblem(name, text);
        if (message !== undefined) issues.push(problem(message, value, name));
      }
    }),
  )
  .register(documented, {
    keywords: {
      type: 'object',
      maxProperties: maxHeaders,
      propertyNames: { enum: [...passedHeaders] },
      additionalProperties: { type: 'string', pattern: headerValue.source },
    },
  });

/**
 * The body of an inference request. Known fields are checked by their type; all others pass
 * unchecked to the upstream. `timeout` (seconds), `extra_headers` and `api_version` steer the
 * request and are not passed on.
 */
export const inferenceBody = () =>
  z
    .looseObject({
      model: field(id, "The model's name. It decides on the upstream."),
      messages: field(z.optional(list), 'The conversation so far.'),
      timeout: field(seconds, 'Seconds until the request ends in a 504; not passed on.'),
      temperature: field(number, 'Passed on.'),
      top_p: field(number, 'Passed on.'),
      n: field(nullish(integer), 'Passed on.'),
      stop: field(z.optional(z.unknown()), 'A text or a list of texts; passed on.'),
      max_completion_tokens: field(nullish(integer), 'Passed on.'),
      max_tokens: field(nullish(integer), 'Passed on.'),
      modalities: field(nullish(list), 'Passed on.'),
      presence_penalty: field(number, 'Passed on.'),
      frequency_penalty: field(number, 'Passed on.'),
      stream: field(nullish(z.boolean()), 'Whether the answer comes as server-sent events.'),
      logit_bias: field(z.optional(freeObject), 'Passed on.'),
      user: field(nullish(z.string()), 'The end user; passed on.'),
      response_format: field(z.optional(freeObject), 'Passed on.'),
      seed: field(nullish(integer), 'Passed on.'),
      system: field(z.optional(z.unknown()), 'Of Messages: a text or a list of blocks; passed on.'),
      metadata: field(nullish(freeObject), 'Passed on. `user_id` is the end user.'),
      tools: field(nullish(list), 'Passed on.'),
      tool_choice: field(z.optional(z.unknown()), 'A text or an object; passed on.'),
      logprobs: field(nullish(z.boolean()), 'Passed on.'),
      top_logprobs: field(nullish(integer), 'Passed on.'),
      parallel_tool_calls: field(nullish(z.boolean()), 'Passed on.'),
      extra_headers: field(
        z.optional(headers),
        'Headers for the upstream, in any case; not passed on in the body.',
      ),
      functions: field(nullish(list), 'Passed on.'),
      function_call: field(nullish(z.string()), 'Passed on.'),
      api_version: field(
        nullish(version),
        "The upstream's `api-version` query parameter; not passed on in the body.",
      ),
    })
    .register(documented, { name: 'InferenceReq' });

/** An inference request's body, checked. */
export type InferenceBody = z.output<ReturnType<typeof inferenceBody>>;

const upstream =
  'Passes the request on to the upstream of its model, and the answer back as it comes, errors included. With `stream: true` the answer is server-sent events. Fields that are not listed are passed on as they are. `timeout`, `extra_headers` and `api_version` steer the request and are not passed on. With an `OpenAI-Project` or `x-project` header the request is recorded as a call.';

/** An operation of one path that is passed on, with the example of a body for the echo model. */
const passedOn = (
  path: string,
  name: string,
  summary: string,
  what: string,
  body: object,
  answer: object,
): Operation => ({
  name,
  operationPath: `/inference/v1/${path}`,
  summary,
  description: upstream,
  examples: { hello: { summary: what, body: { model: 'any', ...body }, answer } },
});

export const inference = /* @__PURE__ */ endpoint({
  path: '/inference/v1/{path+}',
  scheme: 'bearer',
  role: 'inference',
  shape: passThrough,
  stores: { calls: 'record', payloads: 'write', answers: 'keep', bookkeeping: 'note' },
  upstreams: 'ask',
  limits: 'hold',
  tag: 'inference',
  request: inferenceBody,
  // A header names the project.
  projects: () => [],
  answer: () => jsonObject,
  form: 'upstream',
  errors: [404],
  headers: () => ({
    [recordingHeader]: field(
      projectId,
      'The project to record the request in, `<entity>/<project>`. The key needs `write` on it.',
    ),
    [projectHeader]: field(projectId, 'The same by another name.'),
    [cacheHeader]: field(
      z.int().check(z.minimum(1), z.maximum(maxCacheDays * 86_400)),
      'An answer to the same body that is at most this many seconds old comes again, and a new one is kept for that time. The answer says so in `x-cache`: `hit` or `miss`.',
    ),
    [sourceHeader]: field(
      z.enum(sources),
      'Who asks: `attributes.source` of the call. `production` without it.',
    ),
    [promptHeader]: field(
      z.string(),
      'The prompt that the request was made of: `<name>` or `<name>:<version>`, percent-encoded where it is not ASCII. `attributes.prompt` of the call has it.',
    ),
    'x-session-id': field(id, 'The thread of the call. Claude Code has a header of its own for it.'),
    traceparent: field(
      z.string(),
      'The trace of the call, and the span that it is under, by W3C Trace Context.',
    ),
  }),
  operations: [
    passedOn(
      'chat/completions',
      'ChatCompletions',
      'Complete a chat',
      'One message',
      { messages: [{ role: 'user', content: 'Hello' }] },
      { object: 'chat.completion' },
    ),
    passedOn(
      'completions',
      'Completions',
      'Complete a text',
      'One prompt',
      { prompt: 'Hello' },
      { object: 'text_completion' },
    ),
    passedOn('embeddings', 'Embeddings', 'Embed texts', 'One text', { input: 'Hello' }, { object: 'list' }),
    passedOn(
      'responses',
      'Responses',
      'Make a response',
      'One input',
      { input: 'Hello' },
      { object: 'response' },
    ),
    passedOn(
      'messages',
      'Messages',
      'Create a message',
      'One message',
      { max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] },
      { type: 'message' },
    ),
    {
      ...passedOn('messages/count_tokens', 'CountTokens', 'Count the tokens of a message', '', {}, {}),
      description:
        'Passes the request on to the upstream of its model, if that speaks Messages, and is a 422 otherwise. It is not recorded.',
      examples: {},
    },
  ],
});

/** The endpoints of this file. Their examples run in this order. */
export const inferenceRoutes = [inference] as const;
