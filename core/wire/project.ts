/** A project's id, `<entity>/<project>`, checked: only {@link parseProjectId} makes one. */
export type ProjectId = string & { readonly __brand: 'ProjectId' };

const part = /^[A-Za-z0-9_.-]{1,128}$/;
const isPart = (text: string): boolean => part.test(text) && text !== '.' && text !== '..';

/** What a project id must look like, for error messages. */
export const projectIdRule =
  'should be <entity>/<project>: exactly one slash, both parts 1 to 128 letters, digits, "_", "-" or "."';

/**
 * Parses `<entity>/<project>`: exactly one slash, both parts 1–128 characters of letters, digits,
 * `_`, `-`, `.`, and neither `.` nor `..`.
 *
 * @returns the id, or undefined where the text is not one
 */
export const parseProjectId = (text: string): ProjectId | undefined => {
  const [entity, project, ...rest] = text.split('/');
  if (entity === undefined || project === undefined || rest.length > 0) return undefined;
  return isPart(entity) && isPart(project) ? (text as ProjectId) : undefined;
};
