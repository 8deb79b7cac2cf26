import * as z from 'zod/mini';
import { toPath } from '../foundations/expression/index.ts';
import { isContentDigest, isTableDigest, type JsonObject } from '../foundations/wire/index.ts';
import {
  documented,
  field,
  freeObject,
  integer,
  listSchema,
  nullish,
  record,
  rule,
  withDefault,
} from '../foundations/wire/schema.ts';
import { batch, endpoint, longAnswer, oneAnswer } from './endpoint.ts';
import { direction, filterText, jsonObject, project, slice, sortText } from './fields.ts';

/** The digest of a row or of a file. */
export const contentDigest = z
  .string()
  .check(z.refine(isContentDigest, rule('should be a digest: 43 characters, as it was answered')))
  .register(documented, {
    name: 'ContentDigest',
    keywords: { pattern: '^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$' },
  });

const tableDigest = z
  .string()
  .check(z.refine(isTableDigest, rule('should be the digest of a table: 64 hex digits, as it was answered')))
  .register(documented, { name: 'TableDigest', keywords: { pattern: '^[0-9a-f]{64}$' } });

/** The digest that a client expects of what it sends. */
export const expectedDigest = field(
  nullish(z.string()),
  'The digest that the client computed. If it is another, the answer is a 409.',
);

/** The digest of a table in an answer. */
export const tableMade = field(z.string(), 'The digest of the table, for refs to it.');
const rowDigests = z.array(z.string());

const exampleRow = { question: 'Where is my order?', n: 1 };
/** The digest of that row. */
const rowDigest = 'YQU4zBRJYqRwNoxsv2iTQaxqW0mCD4X7kJLv_MHBKdw';
/** The digest of a table of that row alone. */
const table = 'ac248a8eb679dc123755460524423571f7ec08465ae185a419ec0e208de38c4b';
/** The digest of a table that has it twice. */
const longer = 'd42707a806073373ed541853e5b3a78c8a60b20ac4c1cf2802c7294b96270ea1';

export const tableCreate = /* @__PURE__ */ endpoint({
  path: '/table/create',
  role: 'write',
  shape: batch,
  stores: { tables: 'create', bookkeeping: 'note' },
  tag: 'tables',
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

const index = field(integer, 'A place in the table by then. Negative ones count from the end.');
const row = field(freeObject, 'The row.');

const one = <K extends string, S extends z.ZodMiniType>(kind: K, schema: S, description: string) =>
  z.strictObject({ [kind]: field(schema, description) } as Record<K, S>);

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

export const tableUpdate = /* @__PURE__ */ endpoint({
  path: '/table/update',
  role: 'write',
  shape: batch,
  stores: { tables: 'update' },
  tag: 'tables',
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
/** The most digests of a list in a request. */
export const maxDigests = 1000;

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

/** The table of a request. */
const ofTable = field(tableDigest, 'The digest of the table.');

const tableQueryBody = () =>
  record(
    {
      project_id: project,
      digest: ofTable,
      filter: field(
        nullish(
          record({
            row_digests: field(nullish(listSchema(z.string(), maxDigests)), 'Digests of rows.'),
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
export type TableQuery = Omit<z.output<ReturnType<typeof tableQueryBody>>, 'filter'>;

export const tableQuery = /* @__PURE__ */ endpoint({
  path: '/table/query',
  shape: longAnswer,
  stores: { tables: 'read' },
  tag: 'tables',
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

export const tableQueryStats = /* @__PURE__ */ endpoint({
  path: '/table/query_stats',
  shape: oneAnswer,
  stores: { tables: 'count' },
  tag: 'tables',
  name: 'TableQueryStats',
  summary: 'Count the rows of a table',
  description: 'Reads only the table, whatever its size.',
  request: () => record({ project_id: project, digest: ofTable }),
  answer: () => z.object({ count: field(z.int(), 'The number of rows.') }),
  errors: [404],
  examples: {
    count: { summary: 'One row', body: { project_id: 'acme/shop', digest: table }, answer: { count: 1 } },
  },
});

/** The endpoints of this file. Their examples run in this order. */
export const tableRoutes = [tableCreate, tableUpdate, tableQuery, tableQueryStats] as const;
