import { comparisons, conversions, maxPath, type PathKind } from '../core/expression/index.ts';
import { type JsonSchema, refTo } from './schema.ts';

const objectWith = (
  properties: Record<string, JsonSchema>,
  required = Object.keys(properties),
): JsonSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const listOf = (items: JsonSchema, length?: number): JsonSchema => ({
  type: 'array',
  items,
  ...(length !== undefined && { minItems: length, maxItems: length }),
});

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** An operation or an operand of the query language: an object with one operator. */
const operationSchema = (kind: PathKind): JsonSchema => {
  const operand = refTo(`${kind.name}Operation`);
  const operators: Record<string, JsonSchema> = {
    $literal: {},
    $getField: refTo(`${kind.name}Path`),
    $and: listOf(operand),
    $or: listOf(operand),
    $not: listOf(operand, 1),
    ...Object.fromEntries(comparisons.map((comparison) => [comparison, listOf(operand, 2)])),
    $in: { type: 'array', prefixItems: [operand, listOf(operand)], minItems: 2, maxItems: 2 },
    $contains: objectWith(
      { input: operand, substr: operand, case_insensitive: { type: ['boolean', 'null'] } },
      ['input', 'substr'],
    ),
    $convert: objectWith({ input: operand, to: { enum: [...conversions] } }),
  };
  return {
    description:
      'An operation or an operand; each may stand for the other. It has one operator: `$and`, `$or` (lists), `$not` (a list of one), `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte` (lists of two), `$in`, `$contains`, `$convert`, `$literal` (any JSON value) or `$getField` (a path). At most 5,000 operators in one query, 1,000 deep.',
    anyOf: Object.entries(operators).map(([operator, argument]) => objectWith({ [operator]: argument })),
  };
};

/**
 * The components of the query language for a kind of records: `<Kind>Query`, `<Kind>Operation` and
 * `<Kind>Path`.
 *
 * @returns names and schemas
 */
export const languageSchemas = (kind: PathKind): [name: string, schema: JsonSchema][] => [
  [
    `${kind.name}Query`,
    {
      ...objectWith({ $expr: refTo(`${kind.name}Operation`) }),
      description: 'An expression that every record of the answer fulfils.',
    },
  ],
  [`${kind.name}Operation`, operationSchema(kind)],
  [
    `${kind.name}Path`,
    {
      type: 'string',
      maxLength: maxPath,
      pattern: `^(?:${kind.fields.map(escaped).join('|')})(?:\\.[\\s\\S]*)?$`,
      description: 'A field, or a dotted path into one, such as `a.b.0`. A number indexes a list.',
    },
  ],
];
