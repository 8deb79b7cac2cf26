import { useRead } from '../session/session.tsx';

/** The projects that the key may read, by name. */
export const useProjects = () =>
  useRead(['projects'], async ({ client, signal }) => {
    const { projects } = await client.ask('/projects/query', {}, signal);
    return projects.map(({ project_id }) => project_id);
  });
