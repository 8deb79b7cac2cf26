import type { ObjectVersion } from '../api/contract.ts';
import { useRead } from '../session/session.tsx';
import { readObjects, versionsRequest } from '../session/stored.ts';

/* The versions of any object of a project, and what they hold. Who saves one says that `versions` is old. */

/**
 * The versions of an object, without their values, the newest first.
 *
 * @param object its id; undefined to read nothing
 */
export const useVersions = (project: string, object: string | undefined) =>
  useRead(
    ['versions', project, object],
    (reading) => readObjects(reading, project, { ...versionsRequest(object ?? ''), metadata_only: true }),
    { enabled: object !== undefined },
  );

/**
 * The value of a version. It never changes, so it is read once.
 *
 * @param version undefined to read nothing
 */
export const useValue = (version: ObjectVersion | undefined) => {
  const { project_id = '', object_id = '', digest = '' } = version ?? {};
  return useRead(
    ['value', project_id, object_id, digest],
    async ({ client, signal }) =>
      (await client.ask('/obj/read', { project_id, object_id, digest }, signal)).obj.val,
    { enabled: version !== undefined, staleTime: Number.POSITIVE_INFINITY },
  );
};
