import { formatTime, type WireNames } from '../wire/index.ts';
import type { Labels } from './labels.ts';
import type { ObjectVersion } from './model.ts';

/**
 * A version of an object as JSON text, as it is answered.
 *
 * @param val its value as JSON text, which is passed on as it was stored
 * @param labels its tags and aliases, if they were asked for; the latest has the alias `latest` too
 */
export const objectJson = (
  names: WireNames,
  { header, isLatest }: ObjectVersion,
  val: string,
  labels?: Labels,
): string => {
  const fields = JSON.stringify({
    project_id: header.projectId,
    object_id: header.objectId,
    digest: header.digest,
    version_index: header.versionIndex,
    is_latest: isLatest ? 1 : 0,
    kind: header.kind,
    base_object_class: header.baseObjectClass,
    created_at: formatTime(header.createdAt),
    [names.userId]: header.userId,
    ...(labels && {
      tags: labels.tags,
      aliases: isLatest ? ['latest', ...labels.aliases] : labels.aliases,
    }),
  });
  return `${fields.slice(0, -1)},"val":${val}}`;
};
