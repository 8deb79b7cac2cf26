import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ObjectVersion, Request } from '../api/contract.ts';
import { type Reading, readAgain, useSession } from './session.tsx';

/*
 * What the page keeps as objects of a project: alerts, evaluators, datasets, queues, saved views.
 * Each kind is a class, and each change a version.
 */

/** The most objects of a class, and versions of one, that are read. */
export const maxListed = 1000;

type ObjectsRequest = Omit<Request<'/objs/query'>, 'project_id'>;

/** Objects, or versions of them. Throws as the client does. */
export const readObjects = async (
  { client, signal }: Pick<Reading, 'client'> & Partial<Reading>,
  project: string,
  request: ObjectsRequest,
): Promise<ObjectVersion[]> =>
  (await client.ask('/objs/query', { limit: maxListed, ...request, project_id: project }, signal)).objs;

/** The latest versions of the objects of a class. */
export const ofClass = (name: string) => ({
  filter: { base_object_classes: [name], latest_only: true },
});

/** In order of the names of objects. */
export const byObject = { sort_by: [{ field: 'object_id' as const, direction: 'asc' as const }] };

/** All versions of an object, the newest first. */
export const versionsRequest = (object: string) => ({
  filter: { object_ids: [object] },
  sort_by: [{ field: 'version_index' as const, direction: 'desc' as const }],
});

/** What has a name, in the order of names. */
export const byName = <Named extends { readonly name: string }>(all: readonly Named[]): Named[] =>
  all.toSorted((a, b) => a.name.localeCompare(b.name));

/** The id of an object to be made, such as `alert-1xyz`. */
export const newObjectId = (kind: string): string =>
  `${kind}-${crypto.getRandomValues(new BigUint64Array(1))[0]?.toString(36)}`;

/**
 * Stores versions of objects whose values have `saved_at`, and deletes objects.
 *
 * @param kinds what is read again then, by the first part of its key in the cache
 */
export const useStoreObject = <Value extends object>(project: string, kinds: readonly string[]) => {
  const { client } = useSession();
  const cache = useQueryClient();
  const onSuccess = () =>
    readAgain(cache, { predicate: ({ queryKey: [kind] }) => kinds.includes(String(kind)) });
  const save = useMutation({
    mutationFn: ({ id, value }: { id: string; value: Value }) => {
      // The same values again are a new version by the time.
      const val = { ...value, saved_at: new Date().toISOString() } as Request<'/obj/create'>['obj']['val'];
      return client.ask('/obj/create', { obj: { project_id: project, object_id: id, val } });
    },
    onSuccess,
  });
  const remove = useMutation({
    mutationFn: (id: string) => client.ask('/obj/delete', { project_id: project, object_id: id }),
    onSuccess,
  });
  return { save, remove };
};
