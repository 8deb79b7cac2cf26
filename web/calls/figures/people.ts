import { isObject } from '../../data/values.ts';
import { allows, useRead, useSession } from '../../session/session.tsx';
import { readUsers } from './used.ts';

const none: readonly string[] = [];

/** How many of the latest records of feedback tell who has given any. */
const maxRecords = 500;

/** The people among the members of a project, as the service lists them. */
export const memberNames = (answer: unknown): string[] => {
  const members = isObject(answer) ? answer.members : undefined;
  if (!Array.isArray(members)) return [];
  return members.flatMap((member: unknown) =>
    isObject(member) && typeof member.member === 'string' && !member.member.startsWith('group:')
      ? [member.member]
      : [],
  );
};

const orNone = (names: Promise<readonly string[]>): Promise<readonly string[]> => names.catch(() => none);

/**
 * The people who are known in a project: who reported calls or gave feedback of late, and its members if the
 * reader may ask for them. What cannot be read is left out.
 *
 * @param isEnabled whether they are asked for
 */
export const usePeople = (project: string, isEnabled: boolean): readonly string[] => {
  const { me } = useSession();
  const isAdmin = allows(me, project, 'admin');
  const { data = none } = useRead(
    ['people', project],
    async ({ client, signal }) => {
      const givers = client
        .ask(
          '/feedback/query',
          {
            project_id: project,
            fields: ['svc_user_id', 'creator'],
            sort_by: [{ field: 'created_at', direction: 'desc' }],
            limit: maxRecords,
          },
          signal,
        )
        .then(({ result }) =>
          result
            .flatMap(({ svc_user_id, creator }) => [svc_user_id, creator])
            .filter((name): name is string => typeof name === 'string'),
        );
      const members = isAdmin
        ? client.ask('/members/query', { project_id: project }, signal).then(memberNames)
        : Promise.resolve(none);
      const found = await Promise.all([readUsers(project, client, signal), givers, members].map(orNone));
      // `@` is followed by one word.
      const names = [me.user, ...found.flat()].filter((name) => /^\S{1,128}$/.test(name));
      return [...new Set(names)].toSorted((one, other) => one.localeCompare(other));
    },
    { enabled: isEnabled },
  );
  return data;
};
