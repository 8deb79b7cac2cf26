import * as z from 'zod/mini';
import {
  optionalQuery,
  pathSchema,
  type RecordKind,
  sortSchema,
  toPath,
} from '../../core/foundations/expression/index.ts';
import { isJsonObject, type WireNames } from '../../core/foundations/wire/index.ts';
import {
  count,
  documented,
  documentedList,
  fieldOf,
  id,
  namedFields,
  nullish,
  projectId,
} from '../../core/foundations/wire/schema.ts';
import { callKind, feedbackField } from '../../core/questions/query/fields.ts';
import type { CallRead } from '../../core/questions/query/query.ts';
import {
  type CallsFilter,
  type CallsQuery,
  type CallsSelection,
  everyCall,
  type Includes,
  noIncludes,
} from '../../core/questions/query/request.ts';

const texts = nullish(z.array(z.string()));

/** The filter of calls. */
export const filterSchema = (names: WireNames) =>
  z
    .pipe(
      z.strictObject({
        op_names: texts,
        input_refs: texts,
        output_refs: texts,
        parent_ids: texts,
        trace_ids: texts,
        call_ids: texts,
        thread_ids: texts,
        turn_ids: texts,
        trace_roots_only: nullish(z.boolean()),
        ...namedFields({ [names.userIds]: texts, [names.runIds]: texts }),
      }),
      z.transform(
        (filter): CallsFilter => ({
          opNames: filter.op_names ?? null,
          inputRefs: filter.input_refs ?? null,
          outputRefs: filter.output_refs ?? null,
          parentIds: filter.parent_ids ?? null,
          traceIds: filter.trace_ids ?? null,
          callIds: filter.call_ids ?? null,
          threadIds: filter.thread_ids ?? null,
          turnIds: filter.turn_ids ?? null,
          traceRootsOnly: filter.trace_roots_only ?? false,
          userIds: fieldOf(filter, names.userIds, texts) ?? null,
          runIds: fieldOf(filter, names.runIds, texts) ?? null,
        }),
      ),
    )
    .register(documented, { name: 'CallsFilter' });

const flag = nullish(z.boolean());

const includesSchema = {
  include_costs: flag,
  include_feedback: flag,
  include_storage_size: flag,
  include_total_storage_size: flag,
};

/**
 * The extras that a body asks for. They decide which columns there are, so they are read before its
 * other fields are checked.
 */
const includesOf = (body: Partial<Record<keyof typeof includesSchema, unknown>>): Includes => ({
  costs: body.include_costs === true,
  feedback: body.include_feedback === true,
  storageSize: body.include_storage_size === true,
  totalStorageSize: body.include_total_storage_size === true,
});

const everyInclude: Includes = { costs: true, feedback: true, storageSize: true, totalStorageSize: true };

const maxColumns = 500;

const pathsSchema = (kind: RecordKind) =>
  documentedList(
    z.array(pathSchema(kind)).check(
      z.refine((paths) => paths.length <= maxColumns, {
        error: `should be at most ${maxColumns} paths`,
        params: { type: 'too_long' },
      }),
      // Queries may name it in Weave's dialect.
      z.refine((paths) => paths.every((path) => toPath(path).field !== feedbackField), {
        error: 'feedback is no column: ask for it with include_feedback: true',
        params: { type: 'value_error' },
      }),
    ),
    maxColumns,
  );

/** The body of `/calls/stream_query`, with the columns of a kind. */
const queryBody = (names: WireNames, includes: Includes) => {
  const kind = callKind(names, includes);
  return z.pipe(
    z.strictObject({
      project_id: projectId,
      filter: nullish(filterSchema(names)),
      limit: nullish(count),
      offset: nullish(count),
      sort_by: nullish(sortSchema(kind)),
      query: optionalQuery(kind),
      ...includesSchema,
      columns: nullish(pathsSchema(kind)),
      expand_columns: nullish(pathsSchema(kind)),
      ...(names.dialect === 'weave' && { include_usernames: flag, latest_only: flag }),
      return_expanded_column_values: flag,
    }),
    z.transform(
      (body): CallsQuery => ({
        projectId: body.project_id,
        filter: body.filter ?? everyCall,
        where: body.query ?? null,
        limit: body.limit ?? null,
        offset: body.offset ?? 0,
        sort: body.sort_by ?? [],
        includes,
        columns: body.columns ?? null,
        expand: (body.expand_columns ?? []).map(toPath),
        returnExpanded: body.return_expanded_column_values ?? true,
        ...('include_usernames' in body && body.include_usernames === true && { usernames: true }),
      }),
    ),
  );
};

const statsBody = (names: WireNames, includes: Includes) => {
  const kind = callKind(names, includes);
  const paths = nullish(pathsSchema(kind));
  return z.pipe(
    z.strictObject({
      project_id: projectId,
      filter: nullish(filterSchema(names)),
      query: optionalQuery(kind),
      limit: nullish(count),
      include_total_storage_size: flag,
      ...(names.dialect === 'weave' && namedFields({ expand_columns: paths })),
    }),
    z.transform((body) => ({
      selection: {
        projectId: body.project_id,
        filter: body.filter ?? everyCall,
        where: body.query ?? null,
        limit: body.limit ?? null,
        includes: noIncludes,
        expand: (fieldOf(body, 'expand_columns', paths) ?? []).map(toPath),
      } satisfies CallsSelection,
      withBytes: body.include_total_storage_size ?? false,
    })),
  );
};

/**
 * A schema that depends on what a body includes. It is made once for each of the few combinations.
 */
const byIncludes = <T>(make: (includes: Includes) => z.ZodMiniType<T>): z.ZodMiniType<T> => {
  const made = new Map<string, z.ZodMiniType<T>>();
  const schema = z.pipe(
    z.unknown(),
    z.transform((body, context): T => {
      const includes = includesOf(isJsonObject(body) ? body : {});
      const key = JSON.stringify(includes);
      const schema = made.get(key) ?? make(includes);
      made.set(key, schema);
      const result = schema.safeParse(body);
      if (result.success) return result.data;
      for (const issue of result.error.issues) context.issues.push({ ...issue, input: body } as never);
      return z.NEVER;
    }),
  );
  return schema.register(documented, { like: () => make(everyInclude) });
};

/** The body of `/calls/stream_query`. */
export const callsQueryBody = (names: WireNames): z.ZodMiniType<CallsQuery> =>
  byIncludes((includes) => queryBody(names, includes));

/** The body of `/calls/query_stats`. */
export const callsQueryStatsBody = (names: WireNames) => statsBody(names, noIncludes);

/** The body of `/call/read`: `{project_id, id, include_…}`. */
export const callReadBody: z.ZodMiniType<CallRead> = z.pipe(
  z.strictObject({ project_id: projectId, id, ...includesSchema }),
  z.transform((body) => ({ projectId: body.project_id, id: body.id, includes: includesOf(body) })),
);
