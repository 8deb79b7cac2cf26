import * as z from 'zod/mini';
import { documented, printableText } from './documented.ts';
import { isId } from './ids.ts';
import { isJsonObject, type JsonValue } from './json.ts';

/*
 * Records are purged by id alone. The query of a purge is an `$eq` on `id` in the query language,
 * or an `$or` of such.
 */

/** The most ids that one request may purge. */
const maxIds = 1000;

const rule = {
  error:
    'should name records by id alone: {"$expr": {"$eq": [{"$getField": "id"}, {"$literal": "<id>"}]}}, ' +
    `or {"$expr": {"$or": […]}} of at most ${maxIds} such $eq`,
  params: { type: 'value_error' },
};

/** The value of an object with this key alone; undefined for anything else. */
const only = (value: JsonValue | undefined, key: string): JsonValue | undefined => {
  if (value === undefined || !isJsonObject(value)) return undefined;
  return Object.keys(value).length === 1 && Object.hasOwn(value, key) ? value[key] : undefined;
};

/**
 * The id of `{"$eq": [{"$getField": "id"}, {"$literal": "<id>"}]}`, with its operands in either
 * order.
 */
const idOf = (operation: JsonValue): string | undefined => {
  const operands = only(operation, '$eq');
  if (!Array.isArray(operands) || operands.length !== 2) return undefined;
  const [field, literal] = only(operands[0], '$getField') === undefined ? operands.toReversed() : operands;
  const id = only(literal, '$literal');
  return only(field, '$getField') === 'id' && typeof id === 'string' && isId(id) ? id : undefined;
};

/** The ids of `{"$in": [{"$getField": "id"}, [{"$literal": "<id>"}, …]]}`. */
const listedIds = (query: unknown): string[] | undefined => {
  const operands = only(only(query as JsonValue, '$expr'), '$in');
  if (!Array.isArray(operands) || operands.length !== 2) return undefined;
  const [field, literals] = operands;
  if (only(field, '$getField') !== 'id' || !Array.isArray(literals) || literals.length > maxIds)
    return undefined;
  const ids = literals.map((literal) => only(literal, '$literal'));
  const isEveryId = ids.every((id): id is string => typeof id === 'string' && isId(id));
  return isEveryId ? [...new Set(ids as string[])] : undefined;
};

/** The ids that a purge names, each once; undefined if the query is anything else. */
const idsOf = (query: unknown): string[] | undefined => {
  const expression = only(query as JsonValue, '$expr');
  if (expression === undefined) return undefined;
  const operations = only(expression, '$or') ?? [expression];
  if (!Array.isArray(operations) || operations.length > maxIds) return undefined;
  const ids = operations.map(idOf);
  return ids.every((id) => id !== undefined) ? [...new Set(ids)] : undefined;
};

const objectWith = (key: string, value: object) => ({
  type: 'object',
  properties: { [key]: value },
  required: [key],
  additionalProperties: false,
});

const isIdOf = (...operands: object[]) =>
  objectWith('$eq', { type: 'array', prefixItems: operands, items: { not: {} }, minItems: 2, maxItems: 2 });

const field = objectWith('$getField', { const: 'id' });
const literal = objectWith('$literal', { type: 'string', ...printableText(256) });
const oneId = { anyOf: [isIdOf(field, literal), isIdOf(literal, field)] };

/** The rule as keywords of JSON Schema, for the OpenAPI document. */
const purgeKeywords = objectWith('$expr', {
  anyOf: [oneId, objectWith('$or', { type: 'array', items: oneId, maxItems: maxIds })],
});

/** The `query` of a purge. It becomes the ids, each once. */
export const purgeByIds = z
  .pipe(
    z.unknown().check(z.refine((query) => idsOf(query) !== undefined, rule)),
    z.transform((query) => idsOf(query) ?? []),
  )
  .register(documented, { name: 'PurgeQuery', says: purgeKeywords });

const inRule = {
  error: `${rule.error}, or {"$expr": {"$in": [{"$getField": "id"}, […]]}} of at most ${maxIds} literals`,
  params: rule.params,
};

/** The same in Weave's dialect, whose SDKs list ids in an `$in`. */
export const purgeByIdList = z
  .pipe(
    z.unknown().check(z.refine((query) => (idsOf(query) ?? listedIds(query)) !== undefined, inRule)),
    z.transform((query) => idsOf(query) ?? listedIds(query) ?? []),
  )
  .register(documented, {
    name: 'PurgeListQuery',
    says: objectWith('$expr', {
      anyOf: [
        oneId,
        objectWith('$or', { type: 'array', items: oneId, maxItems: maxIds }),
        objectWith('$in', {
          type: 'array',
          prefixItems: [field, { type: 'array', items: literal, maxItems: maxIds }],
          items: { not: {} },
          minItems: 2,
          maxItems: 2,
        }),
      ],
    }),
  });
