import * as z from 'zod/mini';
import {
  field,
  idsOf,
  literal,
  maxIds,
  objectWith,
  only,
  purgeKeywords,
  purgeRule,
} from '../../api/purge.ts';
import { isId, type JsonValue } from '../../foundations/wire/index.ts';
import { documented, rule } from '../../foundations/wire/schema.ts';

/** The ids of `{"$expr": {"$in": [{"$getField": "id"}, [{"$literal": "<id>"}, …]]}}`. */
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

const inRule = rule(
  `${purgeRule.error}, or {"$expr": {"$in": [{"$getField": "id"}, […]]}} of at most ${maxIds} literals`,
);

const listKeywords = objectWith('$in', {
  type: 'array',
  prefixItems: [field, { type: 'array', items: literal, maxItems: maxIds }],
  items: { not: {} },
  minItems: 2,
  maxItems: 2,
});

/** The `query` of a purge. Weave's SDKs list ids in an `$in`. */
export const purgeByIdList = z
  .pipe(
    z.unknown().check(z.refine((query) => (idsOf(query) ?? listedIds(query)) !== undefined, inRule)),
    z.transform((query) => idsOf(query) ?? listedIds(query) ?? []),
  )
  .register(documented, {
    name: 'PurgeListQuery',
    says: objectWith('$expr', { anyOf: [...purgeKeywords, listKeywords] }),
  });
