import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Answer, Request } from '../../api/contract.ts';
import { allows, readAgain, useAllowed, useRead, useSession } from '../../session/session.tsx';
import { useUsers } from '../figures/used.ts';

/* Who works on a project: its members, and the users of keys. */

export type Member = Answer<'/members/query'>['members'][number];

/** The entity of a project. */
export const entityOf = (project: string): string => project.slice(0, project.indexOf('/'));

/** The members of a project and of its entity. Only administrators may ask; others have none. */
export const useMembers = (project: string) =>
  useRead(
    ['members', project],
    async ({ client, signal }) =>
      (await client.ask('/members/query', { project_id: project }, signal)).members,
    { enabled: useAllowed(project, 'admin') },
  );

/** Adds, changes and removes members. */
export const useChangeMembers = () => {
  const { client } = useSession();
  const cache = useQueryClient();
  const onSuccess = () => readAgain(cache, { predicate: ({ queryKey: [kind] }) => kind === 'members' });
  const set = useMutation({
    mutationFn: (request: Request<'/members/set'>) => client.ask('/members/set', request),
    onSuccess,
  });
  const remove = useMutation({
    mutationFn: (request: Request<'/members/remove'>) => client.ask('/members/remove', request),
    onSuccess,
  });
  return { set, remove };
};

/** Whether the reader administers all projects of the project's entity. */
export const useIsEntityAdmin = (project: string): boolean => {
  const { me } = useSession();
  // No project has this name: only a grant of the whole entity has it.
  return allows(me, `${entityOf(project)}/*`, 'admin');
};

/** Who can be named in a project: who has reported to it, and its members if the reader may know them. */
export const usePeople = (project: string): readonly string[] => {
  const users = useUsers(project);
  const { data = [] } = useMembers(project);
  const people = data.map(({ member }) => member).filter((member) => !member.startsWith('group:'));
  return [...new Set([...people, ...users])].sort();
};
