import * as z from 'zod/mini';
import { documentedList, nullish } from '../wire/schema.ts';
import type { Expression, RecordKind } from './model.ts';
import { toPath } from './model.ts';
import { parseQuery } from './parse.ts';
import { pathProblem } from './path-problem.ts';
import type { SortKey } from './sort.ts';

/** Which form of the query language a schema takes, and over which records. */
export interface Language {
  readonly part: 'Query' | 'Path';
  readonly kind: PathKind;
}

/** What must be known of records for paths into them. */
export type PathKind = Pick<RecordKind, 'name' | 'fields' | 'nested' | 'pathRule'>;

/** The schemas that take the query language, for the OpenAPI document. Parsing does not use it. */
export const languages = z.registry<Language>();

/** The schema of a request's `query`: `{"$expr": <operation>}` over records of a kind. */
export const querySchema = (kind: RecordKind) =>
  z
    .pipe(
      z.unknown(),
      z.transform((json, context): Expression => {
        const parsed = parseQuery(kind, json);
        if ('expression' in parsed) return parsed.expression;
        const { loc, msg, type } = parsed.problem;
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
        const problem = pathProblem(kind, value);
        if (problem)
          issues.push({ code: 'custom', message: problem.msg, params: { type: problem.type }, input: value });
      }),
    )
    .register(languages, { part: 'Path', kind });

/** More keys than this would decide nothing. */
const maxKeys = 50;

/**
 * The schema of a request's `sort_by`: `[{field, direction}]`, by fields of a kind of records and
 * dotted paths into them.
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

/** The {@link querySchema} of a field that may be missing or null. */
export const optionalQuery = (kind: RecordKind) => nullish(querySchema(kind));
