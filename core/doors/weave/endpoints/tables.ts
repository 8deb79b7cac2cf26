import * as z from 'zod/mini';
import { batch, endpoint, oneAnswer } from '../../../../api/endpoint.ts';
import { bytes, flag, project } from '../../../../api/fields.ts';
import { contentDigest, expectedDigest, maxDigests, tableMade } from '../../../../api/tables.ts';
import { field, listSchema, nullish, record } from '../../../../foundations/wire/schema.ts';

/*
 * The endpoints of tables that Weave's door alone has: its SDKs send large tables in chunks.
 */

export const tableCreateFromDigests = /* @__PURE__ */ endpoint({
  path: '/table/create_from_digests',
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
  examples: {},
});

export const tableQueryStatsBatch = /* @__PURE__ */ endpoint({
  path: '/table/query_stats_batch',
  shape: oneAnswer,
  stores: { tables: 'count' },
  tag: 'weave',
  name: 'TableQueryStatsBatch',
  summary: 'Count the rows of tables',
  description: 'A table that is not there is left out.',
  request: () =>
    record({
      project_id: project,
      digests: field(nullish(listSchema(z.string(), maxDigests)), 'The digests of the tables.'),
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
  examples: {},
});
