/** A project's id, `<entity>/<project>`. Only {@link parseProjectId} makes one. */
export type ProjectId = string & { readonly __brand: 'ProjectId' };

const part = /^[A-Za-z0-9_.-]{1,128}$/;
const isPart = (text: string): boolean => part.test(text) && text !== '.' && text !== '..';

/** The rule for project ids, for error messages. */
export const projectIdRule =
  'should be <entity>/<project>: exactly one slash, both parts 1 to 128 letters, digits, "_", "-" or "."';

/**
 * Parses `<entity>/<project>`: exactly one slash. Both parts have 1–128 letters, digits, `_`, `-`
 * or `.`, and neither is `.` or `..`.
 *
 * @returns the id; undefined if the text is not one
 */
export const parseProjectId = (text: string): ProjectId | undefined => {
  const [entity, project, ...rest] = text.split('/');
  if (entity === undefined || project === undefined || rest.length > 0) return undefined;
  return isPart(entity) && isPart(project) ? (text as ProjectId) : undefined;
};

/**
 * Identifies a call or a record among all projects. Neither field can contain the line break
 * between them.
 */
export const qualifiedId = (projectId: ProjectId, id: string): string => `${projectId}\n${id}`;
