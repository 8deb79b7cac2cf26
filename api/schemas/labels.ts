import * as z from 'zod/mini';
import {
  documented,
  documentedList,
  id,
  printableText,
  projectId,
  rule,
} from '../../core/foundations/wire/schema.ts';
import { isDigest, parseVersionName } from '../../core/records/objects/model.ts';
import { objectId } from './objects.ts';

const maxLabels = 100;

const labelsOf = <S extends z.ZodMiniType>(label: S) =>
  documentedList(
    z
      .array(label)
      .check(
        z.refine(
          (list) => list.length <= maxLabels,
          rule(`should be at most ${maxLabels} items`, 'too_long'),
        ),
      ),
    maxLabels,
  );

/** Whether a text could be taken for `latest`, an index or a digest. */
const isTaken = (text: string): boolean => {
  const version = parseVersionName(text);
  return version === 'latest' || 'versionIndex' in version || isDigest(text);
};

const alias = id
  .check(z.refine((text) => !isTaken(text), rule('should be neither latest, nor v<N>, nor a digest')))
  .register(documented, { name: 'Alias', says: printableText(256) });

const versionFields = { project_id: projectId, object_id: objectId, digest: id };

/** The body of `PUT /objs/{object_id}/aliases`: `{project_id, digest, aliases}`. */
export const aliasesSetBody = z.strictObject({ ...versionFields, aliases: labelsOf(alias) });

/** The body of `/objs/{object_id}/aliases/remove`: `{project_id, aliases}`. */
export const aliasesRemoveBody = z.strictObject({
  project_id: projectId,
  object_id: objectId,
  aliases: labelsOf(id),
});

/** The body of `PUT /objs/{object_id}/versions/{digest}/tags`: `{project_id, tags}`. */
export const tagsAddBody = z.strictObject({ ...versionFields, tags: labelsOf(id) });

/** The body of `/objs/{object_id}/versions/{digest}/tags/remove`: `{project_id, tags}`. */
export const tagsRemoveBody = z.strictObject({ ...versionFields, tags: labelsOf(id) });

/** The query of `GET /aliases` and `GET /tags`: `project_id`. */
export const labelsListQuery = z.strictObject({ project_id: projectId });
