import * as z from 'zod/mini';
import { isUser, type Reporter } from '../../core/foundations/auth/index.ts';
import { parseProjectId } from '../../core/foundations/wire/index.ts';

/** What the custom resource says of a key. `Rotation` only makes one request unlike another. */
const schema = z.object({
  Secret: z.string(),
  User: z.string().check(z.refine(isUser, 'should be 1 to 128 printable characters, without : " and \\')),
  Project: z.string(),
});

/** The key to make, and the secret that it goes into. */
export interface Wanted extends Reporter {
  readonly secret: string;
}

/**
 * Reads the properties of the custom resource.
 *
 * @throws Error which names what is wrong with them
 */
export const wantedBy = (properties: unknown): Wanted => {
  const { success, data, error } = schema.safeParse(properties);
  if (!success)
    throw new Error(
      error.issues.map(({ path, message }) => `the property ${path.join('.')}: ${message}`).join('; '),
    );
  const project = parseProjectId(data.Project);
  if (project === undefined)
    throw new Error(`the property Project is ${data.Project}: should be <entity>/<project>`);
  return { secret: data.Secret, user: data.User, project };
};
