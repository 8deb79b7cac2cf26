import * as z from 'zod/mini';
import { isJsonObject, type JsonObject } from '../../core/foundations/wire/index.ts';
import { documented, freeObject, id, integer, nullish, numeric } from '../../core/foundations/wire/schema.ts';

const number = nullish(numeric(z.number()));
const list = z.array(z.unknown());

const seconds = z.optional(
  numeric(
    z
      .custom<number | null>((value) => value === null || (Number.isFinite(value) && Number(value) > 0), {
        error: 'should be a number of seconds above 0, or null',
        params: { type: 'greater_than' },
      })
      .register(documented, { says: { type: ['number', 'null'], exclusiveMinimum: 0 } }),
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
      const problem = {
        code: 'custom',
        input: value,
        params: { type: 'value_error' },
        continue: true,
      } as const;
      const entries = Object.entries(value);
      if (entries.length > maxHeaders)
        issues.push({ ...problem, message: `should have at most ${maxHeaders} headers` });
      for (const [name, text] of entries.slice(0, maxHeaders)) {
        const message = headerProblem(name, text);
        if (message !== undefined) issues.push({ ...problem, message, path: [name] });
      }
    }),
  )
  .register(documented, {
    says: {
      type: 'object',
      maxProperties: maxHeaders,
      propertyNames: { pattern: headerName.source },
      additionalProperties: { type: 'string', pattern: headerValue.source },
    },
  });

/**
 * The body of an inference request. Known fields are checked by their type; all others pass
 * unchecked to the upstream. `timeout` (seconds), `extra_headers` and `api_version` steer the
 * request and are not passed on.
 */
export const inferenceBody = z
  .looseObject({
    model: id,
    messages: z.optional(list),
    timeout: seconds,
    temperature: number,
    top_p: number,
    n: nullish(integer),
    stop: z.optional(z.unknown()),
    max_completion_tokens: nullish(integer),
    max_tokens: nullish(integer),
    modalities: nullish(list),
    presence_penalty: number,
    frequency_penalty: number,
    stream: nullish(z.boolean()),
    logit_bias: z.optional(freeObject),
    user: nullish(z.string()),
    response_format: z.optional(freeObject),
    seed: nullish(integer),
    tools: nullish(list),
    tool_choice: z.optional(z.unknown()),
    logprobs: nullish(z.boolean()),
    top_logprobs: nullish(integer),
    parallel_tool_calls: nullish(z.boolean()),
    extra_headers: z.optional(headers),
    functions: nullish(list),
    function_call: nullish(z.string()),
    api_version: nullish(version),
  })
  .register(documented, { name: 'InferenceReq' });

/** An inference request's body, checked. */
export type InferenceBody = z.output<typeof inferenceBody>;
