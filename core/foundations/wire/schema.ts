import * as z from 'zod/mini';
import { controls, documented, documentedList, printableText, projectIdPattern } from './documented.ts';
import { idRule, isId, type ProjectId, parseProjectId, projectIdRule } from './ids.ts';
import { isJsonObject, type JsonObject, type JsonValue, maxDepth, plainNumber, problemOf } from './json.ts';
import { parseTime, timeRule } from './time.ts';

export * from './documented.ts';

/*
 * The types that requests are made of. A schema's message says what should be there; `params.type`
 * names the problem by pydantic's names.
 */

/** What should be there, and the type of the problem. */
export const rule = (error: string, type = 'value_error') => ({ error, params: { type } });

/** A project's id. */
export const projectId = z
  .pipe(
    z.string().check(z.refine((text) => parseProjectId(text) !== undefined, rule(projectIdRule))),
    z.transform((text) => text as ProjectId),
  )
  .register(documented, { name: 'ProjectId', says: { pattern: `^${projectIdPattern}$` } });

/** An id that a client chose: 1–256 printable characters. */
export const id = z
  .string()
  .check(z.refine(isId, rule(idRule)))
  .register(documented, { name: 'Id', says: printableText(256) });

const maxName = 1024;
const nameRule = `should be 1 to ${maxName} characters, without control characters or lone surrogates`;
const name = /^[^\p{Cc}\p{Cs}]+$/u;

/** A name that people read: 1–1,024 characters, no controls, no lone surrogates. */
export const displayText = z
  .string()
  .check(z.refine((text) => text.length <= maxName && name.test(text), rule(nameRule)))
  .register(documented, {
    name: 'Name',
    says: { minLength: 1, maxLength: maxName, pattern: `^[^${controls}]*$` },
  });

/** An ISO 8601 time, as text. */
export const time = z
  .string()
  .check(z.refine((text) => parseTime(text) !== undefined, rule(timeRule, 'datetime_parsing')))
  .register(documented, { name: 'Time', says: { format: 'date-time' } });

const depthRule = `should nest lists and objects at most ${maxDepth} deep`;
const numberRule = 'should hold no number beyond ±1.8e308, which no double can keep';
const keepable = z.check<unknown>(({ value, issues }) => {
  const problem = problemOf(value);
  if (problem === undefined) return;
  const [message, type] =
    problem === 'too deep' ? [depthRule, 'recursion_loop'] : [numberRule, 'finite_number'];
  issues.push({ code: 'custom', message, params: { type }, input: value, continue: true });
});

/** A free-form JSON object of the client's. */
export const freeObject = z
  .custom<JsonObject>(isJsonObject, { ...rule('should be an object', 'dict_type'), abort: true })
  .check(keepable)
  .register(documented, { says: { type: 'object', additionalProperties: {} } });

/** Any JSON value. */
export const freeValue = z.custom<JsonValue>(() => true).check(keepable);

/** A field that may be missing or null. */
export const nullish = <S extends z.ZodMiniType>(schema: S) => z.optional(z.nullable(schema));

/**
 * Fields of an object schema whose names hold the service's. They are spread among the others and
 * have no static type: read them with {@link fieldOf}.
 */
export const namedFields = (fields: Readonly<Record<string, z.ZodMiniType>>): Record<never, never> => fields;

/** A field that {@link namedFields} has checked. */
export const fieldOf = <T>(record: object, name: string, schema: z.ZodMiniType<T>): T =>
  schema.parse((record as Readonly<Record<string, unknown>>)[name]);

/** What an integer's schema says of anything else. */
export const integerRule = 'should be an integer';

/**
 * A number of a schema's, as a double. A body's numbers can be exact, which only free-form values
 * keep.
 */
export const numeric = <S extends z.ZodMiniType>(schema: S) =>
  z.pipe(z.transform(plainNumber<unknown>), schema);

/** An integer that all JSON parsers read alike: within ±(2^53 − 1). */
export const integer = numeric(z.int({ error: integerRule }));

/** An integer within bounds. */
export const integerWith = (...checks: Parameters<z.ZodMiniNumber['check']>) =>
  numeric(z.int({ error: integerRule }).check(...checks));

/** An integer from 0 up. */
export const count = integerWith(z.minimum(0));

/** A list of at most so many items. */
export const listOf = <S extends z.ZodMiniType>(item: S, most: number) =>
  documentedList(
    z
      .array(item)
      .check(z.refine((list) => list.length <= most, rule(`should be at most ${most} items`, 'too_long'))),
    most,
  );
