import { useQuery } from '@tanstack/react-query';
import { fromWire } from '../../api/calls.ts';
import type { ObjectVersion } from '../../api/types.ts';
import { useSession } from '../../session/session.tsx';

/** The most objects, and versions of one, that are read. */
export const maxListed = 1000;

const versionOf = (record: unknown, service: string): ObjectVersion =>
  fromWire(record, service) as unknown as ObjectVersion;

/** The latest versions of all objects of a project, by name, without their values. */
export const useObjects = (project: string) => {
  const { client, me } = useSession();
  return useQuery({
    queryKey: ['objects', me.key_id, project],
    queryFn: async ({ signal }) => {
      const request = {
        project_id: project,
        filter: { latest_only: true },
        metadata_only: true,
        sort_by: [{ field: 'object_id' as const, direction: 'asc' as const }],
        limit: maxListed,
      };
      const { objs } = await client.ask('POST /objs/query', request, signal);
      return objs.map((record) => versionOf(record, me.service.name));
    },
  });
};

/** The versions of an object, the newest first, without their values. */
export const useVersions = (project: string, object: string | undefined) => {
  const { client, me } = useSession();
  return useQuery({
    queryKey: ['versions', me.key_id, project, object],
    enabled: object !== undefined,
    queryFn: async ({ signal }) => {
      const request = {
        project_id: project,
        filter: { object_ids: [object ?? ''] },
        metadata_only: true,
        sort_by: [{ field: 'version_index' as const, direction: 'desc' as const }],
        limit: maxListed,
      };
      const { objs } = await client.ask('POST /objs/query', request, signal);
      return objs.map((record) => versionOf(record, me.service.name));
    },
  });
};

/** The value of a version. It never changes, so it is read once. */
export const useValue = (version: ObjectVersion | undefined) => {
  const { client, me } = useSession();
  return useQuery({
    queryKey: ['value', me.key_id, version?.project_id, version?.object_id, version?.digest],
    enabled: version !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const request = {
        project_id: version?.project_id ?? '',
        object_id: version?.object_id ?? '',
        digest: version?.digest ?? '',
      };
      return (await client.ask('POST /obj/read', request, signal)).obj.val;
    },
  });
};
