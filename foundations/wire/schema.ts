import * as z from 'zod/mini';
import { clone } from 'zod/v4/core';
import { type ErrorDetail, invalid, type ServiceError } from './errors.ts';
import {
  idRule,
  isId,
  type ProjectId,
  parseProjectId,
  parseRef,
  projectIdRule,
  type Ref,
  refScheme,
} from './ids.ts';
import {
  findProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  maxDepth,
  parseJson,
  plainNumber,
} from './json.ts';
import { parseTime, timeRule } from './time.ts';

/*
 * The types that requests are made of. A schema's message says what should be there; `params.type`
 * names the problem by pydantic's names.
 */

/** What the OpenAPI document says of a schema when the schema cannot: its checks are functions. */
export interface Documentation {
  /** The name of its component; a schema without one stands wherever it is used. */
  readonly name?: string;
  /** Keywords of JSON Schema 2020-12 for what its checks look for, as far as there are any. */
  readonly keywords?: Readonly<Record<string, unknown>>;
  /** Gives the schema to show instead, for one that looks at the body before it parses it. */
  readonly like?: () => unknown;
}

/** What the document says of schemas. Parsing never looks at it. */
export const documented = z.registry<Documentation>();

const part = '[A-Za-z0-9_.-]{1,128}';

/** A project's id as a part of a longer pattern in JSON Schema. */
export const projectIdPattern = `(?!\\.{1,2}/)${part}/(?!\\.{1,2}(?:/|$))${part}`;

/**
 * Control characters in a pattern's character class, as regular expressions of all languages spell
 * them.
 */
export const controls = '\\u0000-\\u001f\\u007f-\\u009f';

/** An id of 1 to so many characters in JSON Schema. */
export const printableText = (maxCharacters: number) => ({
  minLength: 1,
  maxLength: maxCharacters,
  pattern: `^[^${controls}\\u2028\\u2029]*$`,
});

/** Documents the bounds of a list; the list's own checks enforce them. */
export const documentedList = <S extends z.ZodMiniType>(list: S, most: number, least = 0): S => {
  documented.add(list, { keywords: { ...(least > 0 && { minItems: least }), maxItems: most } });
  return list;
};

/** What should be there, and the type of the problem. */
export const rule = (error: string, type = 'value_error') => ({ error, params: { type } });

/** A problem that a check of several fields finds, at a path below them. */
export const problem = (message: string, input: unknown, ...path: readonly PropertyKey[]) => ({
  code: 'custom' as const,
  message,
  continue: true as const,
  input,
  path: [...path],
});

/** A finite number. */
export const finite = (...checks: Parameters<z.ZodMiniNumber['check']>) =>
  numeric(z.number().check(...checks));

/** A project's id. */
export const projectId = z
  .pipe(
    z.string().check(z.refine((text) => parseProjectId(text) !== undefined, rule(projectIdRule))),
    z.transform((text) => text as ProjectId),
  )
  .register(documented, { name: 'ProjectId', keywords: { pattern: `^${projectIdPattern}$` } });

/** An id that a client chose: 1–256 printable characters. */
export const id = z
  .string()
  .check(z.refine(isId, rule(idRule)))
  .register(documented, { name: 'Id', keywords: printableText(256) });

const maxName = 1024;
const nameRule = `should be 1 to ${maxName} characters, without control characters or lone surrogates`;
const name = /^[^\p{Cc}\p{Cs}]+$/u;

/** A name that people read: 1–1,024 characters, no controls, no lone surrogates. */
export const displayText = z
  .string()
  .check(z.refine((text) => text.length <= maxName && name.test(text), rule(nameRule)))
  .register(documented, {
    name: 'Name',
    keywords: { minLength: 1, maxLength: maxName, pattern: `^[^${controls}]*$` },
  });

/** An ISO 8601 time, as text. */
export const time = z
  .string()
  .check(z.refine((text) => parseTime(text) !== undefined, rule(timeRule, 'datetime_parsing')))
  .register(documented, { name: 'Time', keywords: { format: 'date-time' } });

const depthRule = `should nest lists and objects at most ${maxDepth} deep`;
const numberRule = 'should hold no number beyond ±1.8e308, which no double can keep';
const keepable = z.check<unknown>(({ value, issues }) => {
  const problem = findProblem(value);
  if (problem === undefined) return;
  const [message, type] =
    problem === 'too deep' ? [depthRule, 'recursion_loop'] : [numberRule, 'finite_number'];
  issues.push({ code: 'custom', message, params: { type }, input: value, continue: true });
});

/** A free-form JSON object of the client's. */
export const freeObject = z
  .custom<JsonObject>(isJsonObject, { ...rule('should be an object', 'dict_type'), abort: true })
  .check(keepable)
  .register(documented, { keywords: { type: 'object', additionalProperties: {} } });

/** Any JSON value. */
export const freeValue = z.custom<JsonValue>(() => true).check(keepable);

/** A field that may be missing or null. */
export const nullish = <S extends z.ZodMiniType>(schema: S) => z.optional(z.nullable(schema));

/** What an integer's schema says of anything else. */
const integerRule = 'should be an integer';

/** Bounds have messages of their own. */
const integerError = ({ code }: { readonly code: string }) =>
  code === 'invalid_type' ? integerRule : undefined;

/**
 * A number of a schema's, as a double. A body's numbers can be exact, which only free-form values
 * keep.
 */
export const numeric = <S extends z.ZodMiniType>(schema: S) =>
  z.pipe(
    z.transform((value: z.input<S>): unknown => plainNumber(value)),
    schema,
  );

/** An integer that all JSON parsers read alike: within ±(2^53 − 1). */
export const integer = numeric(z.int({ error: integerError }));

/** An integer within bounds. */
export const integerWith = (...checks: Parameters<z.ZodMiniNumber['check']>) =>
  numeric(z.int({ error: integerError }).check(...checks));

/** An integer from 0 up. */
export const count = integerWith(z.minimum(0));

interface ListOptions {
  /** The fewest items. @default 0 */
  readonly least?: number;
  /** What the items are called in messages. @default 'items' */
  readonly noun?: string;
}

/** A list of at most so many items, or between two bounds. */
export const listSchema = <S extends z.ZodMiniType>(
  item: S,
  most: number,
  { least = 0, noun = 'items' }: ListOptions = {},
) =>
  documentedList(
    z.array(item).check(
      z.refine(
        (list) => list.length >= least,
        rule(least === 1 ? 'should not be empty' : `should be at least ${least} ${noun}`, 'too_short'),
      ),
      z.refine((list) => list.length <= most, rule(`should be at most ${most} ${noun}`, 'too_long')),
    ),
    most,
    least,
  );

const maxRef = 2048;
const printable = /^[^\p{Cc}\p{Cs}]*$/u;

const refExamples: Readonly<Record<Ref['kind'], string>> = {
  object: 'acme/shop/object/<name>:<digest>',
  op: 'acme/shop/op/<name>:<digest>',
  call: 'acme/shop/call/<call id>',
};

const character = `[^${controls}]`;
const nameCharacter = `[^/:${controls}]`;
const named = `${nameCharacter}+:${nameCharacter}+`;
/** The patterns of refs, for the OpenAPI document. */
const refPatterns: Readonly<Record<Ref['kind'], string>> = {
  object: `object/${named}(?:/${character}+)?`,
  op: `op/${named}`,
  call: `call/${character}{1,256}`,
};

/** A ref of one of the kinds, into any project. */
export const refTo = (...kinds: readonly Ref['kind'][]) => {
  const isRef = (text: string): boolean => {
    if (text.length > maxRef || !printable.test(text)) return false;
    const ref = parseRef(text);
    return ref !== undefined && kinds.includes(ref.kind) && (ref.kind !== 'call' || isId(ref.callId));
  };
  const shapes = kinds.map((kind) => refScheme + refExamples[kind]).join(' or ');
  const pattern = `^${refScheme}${projectIdPattern}/(?:${kinds.map((kind) => refPatterns[kind]).join('|')})$`;
  return z
    .string()
    .check(z.refine(isRef, rule(`should be a ref such as ${shapes}, of at most ${maxRef} characters`)))
    .register(documented, { keywords: { maxLength: maxRef, pattern } });
};

/**
 * A field of a request or an answer, with its meaning.
 */
export const field = <S extends z.ZodMiniType>(schema: S, description: string): S => {
  const described = clone(schema, schema._zod.def, { parent: true });
  z.globalRegistry.add(described, { description });
  return described;
};

/** A field that may be missing or null, which counts as something else then. */
export const withDefault = <S extends z.ZodMiniType, D>(schema: S, standsFor: D) =>
  z.pipe(
    nullish(schema),
    z.transform((value): z.output<S> | D => value ?? standsFor),
  );

type Camel<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;
type InnerName<Name> = Name extends `svc_${infer Rest}`
  ? Camel<Rest>
  : Name extends string
    ? Camel<Name>
    : never;
type Filled<T> = undefined extends T ? Exclude<T, undefined> | null : T;

/** The fields of an object, with optional ones as optional keys. */
export type Shape = Readonly<Record<string, z.ZodMiniType>>;
/** The inner names of fields that are not simply those of the wire in camelCase. */
export type Names = Readonly<Record<string, string>>;

/** What a {@link record} is parsed into. */
export type Inner<S extends Shape, N extends Names> = {
  readonly [K in keyof S as K extends keyof N ? N[K] : InnerName<K>]: Filled<z.output<S[K]>>;
};

/** The inner name of a field, unless its record gives it another. */
const innerName = (name: string): string =>
  name.replace(/^svc_/, '').replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

/** What a {@link record} was made of, so that one like it can be made. */
export interface Recipe {
  readonly shape: Shape;
  readonly names: Names;
  readonly also: ((fields: never) => object) | undefined;
  readonly checks: readonly z.core.$ZodCheck<never>[];
}

const recipes = new WeakMap<z.core.$ZodType, Recipe>();

/** The recipe of a schema that {@link record} has made; undefined for any other. */
export const getRecipe = (schema: z.core.$ZodType): Recipe | undefined => recipes.get(schema);

type Fields<S extends Shape> = z.output<z.ZodMiniObject<S, z.core.$strict>>;

/**
 * An object of a request. On the wire its fields have snake_case names, and unknown ones are
 * refused. Inside they have camelCase names, without the service's own prefix `svc_`, and null
 * stands for each that is missing.
 *
 * @param names the inner names that differ from those of the wire by more than their case
 * @param also makes further fields of the fields on the wire; they win over others
 * @param checks look at the fields on the wire together
 */
export const record = <
  const S extends Shape,
  const N extends Names = Record<never, never>,
  A extends object = Record<never, never>,
>(
  shape: S,
  names?: N,
  also?: (fields: Fields<S>) => A,
  ...checks: readonly z.core.$ZodCheck<Fields<S>>[]
) => {
  const wire = Object.keys(shape);
  const inner = wire.map((name) => names?.[name] ?? innerName(name));
  const rename = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> => {
    const renamed: Record<string, unknown> = {};
    for (let i = 0; i < wire.length; i++) renamed[inner[i] ?? ''] = fields[wire[i] ?? ''] ?? null;
    return renamed;
  };
  const fields = z.strictObject(shape);
  // Fields that are wrong by themselves are not looked at together.
  const checked = checks.length === 0 ? fields : z.pipe(fields, z.custom<Fields<S>>().check(...checks));
  const schema = z.pipe(
    checked as z.ZodMiniType<Fields<S>, z.input<typeof fields>>,
    z.transform((fields) => {
      const renamed = rename(fields);
      return (also ? Object.assign(renamed, also(fields)) : renamed) as Omit<Inner<S, N>, keyof A> & A;
    }),
  );
  recipes.set(schema, { shape, names: names ?? {}, also, checks });
  return schema;
};

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

/** What should be there, if the schema does not say so itself. */
const defaultMessage: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return `should be ${typeNames[issue.expected]?.[1] ?? `a valid ${issue.expected}`}`;
    case 'invalid_value':
      return `should be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'too_small':
      if (issue.origin === 'string') return `should have at least ${issue.minimum} characters`;
      if (issue.origin === 'array') return `should have at least ${issue.minimum} items`;
      return issue.inclusive ? `should be ${issue.minimum} or more` : `should be more than ${issue.minimum}`;
    case 'too_big':
      if (issue.origin === 'string') return `should have at most ${issue.maximum} characters`;
      if (issue.origin === 'array') return `should have at most ${issue.maximum} items`;
      return issue.inclusive ? `should be ${issue.maximum} or less` : `should be less than ${issue.maximum}`;
    default:
      return undefined;
  }
};

const toType = (issue: Issue): string => {
  switch (issue.code) {
    case 'invalid_type':
      // An integer's schema asks for a number first. Only its message tells the two apart.
      return issue.message === integerRule ? 'int_type' : (typeNames[issue.expected]?.[0] ?? 'value_error');
    case 'invalid_value':
      return 'literal_error';
    case 'invalid_union':
      return 'union_tag_invalid';
    case 'too_small':
      if (issue.origin === 'string') return 'string_too_short';
      if (issue.origin === 'array') return 'too_short';
      return issue.inclusive ? 'greater_than_equal' : 'greater_than';
    case 'too_big':
      if (issue.origin === 'string') return 'string_too_long';
      if (issue.origin === 'array') return 'too_long';
      return issue.inclusive ? 'less_than_equal' : 'less_than';
    case 'custom': {
      const type: unknown = issue.params?.type;
      return typeof type === 'string' ? type : 'value_error';
    }
    default:
      return 'value_error';
  }
};

const maxKey = 200;

/** A step of a place, as text. A client's own key can be as long as the request. */
const toStep = (key: PropertyKey): string => {
  const text = String(key);
  return text.length > maxKey ? `${text.slice(0, maxKey)}…` : text;
};

const toDetails = (issue: Issue, body: unknown): ErrorDetail[] => {
  const loc = ['body', ...issue.path.map(toStep)];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      loc: [...loc, toStep(key)],
      msg: 'there is no such field',
      type: 'extra_forbidden',
    }));
  }
  if (valueAt(body, issue.path) === undefined)
    return [{ loc, msg: 'this field is required', type: 'missing' }];
  return [{ loc, msg: issue.message, type: toType(issue) }];
};

/** A body can be wrong in as many places as it has; so many are named. */
const maxDetails = 100;

/** The error of a body that does not fit its schema. */
const toError = (issues: readonly Issue[], body: unknown): ServiceError =>
  invalid(
    ...issues
      .slice(0, maxDetails)
      .flatMap((issue) => toDetails(issue, body))
      .slice(0, maxDetails),
  );

export type BodySchema<T> = z.ZodMiniType<T>;

/** Checks a value. Its issues have the words of the schema, or else those of {@link defaultMessage}. */
export const safeParse = <T>(schema: BodySchema<T>, value: unknown) =>
  schema.safeParse(value, { error: defaultMessage });

/**
 * Parses a request's body.
 *
 * @param text the body as it came; JSON is UTF-8
 * @throws ServiceError 422 that names each wrong place; its type is `json_invalid` if the text is
 * not JSON
 */
export const parseBody = <T>(schema: BodySchema<T>, text: string): T =>
  parseValue(schema, parseBodyJson(text));

/**
 * The JSON of a body.
 *
 * @throws ServiceError 422 `json_invalid` if it is none
 */
export const parseBodyJson = (text: string): unknown => {
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
  const result = safeParse(schema, body);
  if (!result.success) throw toError(result.error.issues, body);
  return result.data;
};

/** Makes a parser of values that gives undefined for what does not fit the schema. */
export const makeParser =
  <T>(schema: BodySchema<T>) =>
  (value: unknown): T | undefined =>
    schema.safeParse(value).data;

type UnknownFields = Extract<Issue, { readonly code: 'unrecognized_keys' }>;

const areUnknownFields = (issue: Issue): issue is UnknownFields => issue.code === 'unrecognized_keys';

/** The object at a path of the body, in which a schema has found unknown fields. */
const objectAt = (body: unknown, path: readonly PropertyKey[]): Record<string, unknown> =>
  path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown>)[key], body) as Record<
    string,
    unknown
  >;

/** A field's place; a `*` stands for any item of a list. */
const toPlace = (path: readonly PropertyKey[]): string =>
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
    const result = safeParse(schema, body);
    if (result.success) return { value: result.data, passedOver: [...passedOver] };
    const { issues } = result.error;
    const unknown = issues.filter(areUnknownFields);
    if (unknown.length === 0) throw toError(issues, body);
    for (const { path, keys } of unknown) {
      const object = objectAt(body, path);
      for (const key of keys) {
        passedOver.add(toPlace([...path, key]));
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
