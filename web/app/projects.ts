import { useRead } from '../session/session.tsx';

/**
 * The projects that the key may read, by name.
 *
 * @param enabled whether they are read; if not, they are there only if they were
 */
export const useProjects = (enabled = true) =>
  useRead(
    ['projects'],
    async ({ client, signal }) => {
      const { projects } = await client.ask('/projects/query', {}, signal);
      return projects.map(({ project_id }) => project_id);
    },
    { enabled },
  );
