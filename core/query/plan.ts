import type { TimeBounds } from '../calls/index.ts';
import {
  conjuncts,
  describe,
  type Expression,
  type FieldPath,
  intersect,
  pathsIn,
} from '../expression/index.ts';
import { isId, type WireNames } from '../wire/index.ts';
import { projectionOf } from './columns.ts';
import { callKind, type Need, needsOf } from './fields.ts';
import { type Pushed, pushDown } from './pushdown.ts';
import type { CallsFilter, CallsQuery } from './request.ts';

/** Where a query's calls are looked for. */
export type Source =
  /** Nowhere: an empty list, bounds that leave no time, or the limit is 0. */
  | { readonly kind: 'nothing' }
  /** By their ids, in the table itself. */
  | { readonly kind: 'calls'; readonly ids: readonly string[] }
  /** In `by_trace`. */
  | { readonly kind: 'traces'; readonly ids: readonly string[] }
  /** In `by_thread`. */
  | { readonly kind: 'threads'; readonly ids: readonly string[] }
  /** In the traces of these parents, or everywhere while one of them is not known. */
  | { readonly kind: 'parents'; readonly ids: readonly string[] }
  /** In the threads and traces of these turns, or everywhere while one of them is not known. */
  | { readonly kind: 'turns'; readonly ids: readonly string[] }
  /** In `by_time`, the whole project. */
  | { readonly kind: 'project' };

/** How a query is going to be answered: plain data, logged with the request. */
export interface Plan {
  readonly source: Source;
  /** The span of `started_at` that is looked at, inclusive, in microseconds. */
  readonly bounds: TimeBounds;
  /** Whether the source is read from its latest call on. */
  readonly descending: boolean;
  /** How the order comes about: as the source is read, or by sorting what has been found. */
  readonly order: 'free' | 'sort';
  /**
   * What is decided on headers alone: the filter's fields, and expressions without their literals.
   */
  readonly onHeaders: readonly string[];
  /** What needs more than the header. */
  readonly later: readonly string[];
  /** What is fetched of each call that passes on its header, to filter and to sort it. */
  readonly needed: readonly Need[];
  /** What is fetched of each call that is answered. */
  readonly answered: readonly Need[];
  readonly offset: number;
  readonly limit: number | null;
  /**
   * How many calls are enough to look at, offset included: everything that is read counts, since
   * nothing drops any; null where that is not known.
   */
  readonly enough: number | null;
}

/** A plan, and the expressions that it decides when. */
export interface Planned {
  readonly plan: Plan;
  readonly onHeaders: readonly Expression[];
  readonly later: readonly Expression[];
}

/**
 * More ids than this are not looked up one by one: the whole project is read, and they are a filter
 * like any other.
 */
export const maxIds = { calls: 1000, others: 200 } as const;

const payloadFields: readonly (keyof CallsFilter)[] = ['inputRefs', 'outputRefs'];

const isSet = (filter: CallsFilter, field: keyof CallsFilter): boolean =>
  filter[field] !== null && filter[field] !== false;

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/**
 * Each id once, where there are few enough of them to look each up. What can be no id is none of
 * any call.
 */
const few = (ids: readonly string[] | null, most: number): string[] | undefined => {
  if (ids === null) return undefined;
  const unique = [...new Set(ids)].filter(isId);
  return unique.length <= most ? unique : undefined;
};

/** The narrowest place that holds every call which the query can let through. */
const chooseSource = ({ filter, limit }: CallsQuery, { ids, bounds }: Pushed): Source => {
  const noTime = bounds.from !== undefined && bounds.to !== undefined && bounds.from > bounds.to;
  if (limit === 0 || noTime || Object.values(filter).some(isEmptyList)) return { kind: 'nothing' };
  const pushed = (field: Parameters<typeof ids.get>[0]) => ids.get(field) ?? null;
  const candidates = [
    { kind: 'calls', ids: few(intersect(filter.callIds, pushed('id')), maxIds.calls) },
    { kind: 'traces', ids: few(intersect(filter.traceIds, pushed('trace_id')), maxIds.others) },
    { kind: 'parents', ids: few(intersect(filter.parentIds, pushed('parent_id')), maxIds.others) },
    { kind: 'turns', ids: few(intersect(filter.turnIds, pushed('turn_id')), maxIds.others) },
    { kind: 'threads', ids: few(intersect(filter.threadIds, pushed('thread_id')), maxIds.others) },
  ] as const;
  if (candidates.some((candidate) => candidate.ids?.length === 0)) return { kind: 'nothing' };
  for (const { kind, ids: found } of candidates) if (found) return { kind, ids: found };
  return { kind: 'project' };
};

/**
 * Whether the source's own order is the one that was asked for: it goes by `started_at` in either
 * direction, and what falls together there can be put in order by what the headers say. Keys behind
 * `id` decide nothing.
 */
const isFree = ({ sort: [first, second] }: CallsQuery): boolean =>
  first === undefined ||
  (first.path.text === 'started_at' &&
    (second === undefined || (second.path.text === 'id' && !second.descending)));

const unique = (needs: readonly Need[]): Need[] => [...new Set(needs)];

/** Plans a query. Pure: what it takes to answer is known before anything is read. */
export const plan = (names: WireNames, query: CallsQuery): Planned => {
  const { filter, where, includes, expand } = query;
  const needs = (paths: readonly FieldPath[], expanded = expand): Need[] =>
    unique(paths.flatMap((path) => needsOf(names, expanded, includes, path)));
  const expressions = where === null ? [] : conjuncts(where);
  const needsOfExpression = (expression: Expression) => needs(pathsIn(expression));
  const pushed = pushDown(callKind(names, includes), expressions);
  const source = chooseSource(query, pushed);
  const later = expressions.filter((expression) => needsOfExpression(expression).length > 0);
  const onHeaders = expressions.filter((expression) => !later.includes(expression));
  const fields = (Object.keys(filter) as (keyof CallsFilter)[]).filter((field) => isSet(filter, field));
  const order = isFree(query) ? 'free' : 'sort';
  // Bounds are kept exactly by what is read, except of calls that are looked up by their ids.
  const isBounded =
    source.kind !== 'calls' && onHeaders.every((expression) => pushed.inBounds.has(expression));
  const dropsNone = fields.length === 0 && later.length === 0 && isBounded && order === 'free';
  return {
    plan: {
      source,
      bounds: pushed.bounds,
      descending: order === 'free' && query.sort[0]?.descending === true,
      order,
      onHeaders: [...fields.filter((field) => !payloadFields.includes(field)), ...onHeaders.map(describe)],
      later: [...fields.filter((field) => payloadFields.includes(field)), ...later.map(describe)],
      needed: unique([
        ...(fields.some((field) => payloadFields.includes(field)) ? (['payload'] as const) : []),
        ...later.flatMap(needsOfExpression),
        ...(order === 'sort' ? needs(query.sort.map(({ path }) => path)) : []),
      ]),
      answered: needs(
        projectionOf(names, query).flatMap(({ paths }) => paths),
        query.returnExpanded ? expand : [],
      ),
      offset: query.offset,
      limit: query.limit,
      enough: dropsNone && query.limit !== null ? query.offset + query.limit : null,
    },
    onHeaders,
    later,
  };
};

/** Where each kind of source lies. */
const indexes: Readonly<Record<Source['kind'], string | null>> = {
  nothing: null,
  calls: 'table',
  traces: 'by_trace',
  parents: 'by_trace',
  threads: 'by_thread',
  turns: 'by_thread, by_trace',
  project: 'by_time',
};

/**
 * A plan in a form to be logged: with the index that is read, and with what is looked up counted,
 * not listed.
 */
export const planSummary = ({ source, ...rest }: Plan): Readonly<Record<string, unknown>> => ({
  source: 'ids' in source ? `${source.ids.length} ${source.kind}` : source.kind,
  index: indexes[source.kind],
  ...rest,
});
