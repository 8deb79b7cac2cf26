import type * as z from 'zod/mini';
import { type ErrorDetail, invalid, type ServiceError } from './errors.ts';
import { parseJson } from './json.ts';
import { integerRule } from './schema.ts';

/*
 * Reads bodies by schemas, and says of each wrong place what should be there.
 */

type Issue = z.core.$ZodIssue;

/** The value at a path of the body; undefined if there is none. */
const valueAt = (body: unknown, path: readonly PropertyKey[]): unknown => {
  let value = body;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
};

const typeNames: Readonly<Record<string, [type: string, what: string]>> = {
  string: ['string_type', 'a string'],
  number: ['float_type', 'a number'],
  boolean: ['bool_type', 'true or false'],
  array: ['list_type', 'a list'],
  object: ['dict_type', 'an object'],
};

const paramsOf = (issue: Issue): { type?: string } => (issue.code === 'custom' ? (issue.params ?? {}) : {});

const describe = (issue: Issue): { msg: string; type: string } => {
  switch (issue.code) {
    case 'invalid_type': {
      // An integer's schema asks for a number first. Only its message tells the two apart.
      if (issue.message === integerRule) return { msg: integerRule, type: 'int_type' };
      const [type, what] = typeNames[issue.expected] ?? ['value_error', `a valid ${issue.expected}`];
      return { msg: `should be ${what}`, type };
    }
    case 'invalid_value':
      return {
        msg: `should be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`,
        type: 'literal_error',
      };
    case 'invalid_union':
      return { msg: issue.message, type: 'union_tag_invalid' };
    case 'too_small':
      return { msg: `should be ${issue.minimum} or more`, type: 'greater_than_equal' };
    case 'too_big':
      if (issue.origin === 'array')
        return { msg: `should have at most ${issue.maximum} items`, type: 'too_long' };
      return { msg: `should be ${issue.maximum} or less`, type: 'less_than_equal' };
    default:
      return { msg: issue.message, type: paramsOf(issue).type ?? 'value_error' };
  }
};

const maxKey = 200;

/** A step of a place, as text. A client's own key can be as long as the request. */
const stepOf = (key: PropertyKey): string => {
  const text = String(key);
  return text.length > maxKey ? `${text.slice(0, maxKey)}…` : text;
};

const detailsOf = (issue: Issue, body: unknown): ErrorDetail[] => {
  const loc = ['body', ...issue.path.map(stepOf)];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      loc: [...loc, stepOf(key)],
      msg: 'there is no such field',
      type: 'extra_forbidden',
    }));
  }
  if (valueAt(body, issue.path) === undefined)
    return [{ loc, msg: 'this field is required', type: 'missing' }];
  return [{ loc, ...describe(issue) }];
};

/** A body can be wrong in as many places as it has; so many are named. */
const maxDetails = 100;

/** The error of a body that does not fit its schema. */
const errorOf = (issues: readonly Issue[], body: unknown): ServiceError =>
  invalid(
    ...issues
      .slice(0, maxDetails)
      .flatMap((issue) => detailsOf(issue, body))
      .slice(0, maxDetails),
  );

export type BodySchema<T> = z.ZodMiniType<T>;

/**
 * Parses a request's body.
 *
 * @param text the body as it came; JSON is UTF-8
 * @throws ServiceError 422 that names each wrong place; its type is `json_invalid` if the text is
 * not JSON
 */
export const parseBody = <T>(schema: BodySchema<T>, text: string): T => parseValue(schema, jsonOf(text));

/**
 * The JSON of a body.
 *
 * @throws ServiceError 422 `json_invalid` if it is none
 */
export const jsonOf = (text: string): unknown => {
  try {
    return parseJson(text);
  } catch (error) {
    throw invalid(jsonProblem(error, text));
  }
};

/**
 * Checks a body that was parsed before, or was never text.
 *
 * @throws ServiceError 422 that names each wrong place
 */
export const parseValue = <T>(schema: BodySchema<T>, body: unknown): T => {
  const result = schema.safeParse(body);
  if (!result.success) throw errorOf(result.error.issues, body);
  return result.data;
};

type UnknownFields = Extract<Issue, { readonly code: 'unrecognized_keys' }>;

const areUnknownFields = (issue: Issue): issue is UnknownFields => issue.code === 'unrecognized_keys';

/** The object at a path of the body, in which a schema has found unknown fields. */
const objectAt = (body: unknown, path: readonly PropertyKey[]): Record<string, unknown> =>
  path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown>)[key], body) as Record<
    string,
    unknown
  >;

/** A field's place; a `*` stands for any item of a list. */
const placeOf = (path: readonly PropertyKey[]): string =>
  path.map((step) => (typeof step === 'number' ? '*' : String(step))).join('.');

/** What a body says, and which of its fields were passed over. */
export interface Tolerated<T> {
  readonly value: T;
  /** The places of unknown fields, each once: `batch.*.started_by`. */
  readonly passedOver: readonly string[];
}

/**
 * As {@link parseValue}, but unknown fields are passed over. They are deleted from the body.
 *
 * @throws ServiceError 422 that names each wrong place
 */
export const parseTolerantly = <T>(schema: BodySchema<T>, body: unknown): Tolerated<T> => {
  const passedOver = new Set<string>();
  for (;;) {
    const result = schema.safeParse(body);
    if (result.success) return { value: result.data, passedOver: [...passedOver] };
    const { issues } = result.error;
    const unknown = issues.filter(areUnknownFields);
    if (unknown.length === 0) throw errorOf(issues, body);
    for (const { path, keys } of unknown) {
      const object = objectAt(body, path);
      for (const key of keys) {
        passedOver.add(placeOf([...path, key]));
        delete object[key];
      }
    }
  }
};

/** Says where JSON is wrong as far as V8 does: at which character, or else at which token. */
const jsonProblem = (error: unknown, text: string): ErrorDetail => {
  const type = 'json_invalid';
  if (text === '') return { loc: ['body'], msg: 'the body is empty; it should be JSON', type };
  if (text.startsWith('\ufeff')) {
    return {
      loc: ['body', '0'],
      msg: 'the body begins with a byte order mark; it should be UTF-8 without one',
      type,
    };
  }
  const [, position] =
    / (?:in|after) JSON at position (\d+) \(line \d+ column \d+\)$/.exec(String(error)) ?? [];
  if (position !== undefined) {
    return { loc: ['body', position], msg: `the body is not JSON from character ${position} on`, type };
  }
  if (/^SyntaxError: Unexpected end of JSON input$/.test(String(error))) {
    return { loc: ['body', String(text.length)], msg: 'the body ends in the middle of its JSON', type };
  }
  const [, token] = /^SyntaxError: Unexpected token '(.)'/u.exec(String(error)) ?? [];
  return {
    loc: ['body'],
    msg: `the body is not JSON${token ? `: there is an unexpected ${token} in it` : ''}`,
    type,
  };
};
