import { formatTime, type WireNames } from '../../foundations/wire/index.ts';
import type { Labels } from './labels.ts';
import type { ObjectVersion, VersionHeader } from './model.ts';

/**
 * A version of an object as JSON text, as it is answered.
 *
 * @param val its value as JSON text, which is passed on as it was stored
 * @param more its tags and aliases, and the bytes of its value, where they were asked for; the
 * latest has the alias `latest` too
 */
export const objectJson = (
  names: WireNames,
  { header, isLatest }: ObjectVersion,
  val: string,
  { tags, aliases, bytes }: Partial<Labels & Pick<VersionHeader, 'bytes'>> = {},
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
    ...(bytes !== undefined && { size_bytes: bytes }),
    ...(tags && { tags }),
    ...(aliases && { aliases: isLatest ? ['latest', ...aliases] : aliases }),
  });
  return `${fields.slice(0, -1)},"val":${val}}`;
};
