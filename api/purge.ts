import * as z from 'zod/mini';
import { isId, isJsonObject, type JsonValue } from '../foundations/wire/index.ts';
import { documented, printableText, rule } from '../foundations/wire/schema.ts';

/*
 * Records are purged by id alone. The query of a purge is an `$eq` on `id` in the query language,
 * or an `$or` of such.
 */

/** The most ids that one request may purge. */
export const maxIds = 1000;

/** What the query of a purge should be, and the type of the problem. */
const purgeRule = rule(
  'should only name records by id: {"$expr": {"$eq": [{"$getField": "id"}, {"$literal": "<id>"}]}}, ' +
    `or {"$expr": {"$or": […]}} of at most ${maxIds} such $eq`,
);

/** The value of an object with this key alone; undefined for anything else. */
export const only = (value: JsonValue | undefined, key: string): JsonValue | undefined => {
  if (value === undefined || !isJsonObject(value)) return undefined;
  return Object.keys(value).length === 1 && Object.hasOwn(value, key) ? value[key] : undefined;
};

/**
 * The id of `{"$eq": [{"$getField": "id"}, {"$literal": "<id>"}]}`, with its operands in either
 * order.
 */
const parseId = (operation: JsonValue): string | undefined => {
  const operands = only(operation, '$eq');
  if (!Array.isArray(operands) || operands.length !== 2) return undefined;
  const [field, literal] = only(operands[0], '$getField') === undefined ? operands.toReversed() : operands;
  const id = only(literal, '$literal');
  return only(field, '$getField') === 'id' && typeof id === 'string' && isId(id) ? id : undefined;
};

/** The ids that a purge names, each once; undefined if the query is anything else. */
const parseIds = (query: unknown): string[] | undefined => {
  const expression = only(query as JsonValue, '$expr');
  if (expression === undefined) return undefined;
  const operations = only(expression, '$or') ?? [expression];
  if (!Array.isArray(operations) || operations.length > maxIds) return undefined;
  const ids = operations.map(parseId);
  return ids.every((id) => id !== undefined) ? [...new Set(ids)] : undefined;
};

/** A JSON Schema of objects with one key. */
const objectWith = (key: string, value: object) => ({
  type: 'object',
  properties: { [key]: value },
  required: [key],
  additionalProperties: false,
});

const equalsId = (...operands: object[]) =>
  objectWith('$eq', { type: 'array', prefixItems: operands, items: { not: {} }, minItems: 2, maxItems: 2 });

/** What purges may name, as keywords of JSON Schema. */
export const field = objectWith('$getField', { const: 'id' });
const literal = objectWith('$literal', { type: 'string', ...printableText(256) });
const oneId = { anyOf: [equalsId(field, literal), equalsId(literal, field)] };

/** What a purge by ids may be. */
const purgeKeywords = [oneId, objectWith('$or', { type: 'array', items: oneId, maxItems: maxIds })];

/** The `query` of a purge. It becomes the ids, each once. */
export const purgeByIds = z
  .pipe(
    z.unknown().check(z.refine((query) => parseIds(query) !== undefined, purgeRule)),
    z.transform((query) => parseIds(query) ?? []),
  )
  .register(documented, { name: 'PurgeQuery', keywords: objectWith('$expr', { anyOf: purgeKeywords }) });
