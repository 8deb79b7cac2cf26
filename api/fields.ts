import * as z from 'zod/mini';
import { parseTime } from '../foundations/wire/index.ts';
import {
  count,
  displayText,
  documented,
  field,
  nullish,
  projectId,
  time,
  withDefault,
} from '../foundations/wire/schema.ts';
import { sources } from './shared/header-fields.ts';

/*
 * The fields that requests and answers of several groups share.
 */

// Of requests.

/** The project of a request. */
export const project = field(projectId, 'The project, `<entity>/<project>`.');

/** Whether something is wanted; false without it. */
export const flag = (description: string) => field(withDefault(z.boolean(), false), description);

/** The user that older clients name. The caller's key decides. */
export const ignoredUser = field(nullish(z.string()), 'Accepted, and overwritten with the user of the key.');

/** The slice of a list that is answered. */
export const slice = {
  limit: field(nullish(count), 'The most to answer; all without it, or with null.'),
  offset: field(withDefault(count, 0), 'How many to skip first; none without it, or with null.'),
};

/** What the fields of an order mean. */
export const sortText =
  'The order: by the first key, then by the next if equal, and so on. Null and missing values come last.';
export const queryText = 'An expression, ANDed with the filter; null for none.';
export const filterText =
  'Its fields are ANDed, and the values of one list ORed. An empty list matches nothing.';

/** How queries call their expression and their order inside. */
export const queryNames = { query: 'where', sort_by: 'sort' } as const;

/** A direction of an order. */
export const direction = field(z.enum(['asc', 'desc']), 'Ascending or descending.');

/** A time as microseconds since 1970. */
export const micros = z.pipe(
  time,
  z.transform((text) => parseTime(text) ?? 0),
);

/** A list of texts that a filter allows; null for any. */
export const optionalTexts = (description: string) => field(nullish(z.array(z.string())), description);

/** Whose calls a filter allows; null for all. */
export const optionalSources = () =>
  field(
    nullish(z.array(z.enum(sources))),
    'Only calls that these made. Calls that do not name their source in `attributes.source` are `production`.',
  );

/** A name that people read. */
export const name = (description: string) => field(displayText, description);

// Of answers.

/**
 * A point in time as answers have it. It says no pattern, because openapi-generator's Python client
 * cannot be imported with one beside the format.
 */
export const timestamp = z.string().register(documented, {
  name: 'Timestamp',
  keywords: { format: 'date-time', description: 'In UTC, with six fraction digits and `Z`.' },
});

/** A free-form JSON object. */
export const jsonObject = z.looseObject({});

/** A number of bytes. */
export const bytes = z.int().check(z.minimum(0));

/** `{}`: the request was done. */
export const done = z.object({}).register(documented, { name: 'Done', keywords: { maxProperties: 0 } });

/** How many records were deleted. */
export const deleted = z
  .object({ num_deleted: field(bytes, 'How many there were.') })
  .register(documented, { name: 'DeletedRes' });

/** The project of an answered record. */
export const ofProject = field(z.string(), 'Its project, `<entity>/<project>`.');

const errorDetail = () =>
  z
    .object({
      loc: field(
        z.array(z.string()),
        'Its place: `["body", "batch", "3", "req", "start", "op_name"]`, `["header", "accept"]`.',
      ),
      msg: field(z.string(), 'What should be there.'),
      type: field(z.string(), "Its kind, by pydantic's names: `missing`, `string_type`, `value_error`, …"),
    })
    .register(documented, { name: 'ErrorDetail' });

const openAiError = () =>
  z
    .object({
      message: field(z.string(), 'All problems in one text.'),
      type: field(z.string(), 'Its kind by its status: `invalid_request_error`, `rate_limit_error`, …'),
      code: field(
        z.optional(z.string()),
        'The `type` of the first problem; not below `/inference/v1/messages`.',
      ),
      limit_usd: field(z.optional(z.number()), 'The spending limit that was reached, in dollars.'),
      spent_usd: field(z.optional(z.number()), 'What was spent or is held of it, in dollars.'),
      resets_at: field(z.optional(z.string()), 'When it resets.'),
    })
    .register(documented, { name: 'OpenAiError' });

/** The body of every error. */
export const error = () =>
  z
    .object({
      type: field(
        z.optional(z.literal('error')),
        "As Anthropic's clients read it: below `/inference/v1/messages`.",
      ),
      detail: field(z.array(errorDetail()), 'The problems of the request, at most 100.'),
      error: field(
        z.optional(openAiError()),
        "The same as OpenAI's or Anthropic's clients read it: of the inference endpoints, and of all that the gateway answers itself.",
      ),
    })
    .register(documented, { name: 'Error' });

export type ErrorAnswer = z.infer<ReturnType<typeof error>>;
