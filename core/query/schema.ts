import * as z from 'zod/mini';
import { callColumns } from '../calls/index.ts';
import type { WireNames } from '../wire/index.ts';
import { count, fieldOf, namedFields, nullish, projectId } from '../wire/schema.ts';
import { rootOf } from './columns.ts';
import { type CallsFilter, type CallsQuery, type Direction, everyCall } from './request.ts';

const texts = nullish(z.array(z.string()));

const filterSchema = (names: WireNames) =>
  z.pipe(
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
  );

const unsupported = (what: string) => ({
  error: `${what} is not supported yet`,
  params: { type: 'not_supported' },
});

/** A flag that may only be off. */
const off = (what: string) => nullish(z.boolean().check(z.refine((flag) => !flag, unsupported(what))));

interface SortKey {
  readonly field: string;
  readonly direction: 'asc' | 'desc';
}

/** By `started_at`, and then by nothing or by `id` ascending, which ties fall back to anyway. */
const isSupportedSort = ([first, second, ...rest]: readonly SortKey[]): boolean =>
  first === undefined ||
  (first.field === 'started_at' &&
    (second === undefined || (second.field === 'id' && second.direction === 'asc')) &&
    rest.length === 0);

const sortSchema = z
  .array(z.strictObject({ field: z.string(), direction: z.enum(['asc', 'desc']) }))
  .check(z.refine(isSupportedSort, unsupported('sorting by anything but started_at')));

/** Finding a path in a value takes time with the square of its length, once for each call. */
const longestPath = 512;
const mostColumns = 500;

const columnsSchema = (names: WireNames) => {
  const known = callColumns(names);
  const error = `there is no such column; the columns are ${known.join(', ')}, and dotted paths into them`;
  const column = z.string().check(
    z.refine((path) => path.length <= longestPath, {
      error: `should be at most ${longestPath} characters`,
      params: { type: 'string_too_long' },
    }),
    z.refine((path) => known.includes(rootOf(path)), { error, params: { type: 'value_error' } }),
  );
  return z.array(column).check(
    z.refine((columns) => columns.length <= mostColumns, {
      error: `should be at most ${mostColumns} columns`,
      params: { type: 'too_long' },
    }),
  );
};

/** The body of `/calls/stream_query`. */
export const callsQueryBody = (names: WireNames) =>
  z.pipe(
    z.strictObject({
      project_id: projectId,
      filter: nullish(filterSchema(names)),
      limit: nullish(count),
      offset: nullish(count),
      sort_by: nullish(sortSchema),
      query: nullish(z.custom<never>(() => false, unsupported('query'))),
      include_costs: off('include_costs'),
      include_feedback: off('include_feedback'),
      include_storage_size: off('include_storage_size'),
      include_total_storage_size: off('include_total_storage_size'),
      columns: nullish(columnsSchema(names)),
      expand_columns: nullish(
        z.array(z.string()).check(z.refine((list) => list.length === 0, unsupported('expand_columns'))),
      ),
      return_expanded_column_values: nullish(z.boolean()),
    }),
    z.transform((body): CallsQuery => {
      const direction: Direction = body.sort_by?.[0]?.direction === 'desc' ? 'descending' : 'ascending';
      return {
        projectId: body.project_id,
        filter: body.filter ?? everyCall,
        limit: body.limit ?? null,
        offset: body.offset ?? 0,
        direction,
        columns: body.columns ?? null,
      };
    }),
  );
