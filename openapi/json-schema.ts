import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { languages } from '../core/foundations/expression/index.ts';
import { documented } from '../core/foundations/wire/schema.ts';
import { languageSchemas } from './language.ts';
import { type JsonSchema, refTo } from './schema.ts';

/** The components of a document by name, as far as they are known yet. */
export type Schemas = Map<string, JsonSchema>;

/**
 * Adds a component.
 *
 * @throws Error if there is another one of that name
 */
export const addSchema = (schemas: Schemas, name: string, schema: JsonSchema): void => {
  const known = schemas.get(name);
  if (known && !isDeepStrictEqual(known, schema)) throw new Error(`two schemas are called ${name}`);
  schemas.set(name, schema);
};

const replace = (schema: JsonSchema, by: JsonSchema): void => {
  for (const key of Object.keys(schema)) delete schema[key];
  Object.assign(schema, by);
};

type Side = 'input' | 'output';

/** Components that a conversion has found. zod still changes them until it is done. */
type Met = [name: string, schema: JsonSchema][];

/** The reference for a schema of the query language. It adds the components that it refers to. */
const languageRef = (zodSchema: z.core.$ZodType, met: Met): JsonSchema | undefined => {
  const language = languages.get(zodSchema);
  if (!language) return undefined;
  met.push(...languageSchemas(language.kind));
  return refTo(`${language.kind.name}${language.part}`);
};

const convert = (schema: z.core.$ZodType, met: Met, io: Side): JsonSchema => {
  const converted = z.toJSONSchema(schema, {
    io,
    // `documented` describes these instead; a test compares the document with the parser.
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (isDeepStrictEqual(jsonSchema.properties, {})) delete jsonSchema.properties;
      // Answers may gain fields.
      if (io === 'output' && jsonSchema.additionalProperties === false)
        delete jsonSchema.additionalProperties;
      const language = languageRef(zodSchema, met);
      if (language) replace(jsonSchema, language);
      const own = documented.has(zodSchema) ? documented.get(zodSchema) : undefined;
      if (own?.like) replace(jsonSchema, convert(own.like() as z.core.$ZodType, met, io));
      Object.assign(jsonSchema, own?.says);
      if (own?.name === undefined) return;
      met.push([own.name, { ...jsonSchema }]);
      replace(jsonSchema, refTo(own.name));
    },
  });
  return JSON.parse(JSON.stringify({ ...converted, $schema: undefined }));
};

/**
 * Converts a zod schema to JSON Schema: what it takes (`input`) or gives (`output`). Named schemas
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
