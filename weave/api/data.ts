import * as z from 'zod/mini';
import { batch, endpoint, oneAnswer, oneRecord, stream } from '../../api/endpoint.ts';
import {
  bytes,
  direction,
  filterText,
  flag,
  jsonObject,
  project,
  slice,
  sortText,
} from '../../api/fields.ts';
import { toPath } from '../../core/foundations/expression/index.ts';
import { isTableDigest, type JsonObject } from '../../core/foundations/wire/index.ts';
import {
  documented,
  field,
  freeObject,
  integer,
  listOf,
  nullish,
  record,
  rule,
  withDefault,
} from '../../core/foundations/wire/schema.ts';
import { digestPattern } from '../digest.ts';

/*
 * The endpoints of files and tables, which Weave's dialect alone has.
 */

/** The digest of a file, of an object or of a row. */
const contentDigest = z
  .string()
  .check(
    z.refine(
      (text) => digestPattern.test(text),
      rule('should be a digest: 43 letters and digits, as it was answered'),
    ),
  )
  .register(documented, { name: 'ContentDigest', says: { pattern: digestPattern.source } });

const tableDigest = z
  .string()
  .check(z.refine(isTableDigest, rule('should be the digest of a table: 64 hex digits, as it was answered')))
  .register(documented, { name: 'TableDigest', says: { pattern: '^[0-9a-f]{64}$' } });

const expectedDigest = field(
  nullish(z.string()),
  'The digest that the client computed. If it is another, the answer is a 409.',
);
const exampleRow = { question: 'Where is my order?', n: 1 };
/** The digest of that row. */
const rowDigest = 'XqYnrRGCRsKytwwi9duiYN26FJosYWlYCOXOX09Lcas';
/** The digest of a table of that row alone. */
const table = '0480bef923d3d4bb575e6e15e211f996ec80f17614ab5c5ea8a650390f8ec50a';
/** The digest of a table that has it twice. */
const longer = '6b1fcb061739872950128dd6e63584ead4438245163c669744b927cb2a4a54a8';
/** The digest of `hello`. */
const file = 'LPJNulXwow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ';

const tableMade = field(z.string(), 'The digest of the table, for refs to it.');
const rowDigests = z.array(z.string());

export const fileCreate = endpoint({
  path: '/file/create',
  tolerant: true,
  role: 'write',
  shape: oneRecord,
  stores: { files: 'create', rollups: 'note' },
  tag: 'weave',
  name: 'FileCreate',
  summary: 'Store a file',
  description:
    'Takes a form with the fields `project_id`, `file` and `expected_digest`. A file is named by its content, so the same file may be sent again. The request may have 4.4 MB.',
  takes: 'form',
  request: () =>
    record({
      project_id: project,
      file: field(
        z
          .custom<Uint8Array>((value) => value instanceof Uint8Array, rule('should be a file'))
          .register(documented, { says: { type: 'string', contentMediaType: 'application/octet-stream' } }),
        'The file.',
      ),
      expected_digest: expectedDigest,
    }),
  answer: () => z.object({ digest: field(z.string(), 'The digest of the file.') }),
  errors: [409],
  examples: {},
});

export const fileContent = endpoint({
  path: '/file/content',
  tolerant: true,
  shape: oneAnswer,
  stores: { files: 'read' },
  tag: 'weave',
  name: 'FileContent',
  summary: 'Read a file',
  description: 'Answers the bytes of a file, strongly consistent.',
  request: () => record({ project_id: project, digest: field(contentDigest, 'The digest of the file.') }),
  answer: () => z.unknown(),
  form: 'bytes',
  errors: [404],
  examples: {
    hello: { summary: 'A file', body: { project_id: 'acme/shop', digest: file }, answer: 'hello' },
  },
});

export const tableCreate = endpoint({
  path: '/table/create',
  tolerant: true,
  role: 'write',
  shape: batch,
  stores: { tables: 'create', rollups: 'note' },
  tag: 'weave',
  name: 'TableCreate',
  summary: 'Make a table of rows',
  description:
    'Stores the rows that the project does not have, and a table of them all. Both are named by their content.',
  request: () =>
    record({
      table: field(
        record({
          project_id: project,
          rows: field(z.array(freeObject), 'The rows, each an object.'),
          expected_digest: expectedDigest,
        }),
        'The table.',
      ),
    }),
  projects: ({ table }) => [{ projectId: table.projectId, loc: ['table', 'project_id'] }],
  answer: () =>
    z.object({
      digest: tableMade,
      row_digests: field(rowDigests, 'The digests of the rows, in their order.'),
    }),
  errors: [409],
  examples: {
    row: {
      summary: 'A table of one row',
      body: { table: { project_id: 'acme/shop', rows: [exampleRow] } },
      answer: { digest: table, row_digests: [rowDigest] },
    },
  },
});

export const tableCreateFromDigests = endpoint({
  path: '/table/create_from_digests',
  tolerant: true,
  role: 'write',
  shape: batch,
  stores: { tables: 'create' },
  tag: 'weave',
  name: 'TableCreateFromDigests',
  summary: 'Make a table of rows that are there',
  description: 'Makes a table of rows of the project, whichever tables they came with.',
  request: () =>
    record({
      project_id: project,
      row_digests: field(z.array(contentDigest), 'Digests of rows.'),
      expected_digest: expectedDigest,
    }),
  answer: () => z.object({ digest: tableMade }),
  errors: [404, 409],
  examples: {
    row: {
      summary: 'A table of one row',
      body: { project_id: 'acme/shop', row_digests: [rowDigest] },
      answer: { digest: table },
    },
  },
});

const index = field(integer, 'A place in the table by then. Negative ones count from the end.');
const row = field(freeObject, 'The row.');

const one = <K extends string, S extends z.ZodMiniType>(kind: K, of: S, description: string) =>
  z.strictObject({ [kind]: field(of, description) } as Record<K, S>);

const change = () =>
  z.union(
    [
      z.pipe(
        one('append', z.strictObject({ row }), 'Adds a row at the end.'),
        z.transform(({ append }): TableChange => ({ kind: 'append', row: append.row })),
      ),
      z.pipe(
        one('insert', z.strictObject({ index, row }), 'Adds a row before the one at an index.'),
        z.transform(({ insert }): TableChange => ({ kind: 'insert', ...insert })),
      ),
      z.pipe(
        one('pop', z.strictObject({ index }), 'Takes the row at an index out.'),
        z.transform(({ pop }): TableChange => ({ kind: 'pop', index: pop.index })),
      ),
    ],
    { error: 'should be {"append": {"row"}}, {"insert": {"index", "row"}} or {"pop": {"index"}}' },
  );

/** A change of a table: a row more at the end, one more at an index, or one less. */
export type TableChange =
  | { readonly kind: 'append'; readonly row: JsonObject }
  | { readonly kind: 'insert'; readonly index: number; readonly row: JsonObject }
  | { readonly kind: 'pop'; readonly index: number };

export const tableUpdate = endpoint({
  path: '/table/update',
  tolerant: true,
  role: 'write',
  shape: batch,
  stores: { tables: 'update' },
  tag: 'weave',
  name: 'TableUpdate',
  summary: 'Make a table of another one',
  description:
    'Applies changes one after the other: `append`, `insert` at an index, `pop` of an index. The base stays.',
  request: () =>
    record({
      project_id: project,
      base_digest: field(tableDigest, 'The digest of the table that is changed.'),
      updates: field(z.array(change()), 'The changes, in order.'),
    }),
  answer: () =>
    z.object({
      digest: tableMade,
      updated_row_digests: field(rowDigests, 'The digests of the rows that were added or went.'),
    }),
  errors: [404],
  examples: {
    append: {
      summary: 'A row more',
      body: { project_id: 'acme/shop', base_digest: table, updates: [{ append: { row: exampleRow } }] },
      answer: { digest: longer, updated_row_digests: [rowDigest] },
    },
  },
});

const maxSortKeys = 10;
const maxDigests = 1000;

const sortSchema = () =>
  z.pipe(
    z
      .array(
        z.strictObject({
          field: field(z.string().check(z.minLength(1), z.maxLength(512)), 'What to sort by.'),
          direction,
        }),
      )
      .check(z.maxLength(maxSortKeys, `should be at most ${maxSortKeys} fields`)),
    z.transform((keys) =>
      keys.map(({ field, direction }) => ({ path: toPath(field), descending: direction === 'desc' })),
    ),
  );

const ofTable = field(tableDigest, 'The digest of the table.');

const tableQueryBody = () =>
  record(
    {
      project_id: project,
      digest: ofTable,
      filter: field(
        nullish(
          record({
            row_digests: field(nullish(listOf(z.string(), maxDigests)), 'Digests of rows.'),
          }).register(documented, { name: 'TableRowFilter' }),
        ),
        filterText,
      ),
      ...slice,
      sort_by: field(withDefault(sortSchema(), []), sortText),
    },
    { sort_by: 'sort' },
    ({ filter }) => ({ rowDigests: filter?.rowDigests ?? null }),
  );

/** A query over the rows of a table. */
export type TableQuery = z.output<ReturnType<typeof tableQueryBody>>;

export const tableQuery = endpoint({
  path: '/table/query',
  tolerant: true,
  shape: stream,
  stores: { tables: 'read' },
  tag: 'weave',
  name: 'TableQuery',
  summary: 'Read rows of a table',
  description: 'In the order of the table, unless `sort_by` names fields of the rows.',
  request: tableQueryBody,
  answer: () =>
    z.object({
      rows: field(
        z.array(
          z.object({
            digest: field(z.string(), 'The digest of the row.'),
            val: field(jsonObject, 'The row.'),
            original_index: field(z.int(), 'Its place in the table, from 0 up.'),
          }),
        ),
        'The rows, in order.',
      ),
    }),
  errors: [404],
  examples: {
    first: {
      summary: 'The first row',
      body: { project_id: 'acme/shop', digest: table, limit: 1 },
      answer: { rows: [{ digest: rowDigest, val: exampleRow, original_index: 0 }] },
    },
  },
});

export const tableQueryStats = endpoint({
  path: '/table/query_stats',
  tolerant: true,
  shape: oneAnswer,
  stores: { tables: 'count' },
  tag: 'weave',
  name: 'TableQueryStats',
  summary: 'Count the rows of a table',
  description: 'Reads the table alone, whatever its size.',
  request: () => record({ project_id: project, digest: ofTable }),
  answer: () => z.object({ count: field(z.int(), 'The number of rows.') }),
  errors: [404],
  examples: {
    count: { summary: 'One row', body: { project_id: 'acme/shop', digest: table }, answer: { count: 1 } },
  },
});

export const tableQueryStatsBatch = endpoint({
  path: '/table/query_stats_batch',
  tolerant: true,
  shape: oneAnswer,
  stores: { tables: 'count' },
  tag: 'weave',
  name: 'TableQueryStatsBatch',
  summary: 'Count the rows of tables',
  description: 'A table that is not there is left out.',
  request: () =>
    record({
      project_id: project,
      digests: field(nullish(listOf(z.string(), maxDigests)), 'The digests of the tables.'),
      include_storage_size: flag('Adds the size of the rows, in bytes of JSON.'),
    }),
  answer: () =>
    z.object({
      tables: field(
        z.array(
          z.object({
            digest: field(z.string(), 'The digest of the table.'),
            count: field(z.int(), 'The number of rows.'),
            storage_size_bytes: field(
              z.nullable(bytes),
              'The bytes of its rows as JSON; null unless asked for.',
            ),
          }),
        ),
        'The tables that are there.',
      ),
    }),
  examples: {
    count: {
      summary: 'One table',
      body: { project_id: 'acme/shop', digests: [table] },
      answer: { tables: [{ digest: table, count: 1, storage_size_bytes: null }] },
    },
  },
});
