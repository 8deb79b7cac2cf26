import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../../core/wire/index.ts';
import type { FilterJson, KnownCall, QueryJson, SortJson } from '../reference/index.ts';
import { query } from './expressions.ts';
import { pathIn, pathsInto, type Seen, seenIn } from './seen.ts';

/** Values of a column, some that no call has, and what an op or ref is asked for by in all its versions. */
const textsOf = (found: readonly JsonValue[]): fc.Arbitrary<string[]> => {
  const texts = found.filter((text) => typeof text === 'string');
  const versions = texts
    .filter((text) => text.includes(':'))
    .map((text) => `${text.slice(0, text.lastIndexOf(':'))}:*`);
  return fc.array(fc.constantFrom('nobody', 'x:*', ...texts, ...texts, ...versions), {
    maxLength: 3,
    size: 'max',
  });
};

const filterColumns = {
  op_names: 'op_name',
  parent_ids: 'parent_id',
  trace_ids: 'trace_id',
  call_ids: 'id',
  thread_ids: 'thread_id',
  turn_ids: 'turn_id',
  svc_user_ids: 'svc_user_id',
  svc_run_ids: 'svc_run_id',
} as const;

/** The `filter` of a body: mostly one or two fields, since more leave hardly a call. */
const filter = (calls: readonly JsonObject[]): fc.Arbitrary<FilterJson> => {
  const under = (column: string) =>
    calls.flatMap((call) => pathsInto('', call[column] ?? null).map(([, at]) => at));
  const refs = (column: string) =>
    textsOf(under(column).filter((at) => typeof at === 'string' && at.startsWith('svc:///')));
  const fields: fc.Arbitrary<[string, string[] | boolean | null]>[] = [
    ...Object.entries(filterColumns).map(([name, column]) =>
      fc
        .oneof(textsOf(calls.map((call) => call[column] ?? null)), fc.constant(null))
        .map((texts): [string, string[] | null] => [name, texts]),
    ),
    refs('inputs').map((texts) => ['input_refs', texts]),
    refs('output').map((texts) => ['output_refs', texts]),
    fc.boolean().map((only) => ['trace_roots_only', only]),
  ];
  return fc
    .uniqueArray(fc.oneof(...fields), { maxLength: 2, size: 'max', selector: ([name]) => name })
    .map((members) => Object.fromEntries(members) as FilterJson);
};

const direction = fc.constantFrom('asc' as const, 'desc' as const);

/** The `sort_by` of a body. */
const sortBy = (seen: Seen): fc.Arbitrary<SortJson[]> =>
  fc.array(fc.record({ field: pathIn(seen), direction }), { maxLength: 3, size: 'max' });

/** By time alone, or by time and then in the order that ties are in anyway. */
const sortByTime: fc.Arbitrary<SortJson[]> = fc
  .tuple(direction, fc.boolean())
  .map(([towards, withId]) => [
    { field: 'started_at', direction: towards },
    ...(withId ? [{ field: 'id', direction: 'asc' as const }] : []),
  ]);

/** What a body can be left without, for a service that does not take it. */
export type Part = 'query' | 'sort_by' | 'include_storage_size' | 'include_total_storage_size';

/**
 * Bodies of `/calls/stream_query` about a project's calls, mostly made of paths and values that occur in them.
 *
 * @param known the calls of the project, one or more
 * @param without the parts that are left out; of `sort_by` the order of time remains
 */
export const bodiesAbout = (
  known: readonly KnownCall[],
  without: readonly Part[] = [],
): fc.Arbitrary<QueryJson> => {
  const calls = known.map(({ call }) => call);
  const seen = seenIn(calls);
  const number = fc.option(fc.nat(calls.length + 1), { nil: null });
  const parts = {
    filter: fc.option(filter(calls), { nil: null, freq: 8 }),
    query: fc.option(query(seen), { nil: null, freq: 12 }),
    sort_by: fc.option(without.includes('sort_by') ? sortByTime : sortBy(seen), { nil: null, freq: 8 }),
    limit: number,
    offset: number,
    columns: fc.option(fc.array(pathIn(seen), { maxLength: 4, size: 'max' }), { nil: null }),
    include_storage_size: fc.boolean(),
    include_total_storage_size: fc.boolean(),
  };
  const left = Object.entries(parts).filter(
    ([part]) => part === 'sort_by' || !without.includes(part as Part),
  );
  const project_id = fc.constant(calls[0]?.project_id);
  const model: Record<string, fc.Arbitrary<unknown>> = { project_id, ...Object.fromEntries(left) };
  return fc.record(model, {
    requiredKeys: ['project_id'],
  }) as fc.Arbitrary<unknown> as fc.Arbitrary<QueryJson>;
};
