import * as z from 'zod/mini';
import * as requests from '../../api/requests.ts';
import type { WireNames } from '../../core/foundations/wire/index.ts';
import { deleted, field } from '../answers/fields.ts';
import { objectVersion } from '../answers/others.ts';
import type { Operations } from '../operation.ts';

const project = 'acme/shop';
const val = { text: 'Be brief.' };
/** The SHA-256 of `{"text":"Be brief."}` in base64url. */
const digest = 'Aq_qvTIUDe9WqRjopwcsPaFfDkKKbf_5pqt_j6G66Ec';

const version = (names: WireNames) => ({
  project_id: project,
  object_id: 'prompt',
  digest,
  version_index: 0,
  is_latest: 1,
  kind: 'object',
  base_object_class: null,
  created_at: '2026-10-01T09:30:00.123456Z',
  [names.userId]: 'ada',
});

type Paths = '/obj/create' | '/obj/read' | '/objs/query' | '/refs/read_batch' | '/obj/delete';

/** What the document says of objects. */
export const objectOperations = (names: WireNames): Pick<Operations, Paths> => ({
  '/obj/create': [
    {
      name: 'ObjCreate',
      tag: 'objects',
      summary: 'Make a version of an object',
      description:
        'Stores a value as a new version, unless the object has a version with the same value. The order of keys makes no difference.',
      request: requests.objCreate,
      // A value that has another digest than the client expects.
      ...(names.dialect === 'weave' && { errors: [409] as const }),
      answer: z.object({
        digest: field(z.string(), 'The digest of the value, for refs to it.'),
        object_id: field(z.string(), "The object's name."),
      }),
      examples: {
        prompt: {
          summary: 'A prompt',
          body: { obj: { project_id: project, object_id: 'prompt', val } },
          answer: { digest, object_id: 'prompt' },
        },
      },
    },
  ],
  '/obj/read': [
    {
      name: 'ObjRead',
      tag: 'objects',
      summary: 'Read a version of an object',
      description: 'Strongly consistent. `digest` is a digest, `latest`, or `v0`, `v1`, ….',
      request: requests.objRead,
      answer: z.object({ obj: field(objectVersion(names), 'The version, with its value.') }),
      errors: [404],
      examples: {
        latest: {
          summary: 'The latest version',
          body: { project_id: project, object_id: 'prompt', digest: 'latest' },
          answer: { obj: { ...version(names), val } },
        },
      },
    },
  ],
  '/objs/query': [
    {
      name: 'ObjsQuery',
      tag: 'objects',
      summary: 'Query objects',
      description:
        'The versions of a project that match, strongly consistent. Without `sort_by` they come by `object_id`, then `version_index`.',
      request: requests.objsQuery,
      answer: z.object({ objs: field(z.array(objectVersion(names)), 'The versions, in order.') }),
      examples: {
        latest: {
          summary: 'The latest version of each object, without values',
          body: { project_id: project, filter: { latest_only: true }, metadata_only: true },
          answer: { objs: [{ ...version(names), val: null }] },
        },
      },
    },
  ],
  '/refs/read_batch': [
    {
      name: 'RefsReadBatch',
      tag: 'objects',
      summary: 'Read what refs refer to',
      description:
        'Reads objects and ops of projects that the key may read. A ref may have `latest` or `v<N>` in place of the digest. Its path leads into the value: `attr/<name>` or `key/<name>`, `index/<n>`.',
      request: requests.refsReadBatch,
      answer: z.object({
        vals: field(z.array(z.unknown()), 'The values in the order of the refs; null for a ref to nothing.'),
      }),
      examples: {
        text: {
          summary: 'A field of the prompt, and an object that is not there',
          body: {
            refs: [
              `${names.refScheme}${project}/object/prompt:latest/attr/text`,
              `${names.refScheme}${project}/object/nothing:latest`,
            ],
          },
          answer: { vals: ['Be brief.', null] },
        },
      },
    },
  ],
  '/obj/delete': [
    {
      name: 'ObjDelete',
      tag: 'objects',
      summary: 'Delete versions of an object',
      description:
        'Deletes the versions with `digests`, or all without them. Their values are gone for good. Unknown digests are ignored.',
      request: requests.objDelete,
      answer: deleted,
      examples: {
        all: {
          summary: 'The prompt',
          body: { project_id: project, object_id: 'prompt' },
          answer: { num_deleted: 1 },
        },
      },
    },
  ],
});
