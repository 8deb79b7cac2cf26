import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import {
  comparisons,
  conversions,
  languages,
  maxPath,
  type PathKind,
} from '../../foundations/expression/index.ts';
import { documented } from '../../foundations/wire/schema.ts';

/** A schema of JSON Schema 2020-12. */
export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** A reference to a component of the document, by its name. */
export const refTo = (name: string): { $ref: string } => ({ $ref: `#/components/schemas/${name}` });

const objectWith = (
  properties: Record<string, JsonSchema>,
  required = Object.keys(properties),
): JsonSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const arraySchema = (items: JsonSchema, length?: number): JsonSchema => ({
  type: 'array',
  items,
  ...(length !== undefined && { minItems: length, maxItems: length }),
});

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** What is said of paths into a kind of records. */
const pathSays = ({ fields, nested }: PathKind): JsonSchema => {
  const below = '(?:\\.[\\s\\S]*)?';
  const ways = fields.map((field) => `${escaped(field)}${nested.includes(field) ? below : ''}`);
  return {
    pattern: `^(?:${ways.join('|')})$`,
    description:
      nested.length > 0
        ? `A field, or a dotted path into ${nested.join(', ')}: \`${nested[0]}.a.0\`. A number indexes a list.`
        : 'A field.',
  };
};

/**
 * The operators of the query language with what each takes. Clients that generators make take the
 * first alternative that a value fits, so the one that takes anything comes last.
 */
const operatorSchemas = (kind: PathKind): Record<string, JsonSchema> => {
  const operand = refTo(`${kind.name}Operation`);
  return {
    $and: arraySchema(operand),
    $or: arraySchema(operand),
    $not: arraySchema(operand, 1),
    ...Object.fromEntries(comparisons.map((comparison) => [comparison, arraySchema(operand, 2)])),
    $in: {
      type: 'array',
      prefixItems: [operand, arraySchema(operand)],
      items: { not: {} },
      minItems: 2,
      maxItems: 2,
    },
    $contains: objectWith(
      {
        input: { ...operand, description: 'The text or list to look in.' },
        substr: { ...operand, description: 'The text or item to look for.' },
        case_insensitive: {
          type: ['boolean', 'null'],
          description: 'Whether upper and lower case count as the same; false without it.',
        },
      },
      ['input', 'substr'],
    ),
    $convert: objectWith({
      input: { ...operand, description: 'The value to convert.' },
      to: {
        type: 'string',
        enum: [...conversions],
        description: 'The type; `exists` gives whether there is a value.',
      },
    }),
    $getField: refTo(`${kind.name}Path`),
    $literal: {},
  };
};

/** The name of an operator's component: `CallEq`, `CallGetField`. */
const operatorName = (kind: PathKind, operator: string): string =>
  `${kind.name}${operator.slice(1, 2).toUpperCase()}${operator.slice(2)}`;

/** An operation or an operand of the query language: an object with one operator. */
const operationSchema = (kind: PathKind): JsonSchema => ({
  description:
    'An operation or an operand; each may stand for the other. It has one operator. `$and`, `$or` take lists, `$not` a list of one. `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte` take lists of two. Others: `$in`, `$contains`, `$convert`, `$getField` (a path), `$literal` (any JSON value). At most 5,000 operators in one query, 1,000 deep.',
  anyOf: Object.keys(operatorSchemas(kind)).map((operator) => refTo(operatorName(kind, operator))),
});

/** The component of paths into a kind of records: `<Kind>Path`. */
const pathSchemaOf = (kind: PathKind): [name: string, schema: JsonSchema] => [
  `${kind.name}Path`,
  { type: 'string', maxLength: maxPath, ...pathSays(kind) },
];

/**
 * The components of the query language for a kind of records: `<Kind>Query`, `<Kind>Operation`, one
 * for each operator such as `<Kind>Eq`, and `<Kind>Path`.
 *
 * @returns names and schemas
 */
const languageSchemas = (kind: PathKind): [name: string, schema: JsonSchema][] => [
  [
    `${kind.name}Query`,
    {
      ...objectWith({ $expr: refTo(`${kind.name}Operation`) }),
      description: 'An expression that every record of the answer fulfils.',
    },
  ],
  [`${kind.name}Operation`, operationSchema(kind)],
  ...Object.entries(operatorSchemas(kind)).map(([operator, argument]): [string, JsonSchema] => [
    operatorName(kind, operator),
    objectWith({ [operator]: argument }),
  ]),
  pathSchemaOf(kind),
];

/** The components of a document by name, as far as they are known yet. */
export type Schemas = Map<string, JsonSchema>;

/**
 * Adds a component.
 *
 * @throws Error if there is another one of that name
 */
const addSchema = (schemas: Schemas, name: string, schema: JsonSchema): void => {
  const known = schemas.get(name);
  if (known && !isDeepStrictEqual(known, schema)) throw new Error(`two schemas are called ${name}`);
  schemas.set(name, schema);
};

const replace = (schema: JsonSchema, by: JsonSchema): void => {
  for (const key of Object.keys(schema)) delete schema[key];
  Object.assign(schema, by);
};

/** What a request has, or an answer. */
export type Side = 'input' | 'output';

/** Components that a conversion has found. zod still changes them until it is done. */
type Met = [name: string, schema: JsonSchema][];

/** The reference for a schema of the query language. It adds the components that it refers to. */
const languageRef = (zodSchema: z.core.$ZodType, met: Met): JsonSchema | undefined => {
  const language = languages.get(zodSchema);
  if (!language) return undefined;
  const { kind, part } = language;
  met.push(...(part === 'Path' ? [pathSchemaOf(kind)] : languageSchemas(kind)));
  return refTo(`${kind.name}${part}`);
};

const convert = (schema: z.core.$ZodType, met: Met, io: Side): JsonSchema => {
  const converted = z.toJSONSchema(schema, {
    io,
    // `documented` describes these instead; a test compares the document with the parser.
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const { parent, def } = zodSchema._zod;
      if (parent && parent._zod.def === def) {
        // A field: its schema, and what it means there.
        const { description } = z.globalRegistry.get(zodSchema) ?? {};
        replace(jsonSchema, { ...convert(parent, met, io), ...(description && { description }) });
        return;
      }
      if (isDeepStrictEqual(jsonSchema.properties, {})) delete jsonSchema.properties;
      // Answers may gain fields.
      if (io !== 'input' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      const language = languageRef(zodSchema, met);
      if (language) replace(jsonSchema, language);
      const own = documented.has(zodSchema) ? documented.get(zodSchema) : undefined;
      if (own?.like) replace(jsonSchema, convert(own.like() as z.core.$ZodType, met, io));
      Object.assign(jsonSchema, own?.keywords);
      if (own?.name === undefined) return;
      met.push([own.name, { ...jsonSchema }]);
      replace(jsonSchema, refTo(own.name));
    },
  });
  return JSON.parse(JSON.stringify({ ...converted, $schema: undefined }));
};

/**
 * Converts a zod schema to JSON Schema: what it takes or gives. Named schemas
 * in it become components.
 *
 * @throws Error if two different schemas have one name
 */
export const toJsonSchema = (schema: z.core.$ZodType, schemas: Schemas, io: Side): JsonSchema => {
  const met: Met = [];
  const converted = convert(schema, met, io);
  for (const [name, component] of met) addSchema(schemas, name, JSON.parse(JSON.stringify(component)));
  return converted;
};
