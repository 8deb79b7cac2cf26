import * as z from 'zod/mini';
import { parseRef, type Ref, type WireNames } from '../../core/foundations/wire/index.ts';
import {
  controls,
  count,
  documented,
  fieldOf,
  freeValue,
  id,
  listOf,
  namedFields,
  nullish,
  printableText,
  projectId,
  projectIdPattern,
  rule,
} from '../../core/foundations/wire/schema.ts';
import type { NewObject } from '../../core/records/objects/create.ts';
import {
  digestRule,
  isDigest,
  isObjectId,
  objectIdRule,
  parseVersionName,
} from '../../core/records/objects/model.ts';
import type { Address } from '../../core/records/objects/read.ts';
import { parsePath } from '../../core/records/objects/refs.ts';
import {
  everyVersion,
  type ObjectsFilter,
  type ObjectsQuery,
  sortFields,
} from '../../core/records/objects/request.ts';

/** The name of an object. */
export const objectId = z
  .string()
  .check(z.refine(isObjectId, rule(objectIdRule)))
  .register(documented, {
    name: 'ObjectId',
    says: { ...printableText(128), pattern: `^[^/:${controls}\\u2028\\u2029]*$` },
  });
const digest = z
  .string()
  .check(z.refine(isDigest, rule(digestRule)))
  .register(documented, { name: 'Digest', says: { pattern: '^[A-Za-z0-9_-]{43}$' } });

const maxItems = 1000;
const maxSortKeys = 10;

const expectedDigest = nullish(z.string());

/**
 * The body of `/obj/create`: `{obj: {project_id, object_id, val}}`. It stores the caller as the
 * user, whatever user is named.
 */
export const objectCreateBody = (names: WireNames) =>
  z.strictObject({
    obj: z.pipe(
      z.strictObject({
        project_id: projectId,
        object_id: objectId,
        val: freeValue.check(z.refine((val) => val !== undefined)),
        ...namedFields({
          [names.userId]: nullish(z.string()),
          ...(names.dialect === 'weave' && { expected_digest: expectedDigest }),
        }),
      }),
      z.transform(
        (obj): NewObject => ({
          ...{ projectId: obj.project_id, objectId: obj.object_id, val: obj.val },
          expected: fieldOf(obj, 'expected_digest', expectedDigest) ?? null,
        }),
      ),
    ),
  });

const flag = nullish(z.boolean());

/** Fields that only Weave's dialect has, each a flag. */
const weaveFlags = ({ dialect }: WireNames, ...flags: readonly string[]) =>
  namedFields(dialect === 'weave' ? Object.fromEntries(flags.map((name) => [name, flag])) : {});

const labelsFlag = 'include_tags_and_aliases';
const sizeFlag = 'include_storage_size';
const isAsked = (body: object, name: string): boolean => fieldOf(body, name, flag) ?? false;

/** What `/obj/read` asks for. */
export interface ObjectRead extends Address {
  /** Whether tags and aliases are answered. */
  readonly withLabels: boolean;
  /** Whether the value is left out. */
  readonly metadataOnly: boolean;
}

/** The body of `/obj/read`: `{project_id, object_id, digest}`. */
export const objectReadBody = (names: WireNames) =>
  z.pipe(
    z.strictObject({
      project_id: projectId,
      object_id: objectId,
      digest: id,
      ...weaveFlags(names, labelsFlag, 'metadata_only'),
    }),
    z.transform(
      (body): ObjectRead => ({
        projectId: body.project_id,
        objectId: body.object_id,
        version: parseVersionName(body.digest),
        withLabels: isAsked(body, labelsFlag),
        metadataOnly: isAsked(body, 'metadata_only'),
      }),
    ),
  );

const texts = nullish(z.array(z.string()));

/** What is refused, and not passed over: a list that is not empty. */
const unserved = nullish(
  z
    .array(z.string())
    .check(
      z.refine(
        (list) => list.length === 0,
        rule('is not served, since only base classes are stored: use base_object_classes'),
      ),
    ),
);

/** Fields of the filter that only Weave's dialect has. */
const weaveFilter = {
  tags: texts,
  aliases: texts,
  exclude_base_object_classes: texts,
  leaf_object_classes: unserved,
};

/** A list of the filter; null for one that is empty or not there. */
const listIn = (filter: object, name: keyof typeof weaveFilter): readonly string[] | null => {
  const list = fieldOf(filter, name, texts) ?? [];
  return list.length > 0 ? list : null;
};

const filterSchema = ({ dialect }: WireNames) =>
  z
    .pipe(
      z.strictObject({
        object_ids: nullish(listOf(z.string(), maxItems)),
        is_op: nullish(z.boolean()),
        latest_only: nullish(z.boolean()),
        base_object_classes: nullish(z.array(z.string())),
        ...namedFields(dialect === 'weave' ? weaveFilter : {}),
      }),
      z.transform(
        (filter): ObjectsFilter => ({
          // An impossible id names no object.
          objectIds: filter.object_ids?.filter(isObjectId) ?? null,
          isOp: filter.is_op ?? null,
          latestOnly: filter.latest_only ?? false,
          baseObjectClasses: filter.base_object_classes ?? null,
          excludedClasses: listIn(filter, 'exclude_base_object_classes'),
          tags: listIn(filter, 'tags'),
          aliases: listIn(filter, 'aliases'),
        }),
      ),
    )
    .register(documented, { name: 'ObjectsFilter' });

const sortSchema = listOf(
  z.strictObject({ field: z.enum(sortFields), direction: z.enum(['asc', 'desc']) }),
  maxSortKeys,
);

/** The body of `/objs/query`. */
export const objectsQueryBody = (names: WireNames) =>
  z.pipe(
    z.strictObject({
      project_id: projectId,
      filter: nullish(filterSchema(names)),
      limit: nullish(count),
      offset: nullish(count),
      sort_by: nullish(sortSchema),
      metadata_only: nullish(z.boolean()),
      ...weaveFlags(names, labelsFlag, sizeFlag),
    }),
    z.transform(
      (body): ObjectsQuery => ({
        projectId: body.project_id,
        filter: body.filter ?? everyVersion,
        limit: body.limit ?? null,
        offset: body.offset ?? 0,
        sortBy: body.sort_by ?? [],
        metadataOnly: body.metadata_only ?? false,
        withLabels: isAsked(body, labelsFlag),
        withSizes: isAsked(body, sizeFlag),
      }),
    ),
  );

/** The body of `/obj/delete`: `{project_id, object_id, digests?}`. */
export const objectDeleteBody = (names: WireNames) =>
  z.strictObject({
    project_id: projectId,
    object_id: objectId,
    // Weave's dialect takes all that a version is called by.
    digests: nullish(listOf(names.dialect === 'weave' ? id : digest, maxItems)),
  });

const refRule = ({ refScheme }: WireNames): string =>
  `should be an object or op ref, ${refScheme}<entity>/<project>/object/<name>:<digest>; calls are read with /call/read`;

/** A ref to an object or an op. */
export type ObjectRef = Exclude<Ref, { kind: 'call' }>;

const named = '[^/:]+:[^/:]+';
const stepIn = ({ dialect }: WireNames) =>
  `(?:(?:attr|key)/[^/\\n\\r\\u2028\\u2029]*|index/(?:0|[1-9][0-9]{0,9})${dialect === 'weave' ? '|id/[A-Za-z0-9]{43}' : ''})`;

const objectRef = (names: WireNames) => {
  const { dialect } = names;
  const isPath = (path: string): boolean =>
    parsePath(path)?.every((step) => dialect === 'weave' || !('row' in step)) ?? false;
  const parse = (text: string): ObjectRef | undefined => {
    const ref = parseRef(names, text);
    return ref && ref.kind !== 'call' && isPath(ref.path) ? ref : undefined;
  };
  return z
    .pipe(
      z.string().check(z.refine((text) => parse(text) !== undefined, rule(refRule(names)))),
      z.transform((text) => parse(text) as ObjectRef),
    )
    .register(documented, {
      says: {
        pattern: `^${names.refScheme}${projectIdPattern}/(?:op/${named}|object/${named}(?:/${stepIn(names)})*)$`,
      },
    });
};

/** The body of `/refs/read_batch`: `{refs: […]}`. */
export const refsReadBody = (names: WireNames) =>
  z.strictObject({ refs: listOf(objectRef(names), maxItems) });
