import * as z from 'zod/mini';
import { nullish } from '../wire/schema.ts';
import type { Expression, RecordKind } from './model.ts';
import { toPath } from './model.ts';
import { parseQuery, pathFault } from './parse.ts';
import type { SortKey } from './sort.ts';

/** The schema of a request's `query`: `{"$expr": <operation>}` over records of a kind. */
export const querySchema = (kind: RecordKind) =>
  z.pipe(
    z.unknown(),
    z.transform((json, context): Expression => {
      const parsed = parseQuery(kind, json);
      if ('expression' in parsed) return parsed.expression;
      const { loc, msg, type } = parsed.fault;
      context.issues.push({ code: 'custom', message: msg, params: { type }, path: [...loc], input: json });
      return z.NEVER;
    }),
  );

/** A dotted path into records of a kind. */
export const pathSchema = (kind: Pick<RecordKind, 'fields' | 'pathRule'>) =>
  z.string().check(
    z.check(({ value, issues }) => {
      const fault = pathFault(kind, value);
      if (fault)
        issues.push({ code: 'custom', message: fault.msg, params: { type: fault.type }, input: value });
    }),
  );

/** More keys than this decide nothing any more. */
const mostKeys = 50;

/** The schema of a request's `sort_by`: `[{field, direction}]`, by any field of a kind of records and dotted paths into it. */
export const sortSchema = (kind: Pick<RecordKind, 'fields' | 'pathRule'>) =>
  z.pipe(
    z.array(z.strictObject({ field: pathSchema(kind), direction: z.enum(['asc', 'desc']) })).check(
      z.refine((keys) => keys.length <= mostKeys, {
        error: `should be at most ${mostKeys} keys`,
        params: { type: 'too_long' },
      }),
    ),
    z.transform((keys): SortKey[] =>
      keys.map(({ field, direction }) => ({ path: toPath(field), descending: direction === 'desc' })),
    ),
  );

/** {@link querySchema}, for a field that may be missing or null. */
export const optionalQuery = (kind: RecordKind) => nullish(querySchema(kind));
