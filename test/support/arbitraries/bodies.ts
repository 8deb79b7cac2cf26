import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../../core/wire/index.ts';
import type { FilterJson, KnownCall, QueryJson, SortJson } from '../reference/index.ts';
import { query } from './expressions.ts';
import { pathIn, pathsInto, type Seen, seenIn } from './seen.ts';

/** One to three values of a column or none, a few that no call has, and what an op or ref is asked for by in all its versions. */
const textsOf = (found: readonly JsonValue[]): fc.Arbitrary<readonly string[]> => {
  const texts = found.filter((text) => typeof text === 'string');
  const versions = texts.filter((text) => text.includes(':')).map((text) => text.replace(/[^:]*$/, '*'));
  const text = fc.oneof(
    { arbitrary: fc.constantFrom('nobody', ...texts), weight: 9 },
    { arbitrary: fc.constantFrom('x:*', ...versions), weight: 3 },
    { arbitrary: fc.constantFrom('nobody', '', ':*', '*'), weight: 1 },
  );
  return fc.oneof(
    { arbitrary: fc.array(text, { minLength: 1, maxLength: 3, size: 'max' }), weight: 15 },
    { arbitrary: fc.constant([]), weight: 1 },
  );
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
  const fields: fc.Arbitrary<[string, readonly string[] | boolean | null]>[] = [
    ...Object.entries(filterColumns).map(([name, column]) =>
      fc
        .option(textsOf(calls.map((call) => call[column] ?? null)), { nil: null, freq: 15 })
        .map((texts): [string, readonly string[] | null] => [name, texts]),
    ),
    refs('inputs').map((texts) => ['input_refs', texts]),
    refs('output').map((texts) => ['output_refs', texts]),
    fc.boolean().map((only) => ['trace_roots_only', only]),
  ];
  return fc
    .uniqueArray(fc.oneof(...fields), { minLength: 1, maxLength: 2, size: 'max', selector: ([name]) => name })
    .map((members) => Object.fromEntries(members) as FilterJson);
};

const direction = fc.constantFrom('asc' as const, 'desc' as const);

/** The `sort_by` of a body. */
const sortBy = (seen: Seen): fc.Arbitrary<SortJson[]> =>
  fc.array(fc.record({ field: pathIn(seen), direction }), { maxLength: 3, size: 'max' });

/** A member of a body in so many of ten bodies; in the others it is null or left out, which mean the same. */
const inSome = <T>(tenths: number, member: fc.Arbitrary<T>): fc.Arbitrary<T | null | undefined> =>
  fc.oneof(
    { arbitrary: fc.constantFrom(null, undefined), weight: 10 - tenths },
    { arbitrary: member, weight: tenths },
  );

/**
 * Bodies of `/calls/stream_query` about a project's calls, mostly made of paths and values that occur in them.
 *
 * @param known the calls of the project, one or more
 */
export const bodiesAbout = (known: readonly KnownCall[]): fc.Arbitrary<QueryJson> => {
  const calls = known.map(({ call }) => call);
  const seen = seenIn(calls);
  // Filter, query, limit and offset together leave hardly a call, so each is often left out.
  return fc.record({
    project_id: fc.constant(String(calls[0]?.project_id)),
    filter: inSome(4, filter(calls)),
    query: inSome(8, query(seen)),
    sort_by: inSome(7, sortBy(seen)),
    limit: inSome(4, fc.nat(calls.length + 1)),
    offset: inSome(4, fc.nat(5)),
    columns: inSome(
      5,
      fc.oneof(
        fc.array(pathIn(seen), { maxLength: 1 }),
        fc.array(pathIn(seen), { maxLength: 4, size: 'max' }),
      ),
    ),
    include_storage_size: inSome(5, fc.boolean()),
    include_total_storage_size: inSome(5, fc.boolean()),
  });
};
