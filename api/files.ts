import * as z from 'zod/mini';
import { documented, field, record, rule } from '../foundations/wire/schema.ts';
import { endpoint, oneAnswer, oneRecord } from './endpoint.ts';
import { project } from './fields.ts';
import { contentDigest, expectedDigest } from './tables.ts';

/** The digest of `hello`. */
const exampleFile = 'LPJNul-wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ';

export const fileCreate = /* @__PURE__ */ endpoint({
  path: '/file/create',
  role: 'write',
  shape: oneRecord,
  stores: { files: 'create', bookkeeping: 'note' },
  tag: 'files',
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
          .register(documented, {
            keywords: { type: 'string', contentMediaType: 'application/octet-stream' },
          }),
        'The file.',
      ),
      expected_digest: expectedDigest,
    }),
  answer: () => z.object({ digest: field(z.string(), 'The digest of the file.') }),
  errors: [409],
  examples: {
    hello: {
      summary: 'A file',
      body: { project_id: 'acme/shop', file: 'hello' },
      answer: { digest: exampleFile },
    },
  },
});

export const fileContent = /* @__PURE__ */ endpoint({
  path: '/file/content',
  shape: oneAnswer,
  stores: { files: 'read' },
  tag: 'files',
  name: 'FileContent',
  summary: 'Read a file',
  description: 'Answers the bytes of a file, strongly consistent.',
  request: () => record({ project_id: project, digest: field(contentDigest, 'The digest of the file.') }),
  answer: () => z.unknown(),
  form: 'bytes',
  errors: [404],
  examples: {
    hello: { summary: 'A file', body: { project_id: 'acme/shop', digest: exampleFile }, answer: 'hello' },
  },
});

/** The endpoints of this file. Their examples run in this order. */
export const fileRoutes = [fileCreate, fileContent] as const;
