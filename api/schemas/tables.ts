import * as z from 'zod/mini';
import { toPath } from '../../core/foundations/expression/tree.ts';
import {
  count,
  documented,
  freeObject,
  integer,
  listOf,
  nullish,
  projectId,
  rule,
} from '../../core/foundations/wire/schema.ts';
import { tableDigestPattern } from '../../core/foundations/wire/weave-digest.ts';
import type { TableQuery } from '../../core/records/tables/query.ts';
import type { TableChange } from '../../core/records/tables/table.ts';
import { contentDigest } from './files.ts';

const tableDigest = z
  .string()
  .check(
    z.refine(
      (text) => tableDigestPattern.test(text),
      rule('should be the digest of a table: 64 hex digits, as it was answered'),
    ),
  )
  .register(documented, { name: 'TableDigest', says: { pattern: tableDigestPattern.source } });

/** The body of `/table/create`: `{table: {project_id, rows}}`. */
export const tableCreateBody = z.strictObject({
  table: z.strictObject({
    project_id: projectId,
    rows: z.array(freeObject),
    expected_digest: nullish(z.string()),
  }),
});

/** The body of `/table/create_from_digests`: `{project_id, row_digests}`. */
export const tableFromDigestsBody = z.strictObject({
  project_id: projectId,
  row_digests: z.array(contentDigest),
  expected_digest: nullish(z.string()),
});

const one = <K extends string, S extends z.ZodMiniType>(kind: K, of: S) =>
  z.strictObject({ [kind]: of } as Record<K, S>);

const change = z.union(
  [
    z.pipe(
      one('append', z.strictObject({ row: freeObject })),
      z.transform(({ append }): TableChange => ({ kind: 'append', row: append.row })),
    ),
    z.pipe(
      one('insert', z.strictObject({ index: integer, row: freeObject })),
      z.transform(({ insert }): TableChange => ({ kind: 'insert', ...insert })),
    ),
    z.pipe(
      one('pop', z.strictObject({ index: integer })),
      z.transform(({ pop }): TableChange => ({ kind: 'pop', index: pop.index })),
    ),
  ],
  { error: 'should be {"append": {"row"}}, {"insert": {"index", "row"}} or {"pop": {"index"}}' },
);

/** The body of `/table/update`: `{project_id, base_digest, updates}`. */
export const tableUpdateBody = z.strictObject({
  project_id: projectId,
  base_digest: tableDigest,
  updates: z.array(change),
});

const maxSortKeys = 10;
const maxDigests = 1000;

const sortSchema = z.pipe(
  z
    .array(
      z.strictObject({
        field: z.string().check(z.minLength(1), z.maxLength(512)),
        direction: z.enum(['asc', 'desc']),
      }),
    )
    .check(z.maxLength(maxSortKeys, `should be at most ${maxSortKeys} fields`)),
  z.transform((keys) =>
    keys.map(({ field, direction }) => ({ path: toPath(field), descending: direction === 'desc' })),
  ),
);

/** The body of `/table/query`. */
export const tableQueryBody = z.pipe(
  z.strictObject({
    project_id: projectId,
    digest: tableDigest,
    filter: nullish(
      z
        .strictObject({ row_digests: nullish(listOf(z.string(), maxDigests)) })
        .register(documented, { name: 'TableRowFilter' }),
    ),
    limit: nullish(count),
    offset: nullish(count),
    sort_by: nullish(sortSchema),
  }),
  z.transform(
    (body): TableQuery => ({
      projectId: body.project_id,
      digest: body.digest,
      rowDigests: body.filter?.row_digests ?? null,
      limit: body.limit ?? null,
      offset: body.offset ?? 0,
      sort: body.sort_by ?? [],
    }),
  ),
);

/** The body of `/table/query_stats`: `{project_id, digest}`. */
export const tableStatsBody = z.strictObject({ project_id: projectId, digest: tableDigest });

/** The body of `/table/query_stats_batch`: `{project_id, digests}`. */
export const tableStatsBatchBody = z.strictObject({
  project_id: projectId,
  digests: nullish(listOf(z.string(), maxDigests)),
  include_storage_size: nullish(z.boolean()),
});
