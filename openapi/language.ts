import { comparisons, conversions, maxPath, type PathKind } from '../core/foundations/expression/index.ts';
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
const operatorsOf = (kind: PathKind): Record<string, JsonSchema> => {
  const operand = refTo(`${kind.name}Operation`);
  return {
    $and: listOf(operand),
    $or: listOf(operand),
    $not: listOf(operand, 1),
    ...Object.fromEntries(comparisons.map((comparison) => [comparison, listOf(operand, 2)])),
    $in: {
      type: 'array',
      prefixItems: [operand, listOf(operand)],
      items: { not: {} },
      minItems: 2,
      maxItems: 2,
    },
    $contains: objectWith(
      { input: operand, substr: operand, case_insensitive: { type: ['boolean', 'null'] } },
      ['input', 'substr'],
    ),
    $convert: objectWith({ input: operand, to: { type: 'string', enum: [...conversions] } }),
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
  anyOf: Object.keys(operatorsOf(kind)).map((operator) => refTo(operatorName(kind, operator))),
});

/**
 * The components of the query language for a kind of records: `<Kind>Query`, `<Kind>Operation`, one
 * for each operator such as `<Kind>Eq`, and `<Kind>Path`.
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
  ...Object.entries(operatorsOf(kind)).map(([operator, argument]): [string, JsonSchema] => [
    operatorName(kind, operator),
    objectWith({ [operator]: argument }),
  ]),
  [
    `${kind.name}Path`,
    {
      type: 'string',
      maxLength: maxPath,
      ...pathSays(kind),
    },
  ],
];
