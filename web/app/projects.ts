import { useQuery } from '@tanstack/react-query';
import type { Me } from '../session/session.tsx';
import { useSession } from '../session/session.tsx';

/** The projects that the key may read, by name. */
export const useProjects = () => {
  const { client, me } = useSession();
  return useQuery({
    queryKey: ['projects', me.key_id],
    queryFn: async ({ signal }) => {
      const { projects } = await client.ask('POST /projects/query', {}, signal);
      return projects.map(({ project_id }) => project_id);
    },
  });
};

/** The projects that grants name one by one: known even before anything was reported to them. */
export const grantedProjects = ({ grants }: Me): string[] =>
  [...new Set(grants.map(({ resource }) => resource))].filter((resource) => !resource.includes('*'));
