import { isPayloadColumn } from '../calls/index.ts';
import { isId } from '../wire/index.ts';
import { rootOf } from './columns.ts';
import type { CallsFilter, CallsQuery, Direction } from './request.ts';

/** Where a query's calls are looked for. */
export type Source =
  /** Nowhere: the filter has an empty list, or the limit is 0. */
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
  readonly direction: Direction;
  /** The filter's fields that are decided on headers, before any payload is read. */
  readonly onHeaders: readonly (keyof CallsFilter)[];
  /** The filter's fields that need the payload. */
  readonly onPayloads: readonly (keyof CallsFilter)[];
  /** Whether the payloads of the calls that are answered are read. */
  readonly readsPayloads: boolean;
  readonly offset: number;
  readonly limit: number | null;
  /**
   * How many calls are enough to look at, offset included: everything that is read counts, since no filter drops any; null where that
   * is not known.
   */
  readonly enough: number | null;
}

/** More ids than this are not looked up one by one: the whole project is read, and they are a filter like any other. */
export const mostIds = { calls: 1000, others: 200 } as const;

const payloadFields: readonly (keyof CallsFilter)[] = ['inputRefs', 'outputRefs'];

const isSet = (filter: CallsFilter, field: keyof CallsFilter): boolean =>
  filter[field] !== null && filter[field] !== false;

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** Each id once, where there are few enough of them to look each up. What can be no id is none of any call. */
const few = (ids: readonly string[] | null, most: number): string[] | undefined => {
  if (ids === null) return undefined;
  const unique = [...new Set(ids)].filter(isId);
  return unique.length <= most ? unique : undefined;
};

/** The narrowest place that holds every call which the filter can let through. */
const chooseSource = (query: CallsQuery): Source => {
  const { filter } = query;
  if (query.limit === 0 || Object.values(filter).some(isEmptyList)) return { kind: 'nothing' };
  const candidates = [
    { kind: 'calls', ids: few(filter.callIds, mostIds.calls) },
    { kind: 'traces', ids: few(filter.traceIds, mostIds.others) },
    { kind: 'parents', ids: few(filter.parentIds, mostIds.others) },
    { kind: 'turns', ids: few(filter.turnIds, mostIds.others) },
    { kind: 'threads', ids: few(filter.threadIds, mostIds.others) },
  ] as const;
  if (candidates.some(({ ids }) => ids?.length === 0)) return { kind: 'nothing' };
  for (const { kind, ids } of candidates) if (ids) return { kind, ids };
  return { kind: 'project' };
};

const wantsPayload = (columns: readonly string[] | null): boolean =>
  columns === null || columns.some((column) => isPayloadColumn(rootOf(column)));

/** Plans a query. Pure: what it takes to answer is known before anything is read. */
export const plan = (query: CallsQuery): Plan => {
  const fields = (Object.keys(query.filter) as (keyof CallsFilter)[]).filter((field) =>
    isSet(query.filter, field),
  );
  const onPayloads = fields.filter((field) => payloadFields.includes(field));
  return {
    source: chooseSource(query),
    direction: query.direction,
    onHeaders: fields.filter((field) => !payloadFields.includes(field)),
    onPayloads,
    readsPayloads: onPayloads.length > 0 || wantsPayload(query.columns),
    offset: query.offset,
    limit: query.limit,
    enough: fields.length === 0 && query.limit !== null ? query.offset + query.limit : null,
  };
};

/** A plan in a form to be logged: what is looked up is counted, not listed. */
export const planSummary = ({ source, ...rest }: Plan): Readonly<Record<string, unknown>> => ({
  source: 'ids' in source ? `${source.ids.length} ${source.kind}` : source.kind,
  ...rest,
});
