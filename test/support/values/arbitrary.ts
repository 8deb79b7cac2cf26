import fc from 'fast-check';
import type { JsonSchema, OpenApiDocument } from '../../../api/openapi/index.ts';
import { document as ownDocument } from '../documents/document.ts';

/** Texts that patterns of the document ask for. */
const pool = [
  'acme/shop',
  'acme/other-shop',
  'a/b',
  'turn-1',
  'id',
  '019a0000-0000-7000-8000-000000000000',
  'svc:///acme/shop/object/prompt:v0',
  'svc:///acme/shop/object/prompt:latest/attr/text/index/0',
  'svc:///acme/shop/op/answer:v1',
  'svc:///acme/shop/call/turn-1',
  'weave:///acme/shop/object/prompt:v0',
  'weave:///acme/shop/call/turn-1',
  'a'.repeat(43),
  'A'.repeat(43),
  '0'.repeat(64),
  '0'.repeat(32),
  '0'.repeat(16),
  'acme/shop:read',
  'acme/*:write',
  'x-header',
  '2025-01-01',
];

/** The fields that a pattern of dotted paths begins with, and paths into them. */
const listPaths = (pattern: string): string[] => {
  const [, fields = ''] = /^\^\(\?:([\w|]+)\)\(\?:\\\./.exec(pattern) ?? [];
  return fields.split('|').flatMap((field) => (field ? [field, `${field}.a.0`] : []));
};

const matching = (pattern: string, { minLength = 0, maxLength = 2048 }: JsonSchema): fc.Arbitrary<string> => {
  const expression = new RegExp(pattern, 'u');
  const known = [...pool, ...listPaths(pattern)].filter(
    (text) => expression.test(text) && text.length >= minLength && text.length <= maxLength,
  );
  const [first] = known;
  if (first === undefined) throw new Error(`add a text to the pool that fits ${pattern}`);
  const free = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
    .map((text) => (expression.test(text) ? text : first));
  return fc.oneof(fc.constantFrom(...known), free);
};

const time = fc
  .date({ min: new Date('1700-01-01'), max: new Date('2250-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());

const text = (schema: JsonSchema): fc.Arbitrary<string> => {
  if (schema.format === 'date-time') return time;
  if (schema.pattern !== undefined) return matching(schema.pattern, schema);
  return fc.string({
    unit: 'grapheme',
    minLength: schema.minLength ?? 0,
    maxLength: Math.min(schema.maxLength ?? 20, 20),
  });
};

const scalar = (type: unknown, schema: JsonSchema): fc.Arbitrary<unknown> | undefined => {
  // The one bound of this kind is a time-out, in seconds.
  const above = schema.exclusiveMinimum !== undefined ? { min: 60 } : {};
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({
        min: schema.minimum ?? -5,
        max: Math.max(schema.minimum ?? -5, Math.min(schema.maximum ?? 50, 50)),
      });
    case 'number':
      return fc.double({ noNaN: true, min: schema.minimum ?? -1e9, max: schema.maximum ?? 1e9, ...above });
    case 'string':
      return text(schema);
    default:
      return undefined;
  }
};

type Tie = (name: string) => fc.Arbitrary<unknown>;

const json = fc.jsonValue({ maxDepth: 3 });

const list = (schema: JsonSchema, tie: Tie): fc.Arbitrary<unknown> => {
  if (schema.prefixItems)
    return fc.tuple(...schema.prefixItems.map((item) => arbitraryFor(item as JsonSchema, tie)));
  const { minItems: minLength = 0, maxItems = 4 } = schema;
  const items = schema.items === undefined ? json : arbitraryFor(schema.items as JsonSchema, tie);
  const limits = { minLength, maxLength: Math.min(maxItems, 4), depthIdentifier: 'schema' };
  return schema.uniqueItems ? fc.uniqueArray(items, limits) : fc.array(items, limits);
};

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;

const object = (schema: JsonSchema, tie: Tie): fc.Arbitrary<unknown> => {
  const { properties = {}, required = [], additionalProperties = {}, propertyNames } = schema;
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, arbitraryFor(property as JsonSchema, tie)]),
  );
  const named = fc.record(fields, { requiredKeys: required.filter((name) => Object.hasOwn(fields, name)) });
  if (!isSchema(additionalProperties)) return named;
  const keys = isSchema(propertyNames)
    ? (arbitraryFor({ type: 'string', ...propertyNames }, tie) as fc.Arbitrary<string>)
    : fc.string({ maxLength: 8 });
  const others = fc.dictionary(keys, arbitraryFor(additionalProperties, tie), {
    minKeys: schema.minProperties ?? 0,
    maxKeys: 3,
  });
  const unnamed = others.filter((rest) => Object.keys(rest).every((key) => !Object.hasOwn(fields, key)));
  return fc.tuple(unnamed, named).map(([rest, known]) => ({ ...rest, ...known }));
};

const arbitraryFor = (schema: JsonSchema, tie: Tie): fc.Arbitrary<unknown> => {
  if (schema.$ref !== undefined) return tie(schema.$ref.slice('#/components/schemas/'.length));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const options = schema.anyOf ?? schema.oneOf;
  if (options) {
    // Deep down the first is taken. Of operations the last has nothing below it: a literal.
    const parts = options.toReversed().map((option) => arbitraryFor(option as JsonSchema, tie));
    return fc.oneof({ maxDepth: 3, depthIdentifier: 'schema' }, ...parts);
  }
  if (Array.isArray(schema.type)) {
    return fc.oneof(
      ...schema.type.map((type: JsonSchema['type']) => arbitraryFor({ ...schema, type } as JsonSchema, tie)),
    );
  }
  if (schema.type === 'array') return list(schema, tie);
  if (schema.type === 'object') return object(schema, tie);
  return scalar(schema.type, schema) ?? json;
};

/** Values that fit a schema of the document, as JSON has them. */
export const toArbitrary = (
  schema: JsonSchema,
  document: Pick<OpenApiDocument, 'components'> = ownDocument,
): fc.Arbitrary<unknown> => {
  const { root } = fc.letrec((tie) => ({
    ...Object.fromEntries(
      Object.entries(document.components.schemas).map(([name, component]) => [
        name,
        arbitraryFor(component, tie),
      ]),
    ),
    root: arbitraryFor(schema, tie),
  })) as { root: fc.Arbitrary<unknown> };
  return root.map((value) => JSON.parse(JSON.stringify(value)));
};
