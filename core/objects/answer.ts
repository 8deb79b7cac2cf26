import { formatTime, type WireNames } from '../wire/index.ts';
import type { ObjectVersion } from './model.ts';

/**
 * A version of an object as JSON text, as it is answered.
 *
 * @param val its value as JSON text, which is passed on as it was stored
 */
export const objectJson = (names: WireNames, { header, isLatest }: ObjectVersion, val: string): string => {
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
  });
  return `${fields.slice(0, -1)},"val":${val}}`;
};
