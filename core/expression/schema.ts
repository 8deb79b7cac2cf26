import * as z from 'zod/mini';
import { documentedList, nullish } from '../wire/schema.ts';
import type { Expression, RecordKind } from './model.ts';
import { toPath } from './model.ts';
import { parseQuery, pathFault } from './parse.ts';
import type { SortKey } from './sort.ts';

/** What of the query language a schema takes, and over which records. */
export interface Language {
  readonly part: 'Query' | 'Path';
  readonly kind: PathKind;
}

/** What records must be known by for paths into them. */
export type PathKind = Pick<RecordKind, 'name' | 'fields' | 'pathRule'>;

/**
 * The schemas that take something of the query language, for the OpenAPI document; parsing never
 * looks at it.
 */
export const languages = z.registry<Language>();

/** The schema of a request's `query`: `{"$expr": <operation>}` over records of a kind. */
export const querySchema = (kind: RecordKind) =>
  z
    .pipe(
      z.unknown(),
      z.transform((json, context): Expression => {
        const parsed = parseQuery(kind, json);
        if ('expression' in parsed) return parsed.expression;
        const { loc, msg, type } = parsed.fault;
        context.issues.push({ code: 'custom', message: msg, params: { type }, path: [...loc], input: json });
        return z.NEVER;
      }),
    )
    .register(languages, { part: 'Query', kind });

/** A dotted path into records of a kind. */
export const pathSchema = (kind: PathKind) =>
  z
    .string()
    .check(
      z.check(({ value, issues }) => {
        const fault = pathFault(kind, value);
        if (fault)
          issues.push({ code: 'custom', message: fault.msg, params: { type: fault.type }, input: value });
      }),
    )
    .register(languages, { part: 'Path', kind });

/** More keys than this decide nothing any more. */
const maxKeys = 50;

/**
 * The schema of a request's `sort_by`: `[{field, direction}]`, by any field of a kind of records
 * and dotted paths into it.
 */
export const sortSchema = (kind: PathKind) =>
  z.pipe(
    documentedList(
      z.array(z.strictObject({ field: pathSchema(kind), direction: z.enum(['asc', 'desc']) })).check(
        z.refine((keys) => keys.length <= maxKeys, {
          error: `should be at most ${maxKeys} keys`,
          params: { type: 'too_long' },
        }),
      ),
      maxKeys,
    ),
    z.transform((keys): SortKey[] =>
      keys.map(({ field, direction }) => ({ path: toPath(field), descending: direction === 'desc' })),
    ),
  );

/** {@link querySchema}, for a field that may be missing or null. */
export const optionalQuery = (kind: RecordKind) => nullish(querySchema(kind));
