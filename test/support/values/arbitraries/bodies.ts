import fc from 'fast-check';
import type { JsonObject } from '../../../../foundations/wire/index.ts';
import type { FilterJson, KnownCall, QueryJson, SortJson } from '../../reference/index.ts';
import { query } from './expressions.ts';
import { pathIn, pathsInto, type Seen, seenIn } from './seen.ts';

/** The filter's lists and the columns that they are about. */
const filterColumns = {
  op_names: 'op_name',
  input_refs: 'inputs',
  output_refs: 'output',
  parent_ids: 'parent_id',
  trace_ids: 'trace_id',
  call_ids: 'id',
  thread_ids: 'thread_id',
  turn_ids: 'turn_id',
  svc_user_ids: 'svc_user_id',
  svc_run_ids: 'svc_run_id',
} as const;

/** The texts that a filter can ask for in a column; of inputs and outputs those that are refs. */
const textsIn = (calls: readonly JsonObject[], column: string): string[] => {
  const all = calls.flatMap((call) => pathsInto(column, call[column] ?? null));
  const isAsked = (text: string) => !['inputs', 'output'].includes(column) || text.startsWith('svc:///');
  return all.flatMap(([, at]) => (typeof at === 'string' && isAsked(at) ? [at] : []));
};

/**
 * None to three texts. Most are given ones and what asks for all their versions. A few are in no
 * call, and some look like patterns.
 */
const arbitraryList = (texts: readonly string[]): fc.Arbitrary<string[]> => {
  const versions = texts.filter((text) => text.includes(':')).map((text) => text.replace(/[^:]*$/, '*'));
  const text = fc.oneof(
    { arbitrary: fc.constantFrom('nobody', ...texts, ...texts), weight: 8 },
    { arbitrary: fc.constantFrom('nobody:*', ...versions), weight: 3 },
    { arbitrary: fc.constantFrom('', ':*', '*'), weight: 1 },
  );
  return fc.oneof(
    { arbitrary: fc.array(text, { minLength: 1, maxLength: 3, size: 'max' }), weight: 15 },
    { arbitrary: fc.constant<string[]>([]), weight: 1 },
  );
};

/**
 * The `filter` of a body: one or two fields, since more leave hardly a call. Lists that have
 * nothing to ask for stay away.
 */
const filter = (calls: readonly JsonObject[]): fc.Arbitrary<FilterJson> => {
  const lists = Object.entries(filterColumns).flatMap(([name, column]) => {
    const texts = textsIn(calls, column);
    if (texts.length === 0) return [];
    return [fc.option(arbitraryList(texts), { nil: null, freq: 15 }).map((list) => [name, list] as const)];
  });
  const rootsOnly = fc.boolean().map((only) => ['trace_roots_only', only] as const);
  return fc
    .uniqueArray(fc.oneof(...lists, rootsOnly), { minLength: 1, maxLength: 2, selector: ([name]) => name })
    .map((members) => Object.fromEntries(members) as FilterJson);
};

const direction = fc.constantFrom('asc' as const, 'desc' as const);

/** The `sort_by` of a body. */
const sortBy = (seen: Seen): fc.Arbitrary<SortJson[]> =>
  fc.array(fc.record({ field: pathIn(seen), direction }), { maxLength: 3, size: 'max' });

/**
 * A member of a body in so many of ten bodies; in the others it is null or left out, which mean the
 * same.
 */
const inSome = <T>(tenths: number, member: fc.Arbitrary<T>): fc.Arbitrary<T | null | undefined> =>
  fc.oneof(
    { arbitrary: fc.constantFrom(null, undefined), weight: 10 - tenths },
    { arbitrary: member, weight: tenths },
  );

/**
 * Bodies of `/calls/stream_query` about a project's calls, mostly made of paths and values that
 * occur in them.
 *
 * @param known the calls of the project, one or more
 */
export const bodiesAbout = (known: readonly KnownCall[]): fc.Arbitrary<QueryJson> => {
  const calls = known.map(({ call }) => call);
  const seen = seenIn(calls);
  const columns = fc.oneof(
    fc.array(pathIn(seen), { maxLength: 1 }),
    fc.array(pathIn(seen), { maxLength: 4, size: 'max' }),
  );
  // Conditions that are all made of the same call have a call that meets them.
  const asked = fc.oneof(fc.constant(calls), fc.constantFrom(...calls.map((call) => [call])));
  return asked.chain((about) =>
    fc.record({
      project_id: fc.constant(String(calls[0]?.project_id)),
      // Filter, query, limit and offset together leave hardly a call, so each is often left out.
      filter: inSome(4, filter(about)),
      query: inSome(8, query(seenIn(about))),
      sort_by: inSome(7, sortBy(seen)),
      limit: inSome(4, fc.nat(calls.length + 1)),
      offset: inSome(3, fc.nat(4)),
      columns: inSome(5, columns),
      include_storage_size: inSome(5, fc.boolean()),
      include_total_storage_size: inSome(5, fc.boolean()),
    }),
  );
};
