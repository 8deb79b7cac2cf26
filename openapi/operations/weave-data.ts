import * as z from 'zod/mini';
import * as requests from '../../api/requests.ts';
import { bytes, field, freeObject, integer } from '../answers/fields.ts';
import type { Operations } from '../operation.ts';

const project = 'acme/shop';
const row = { question: 'Where is my order?', n: 1 };
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

type Paths =
  | '/file/create'
  | '/file/content'
  | '/table/create'
  | '/table/create_from_digests'
  | '/table/update'
  | '/table/query'
  | '/table/query_stats'
  | '/table/query_stats_batch';

const files: Pick<Operations, '/file/create' | '/file/content'> = {
  '/file/create': [
    {
      name: 'FileCreate',
      tag: 'weave',
      summary: 'Store a file',
      description:
        'Takes a form with the fields `project_id`, `file` and `expected_digest`. A file is named by its content, so the same file may be sent again. The request may have 4.4 MB.',
      request: requests.fileCreate,
      takes: 'form',
      answer: z.object({ digest: field(z.string(), 'The digest of the file.') }),
      errors: [409],
      examples: {},
    },
  ],
  '/file/content': [
    {
      name: 'FileContent',
      tag: 'weave',
      summary: 'Read a file',
      description: 'Answers the bytes of a file, strongly consistent.',
      request: requests.fileContent,
      answer: z.unknown(),
      form: 'bytes',
      errors: [404],
      examples: {
        hello: { summary: 'A file', body: { project_id: project, digest: file }, answer: 'hello' },
      },
    },
  ],
};

const making: Pick<Operations, '/table/create' | '/table/create_from_digests' | '/table/update'> = {
  '/table/create': [
    {
      name: 'TableCreate',
      tag: 'weave',
      summary: 'Make a table of rows',
      description:
        'Stores the rows that the project does not have, and a table of them all. Both are named by their content.',
      request: requests.tableCreate,
      answer: z.object({
        digest: tableMade,
        row_digests: field(rowDigests, 'The digests of the rows, in their order.'),
      }),
      errors: [409],
      examples: {
        row: {
          summary: 'A table of one row',
          body: { table: { project_id: project, rows: [row] } },
          answer: { digest: table, row_digests: [rowDigest] },
        },
      },
    },
  ],
  '/table/create_from_digests': [
    {
      name: 'TableCreateFromDigests',
      tag: 'weave',
      summary: 'Make a table of rows that are there',
      description: 'Makes a table of rows of the project, whichever tables they came with.',
      request: requests.tableCreateFromDigests,
      answer: z.object({ digest: tableMade }),
      errors: [404, 409],
      examples: {
        row: {
          summary: 'A table of one row',
          body: { project_id: project, row_digests: [rowDigest] },
          answer: { digest: table },
        },
      },
    },
  ],
  '/table/update': [
    {
      name: 'TableUpdate',
      tag: 'weave',
      summary: 'Make a table of another one',
      description:
        'Applies changes one after the other: `append`, `insert` at an index, `pop` of an index. The base stays.',
      request: requests.tableUpdate,
      answer: z.object({
        digest: tableMade,
        updated_row_digests: field(rowDigests, 'The digests of the rows that were added or went.'),
      }),
      errors: [404],
      examples: {
        append: {
          summary: 'A row more',
          body: { project_id: project, base_digest: table, updates: [{ append: { row } }] },
          answer: { digest: longer, updated_row_digests: [rowDigest] },
        },
      },
    },
  ],
};

const reading: Pick<Operations, '/table/query' | '/table/query_stats' | '/table/query_stats_batch'> = {
  '/table/query': [
    {
      name: 'TableQuery',
      tag: 'weave',
      summary: 'Read rows of a table',
      description: 'In the order of the table, unless `sort_by` names fields of the rows.',
      request: requests.tableQuery,
      answer: z.object({
        rows: field(
          z.array(
            z.object({
              digest: field(z.string(), 'The digest of the row.'),
              val: field(freeObject, 'The row.'),
              original_index: field(integer, 'Its place in the table, from 0 up.'),
            }),
          ),
          'The rows, in order.',
        ),
      }),
      errors: [404],
      examples: {
        first: {
          summary: 'The first row',
          body: { project_id: project, digest: table, limit: 1 },
          answer: { rows: [{ digest: rowDigest, val: row, original_index: 0 }] },
        },
      },
    },
  ],
  '/table/query_stats': [
    {
      name: 'TableQueryStats',
      tag: 'weave',
      summary: 'Count the rows of a table',
      description: 'Reads the table alone, whatever its size.',
      request: requests.tableQueryStats,
      answer: z.object({ count: field(integer, 'The number of rows.') }),
      errors: [404],
      examples: {
        count: { summary: 'One row', body: { project_id: project, digest: table }, answer: { count: 1 } },
      },
    },
  ],
  '/table/query_stats_batch': [
    {
      name: 'TableQueryStatsBatch',
      tag: 'weave',
      summary: 'Count the rows of tables',
      description: 'A table that is not there is left out.',
      request: requests.tableQueryStatsBatch,
      answer: z.object({
        tables: field(
          z.array(
            z.object({
              digest: field(z.string(), 'The digest of the table.'),
              count: field(integer, 'The number of rows.'),
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
          body: { project_id: project, digests: [table] },
          answer: { tables: [{ digest: table, count: 1, storage_size_bytes: null }] },
        },
      },
    },
  ],
};

/** What the document says of files and tables, which Weave's dialect alone has. */
export const weaveDataOperations: Pick<Operations, Paths> = { ...files, ...making, ...reading };
