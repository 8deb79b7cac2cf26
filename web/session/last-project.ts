const name = 'pennytrace.project';

/** The project that was open last on this device; undefined for none. */
export const lastProject = (): string | undefined => {
  try {
    return localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
};

/** Notes the open project. */
export const noteProject = (project: string): void => {
  try {
    localStorage.setItem(name, project);
  } catch {
    // The next visit begins at the list of projects.
  }
};
