import type { JsonObject } from '../../../foundations/wire/index.ts';
import { matchesQuery, type Operand } from './expression.ts';
import { type FilterJson, matchesFilter } from './filter.ts';
import { pickColumn, valueAt } from './paths.ts';
import { compareTexts, compareValues, isMissing } from './values.ts';

/** One key of `sort_by`. */
export interface SortJson {
  readonly field: string;
  readonly direction: 'asc' | 'desc';
}

/**
 * A body of `/calls/stream_query`, as clients write it, as far as the reference goes: without refs
 * to expand, costs and feedback.
 */
export interface QueryJson {
  readonly project_id: string;
  readonly filter?: FilterJson | null | undefined;
  readonly query?: { readonly $expr: Operand } | null | undefined;
  readonly sort_by?: readonly SortJson[] | null | undefined;
  readonly limit?: number | null | undefined;
  readonly offset?: number | null | undefined;
  readonly columns?: readonly string[] | null | undefined;
  readonly include_storage_size?: boolean | null | undefined;
  readonly include_total_storage_size?: boolean | null | undefined;
}

/** A call with all its columns, and the bytes of JSON that it was received as. */
export interface KnownCall {
  readonly call: JsonObject;
  readonly bytes: number;
}

/**
 * Below, at or above 0 as the first call comes before, with or after the second by one key. Without
 * a value a call comes last, whatever the direction.
 */
const compareBy = ({ field, direction }: SortJson, one: JsonObject, other: JsonObject): number => {
  const a = valueAt(one, field);
  const b = valueAt(other, field);
  if (isMissing(a) || isMissing(b)) return Number(isMissing(a)) - Number(isMissing(b));
  return direction === 'asc' ? compareValues(a, b) : compareValues(b, a);
};

/** The default order: `started_at`, whose text orders as its time does, then `id`. */
const compareByDefault = (one: JsonObject, other: JsonObject): number =>
  compareTexts(String(one.started_at), String(other.started_at)) ||
  compareTexts(String(one.id), String(other.id));

const compareBySort =
  (keys: readonly SortJson[]) =>
  (one: JsonObject, other: JsonObject): number => {
    for (const key of keys) {
      const order = compareBy(key, one, other);
      if (order !== 0) return order;
    }
    return compareByDefault(one, other);
  };

/** The call's columns, and the sizes that are asked for. */
const withSizes = (body: QueryJson, { call, bytes }: KnownCall, calls: readonly KnownCall[]): JsonObject => {
  const ofTrace = calls.filter((other) => other.call.trace_id === call.trace_id);
  const total = ofTrace.reduce((sum, other) => sum + other.bytes, 0);
  return {
    ...call,
    ...(body.include_storage_size && { storage_size_bytes: bytes }),
    ...(body.include_total_storage_size && { total_storage_size_bytes: total }),
  };
};

const alwaysThere = ['id', 'project_id', 'op_name', 'trace_id', 'started_at'];
const sizes = ['storage_size_bytes', 'total_storage_size_bytes'];

/**
 * The columns that are asked for, in the order of a whole call, and those that are there unasked.
 */
const cutColumns = (columns: readonly string[], call: JsonObject): JsonObject => {
  const unknown = columns.find((path) => !Object.hasOwn(call, path.split('.', 1)[0] ?? ''));
  if (unknown !== undefined) throw new RangeError(`there is no column ${unknown}`);
  const kept = Object.keys(call).flatMap((column) => {
    if ([...alwaysThere, ...sizes].includes(column)) return [[column, call[column] ?? null] as const];
    const paths = columns.filter((path) => path === column || path.startsWith(`${column}.`));
    return paths.length > 0 ? [[column, pickColumn(call, column, paths)] as const] : [];
  });
  return Object.fromEntries(kept);
};

/**
 * Answers a query by looking at every call: what `/calls/stream_query` must answer, whatever it
 * reads and in whichever way it gets there.
 *
 * @param known every call of the service that has a start, in any order
 * @returns the calls as they are answered, in order
 * @throws RangeError where a path begins with no column, TypeError where an operator is unknown
 */
export const referenceAnswer = (body: QueryJson, known: readonly KnownCall[]): JsonObject[] => {
  const { filter, query, sort_by, limit, offset, columns } = body;
  const ofProject = known.filter(({ call }) => call.project_id === body.project_id);
  const first = offset ?? 0;
  return ofProject
    .map((call) => withSizes(body, call, ofProject))
    .filter((call) => !filter || matchesFilter(filter, call))
    .filter((call) => !query || matchesQuery(query, call))
    .sort(compareBySort(sort_by ?? []))
    .slice(first, typeof limit === 'number' ? first + limit : undefined)
    .map((call) => (columns ? cutColumns(columns, call) : call));
};
