import * as z from 'zod/mini';
import {
  digestRule,
  isDigest,
  isId,
  isLabel,
  isObjectId,
  objectIdRule,
  parseRef,
  parseVersionName,
  type Ref,
  refScheme,
} from '../foundations/wire/index.ts';
import { parsePath } from '../foundations/wire/path.ts';
import {
  controls,
  documented,
  field,
  freeValue,
  id,
  listSchema,
  nullish,
  printableText,
  projectIdPattern,
  record,
  rule,
  withDefault,
} from '../foundations/wire/schema.ts';
import { endpoint, fewRecords, longAnswer, oneAnswer, oneRecord } from './endpoint.ts';
import {
  deleted,
  direction,
  filterText,
  flag,
  ignoredUser,
  ofProject,
  optionalTexts,
  project,
  slice,
  sortText,
  timestamp,
} from './fields.ts';

/** The name of an object. */
export const objectId = field(
  z
    .string()
    .check(z.refine(isObjectId, rule(objectIdRule)))
    .register(documented, {
      name: 'ObjectId',
      keywords: { ...printableText(128), pattern: `^[^/:${controls}\\u2028\\u2029]*$` },
    }),
  "The object's name.",
);

/** The digest of a version. */
export const digest = z
  .string()
  .check(z.refine(isDigest, rule(digestRule)))
  .register(documented, { name: 'Digest', keywords: { pattern: '^[A-Za-z0-9_-]{43}$' } });

/** How a version is called in a request. */
export const versionName = field(id, 'A digest, `latest`, or `v0`, `v1`, ….');

/** Whether a text could be taken for `latest`, an index or a digest. */
const isTaken = (text: string): boolean => {
  const version = parseVersionName(text);
  return version === 'latest' || 'versionIndex' in version || isDigest(text);
};

/** A tag of a version, or what may be one of its aliases. */
export const label = id.check(
  z.refine((text) => !isId(text) || isLabel(text), rule('should be at most 768 bytes of UTF-8')),
);

/** A name of a version that can be moved to another. */
export const alias = label
  .check(z.refine((text) => !isTaken(text), rule('should be neither latest, nor v<N>, nor a digest')))
  .register(documented, { name: 'Label', keywords: printableText(256) });

/** The most items of a list in a request about objects. */
export const maxItems = 1000;
const maxSortKeys = 10;

const exampleVal = { text: 'Be brief.' };
/** The SHA-256 of `{"text":"Be brief."}` in base64url. */
const exampleDigest = 'Aq_qvTIUDe9WqRjopwcsPaFfDkKKbf_5pqt_j6G66Ec';

const exampleEvaluator = {
  _type: 'Evaluator',
  name: 'brief',
  on: 'call',
  sample_rate: 1,
  check: { regex: '^.{0,200}$' },
  enabled: true,
};
const exampleEvaluatorDigest = 'ni_W09rpBP2-AC2SatrnVuMV-UDiu1PRIkQoFMVL06k';

const exampleVersion = {
  project_id: 'acme/shop',
  object_id: 'prompt',
  digest: exampleDigest,
  version_index: 0,
  is_latest: 1,
  kind: 'object',
  base_object_class: null,
  created_at: '2026-10-01T09:30:00.123456Z',
  svc_user_id: 'ada',
};

const objectVersion = () =>
  z
    .object({
      project_id: ofProject,
      object_id: field(z.string(), "The object's name."),
      digest: field(z.string(), "The SHA-256 of the value's canonical JSON (RFC 8785), in base64url."),
      version_index: field(z.int(), '0, 1, 2, … in the order in which the versions were made.'),
      is_latest: field(z.literal([0, 1]), '1 for the newest version that has not been deleted, else 0.'),
      kind: field(z.enum(['object', 'op']), '`op` if the value has `"_type": "op"`, else `object`.'),
      base_object_class: field(
        z.nullable(z.string()),
        "The class that the value's own class extends, or its `_type`; null if it names none.",
      ),
      created_at: field(timestamp, 'When it was made.'),
      svc_user_id: field(z.string(), 'The user whose key made it.'),
      val: field(z.unknown(), 'The value, any JSON; null with `metadata_only`.'),
    })
    .register(documented, { name: 'ObjectVersion' });

/** A new version of an object. */
const newObject = () =>
  record({
    project_id: project,
    object_id: objectId,
    val: field(freeValue.check(z.refine((val) => val !== undefined)), 'The value, any JSON.'),
    svc_user_id: ignoredUser,
  });

export const objCreate = /* @__PURE__ */ endpoint({
  path: '/obj/create',
  role: 'write',
  shape: oneRecord,
  stores: { objects: 'create', bookkeeping: 'note', audit: 'append' },
  tag: 'objects',
  name: 'ObjCreate',
  summary: 'Make a version of an object',
  description:
    'Stores a value as a new version, unless the object has a version with the same value. The order of keys makes no difference. The value of a class that means something to the service, named by its `_type` alone, is checked; an `Evaluator` with a judge takes the role `admin`.',
  request: () =>
    record({
      obj: field(newObject(), 'The new version.'),
    }),
  projects: ({ obj }) => [{ projectId: obj.projectId, loc: ['obj', 'project_id'] }],
  answer: () =>
    z.object({
      digest: field(z.string(), 'The digest of the value, for refs to it.'),
      object_id: field(z.string(), "The object's name."),
    }),
  examples: {
    prompt: {
      summary: 'A prompt',
      body: { obj: { project_id: 'acme/shop', object_id: 'prompt', val: exampleVal } },
      answer: { digest: exampleDigest, object_id: 'prompt' },
    },
    evaluator: {
      summary: 'An evaluator, whose value is checked',
      body: { obj: { project_id: 'acme/shop', object_id: 'brief', val: exampleEvaluator } },
      answer: { digest: exampleEvaluatorDigest, object_id: 'brief' },
    },
  },
});

export const objRead = /* @__PURE__ */ endpoint({
  path: '/obj/read',
  shape: oneAnswer,
  stores: { objects: 'read' },
  tag: 'objects',
  name: 'ObjRead',
  summary: 'Read a version of an object',
  description: 'Strongly consistent. `digest` is a digest, `latest`, or `v0`, `v1`, ….',
  request: () =>
    record({ project_id: project, object_id: objectId, digest: versionName }, {}, ({ digest }) => ({
      version: parseVersionName(digest),
      metadataOnly: false,
      withLabels: false,
    })),
  answer: () => z.object({ obj: field(objectVersion(), 'The version, with its value.') }),
  errors: [404],
  examples: {
    latest: {
      summary: 'The latest version',
      body: { project_id: 'acme/shop', object_id: 'prompt', digest: 'latest' },
      answer: { obj: { ...exampleVersion, val: exampleVal } },
    },
  },
});

/** What only Weave's door can filter by. */
const furtherFilters: Readonly<Record<'excludedClasses' | 'tags' | 'aliases', readonly string[] | null>> = {
  excludedClasses: null,
  tags: null,
  aliases: null,
};

const objectsFilter = () =>
  record(
    {
      object_ids: field(nullish(listSchema(z.string(), maxItems)), 'These objects.'),
      is_op: field(nullish(z.boolean()), 'true: only ops; false: only others.'),
      latest_only: flag('Whether only the latest version of each object matches.'),
      base_object_classes: optionalTexts('Objects of these classes.'),
    },
    {},
    ({ object_ids }) => ({
      ...furtherFilters,
      // An impossible id names no object.
      objectIds: object_ids?.filter(isObjectId) ?? null,
    }),
  ).register(documented, { name: 'ObjectsFilter' });

/**
 * Which versions are wanted. Fields are ANDed, values of a list are ORed, null asks for nothing.
 */
export type ObjectsFilter = z.output<ReturnType<typeof objectsFilter>>;

/** A filter that lets every version through. */
export const everyVersion: ObjectsFilter = {
  ...furtherFilters,
  objectIds: null,
  isOp: null,
  latestOnly: false,
  baseObjectClasses: null,
};

/** The fields that versions can be sorted by. */
export const sortFields = ['object_id', 'version_index', 'created_at'] as const;

const objectsQueryBody = () =>
  record({
    project_id: project,
    filter: field(withDefault(objectsFilter(), everyVersion), filterText),
    ...slice,
    sort_by: field(
      withDefault(
        listSchema(
          z.strictObject({ field: field(z.enum(sortFields), 'What to sort by.'), direction }),
          maxSortKeys,
        ),
        [],
      ),
      sortText,
    ),
    metadata_only: flag('Whether values are left out.'),
  });

/** A query over the objects of one project. Object id and version index decide ties. */
export interface ObjectsQuery extends Readonly<z.output<ReturnType<typeof objectsQueryBody>>> {
  /** Whether tags and aliases are answered. @default false */
  readonly withLabels?: boolean;
  /** Whether the bytes of values are answered. @default false */
  readonly withSizes?: boolean;
}

/** One key of an order of versions. */
export type ObjectSortKey = ObjectsQuery['sortBy'][number];

export const objsQuery = /* @__PURE__ */ endpoint({
  path: '/objs/query',
  shape: longAnswer,
  stores: { objects: 'query' },
  tag: 'objects',
  name: 'ObjsQuery',
  summary: 'Query objects',
  description:
    'The versions of a project that match, strongly consistent. Without `sort_by` they come by `object_id`, then `version_index`.',
  request: objectsQueryBody,
  answer: () => z.object({ objs: field(z.array(objectVersion()), 'The versions, in order.') }),
  examples: {
    latest: {
      summary: 'The latest version of each object, without values',
      body: {
        project_id: 'acme/shop',
        filter: { object_ids: ['prompt'], latest_only: true },
        metadata_only: true,
      },
      answer: { objs: [{ ...exampleVersion, val: null }] },
    },
  },
});

/** A ref to an object or an op. */
export type ObjectRef = Exclude<Ref, { kind: 'call' }>;

const nameAndDigest = '[^/:]+:[^/:]+';

/** The schema of refs to objects and ops, which are parsed. */
const objectRefSchema = () => {
  const parse = (text: string): ObjectRef | undefined => {
    const ref = parseRef(text);
    return ref && ref.kind !== 'call' && parsePath(ref.path) ? ref : undefined;
  };
  const step = `(?:(?:attr|key)/[^/\\n\\r\\u2028\\u2029]*|index/(?:0|[1-9][0-9]{0,9})|id/[A-Za-z0-9_-]{43})`;
  const pattern = `^${refScheme}${projectIdPattern}/(?:op/${nameAndDigest}|object/${nameAndDigest}(?:/${step})*)$`;
  const error = `should be an object or op ref, ${refScheme}<entity>/<project>/object/<name>:<digest>; calls are read with /call/read`;
  return z
    .pipe(
      z.string().check(z.refine((text) => parse(text) !== undefined, rule(error))),
      z.transform((text) => parse(text) as ObjectRef),
    )
    .register(documented, { keywords: { pattern } });
};

/** The refs of a request. */
export const refs = (most = maxItems) =>
  field(listSchema(objectRefSchema(), most), 'Refs to objects and ops.');

export const refsReadBatch = /* @__PURE__ */ endpoint({
  path: '/refs/read_batch',
  shape: longAnswer,
  stores: { objects: 'read', tables: 'read' },
  tag: 'objects',
  name: 'RefsReadBatch',
  summary: 'Read what refs refer to',
  description:
    'Reads objects and ops of projects that the key may read. A ref may have `latest` or `v<N>` in place of the digest. Its path leads into the value: `attr/<name>` or `key/<name>`, `index/<n>`, and `id/<digest>` to a row of the table whose ref is there.',
  request: () => record({ refs: refs() }),
  projects: ({ refs }) => refs.map(({ projectId }, i) => ({ projectId, loc: ['refs', String(i)] })),
  answer: () =>
    z.object({
      vals: field(z.array(z.unknown()), 'The values in the order of the refs; null for a ref to nothing.'),
    }),
  examples: {
    text: {
      summary: 'A field of the prompt, and an object that is not there',
      body: {
        refs: ['svc:///acme/shop/object/prompt:latest/attr/text', 'svc:///acme/shop/object/nothing:latest'],
      },
      answer: { vals: ['Be brief.', null] },
    },
  },
});

export const objDelete = /* @__PURE__ */ endpoint({
  path: '/obj/delete',
  role: 'write',
  shape: fewRecords,
  stores: { objects: 'delete', bookkeeping: 'note', audit: 'append' },
  tag: 'objects',
  name: 'ObjDelete',
  summary: 'Delete versions of an object',
  description:
    'Deletes the versions with `digests`, or all without them. Their values are gone for good. Unknown digests are ignored.',
  request: () =>
    record({
      project_id: project,
      object_id: objectId,
      digests: field(
        nullish(listSchema(digest, maxItems)),
        'The digests of the versions; all versions without it.',
      ),
    }),
  answer: () => deleted,
  examples: {
    all: {
      summary: 'The prompt',
      body: { project_id: 'acme/shop', object_id: 'prompt' },
      answer: { num_deleted: 1 },
    },
  },
});

/** The endpoints of this file. Their examples run in this order. */
export const objectRoutes = [objCreate, objRead, objsQuery, refsReadBatch, objDelete] as const;
