import { type CallRow, getAgent, opText, sumUsage, type Usage } from '../../api/calls.ts';
import type { Thread } from '../../api/contract.ts';
import { nonEmptyString, valueAt } from '../../data/values.ts';
import type { ThreadGrouping } from '../../navigation/search.ts';
import type { ThreadFacts } from './facts.ts';

/* Sessions of coding agents among threads: how they are known, where they took place, and groups by that. */

/** Whether calls are those of a coding agent. */
export const isCodingSession = (calls: readonly CallRow[]): boolean =>
  calls.some(
    (call) =>
      /^(?:claude_code|codex)\./.test(opText(call.op_name)) ||
      /^(?:claude-code|codex)$/.test(getAgent(call) ?? ''),
  );

export const resourcePath = 'attributes.otel.resource';

/** What attributes of resources say of the place, by OpenTelemetry's names and by plain ones. */
const repositoryNames = ['vcs.repository.name', 'vcs.repository.url.full', 'git.repository', 'repository'];
const branchNames = ['vcs.ref.head.name', 'vcs.repository.ref.name', 'git.branch', 'branch'];

/** The first text at some paths of a call's attributes. */
export const firstText = (call: CallRow | undefined, paths: readonly string[]): string | undefined => {
  for (const path of paths) {
    const found = nonEmptyString(valueAt(call?.attributes, path));
    if (found !== undefined) return found;
  }
  return undefined;
};

const inResource = (names: readonly string[]): string[] => names.map((name) => `otel.resource.${name}`);

/** Where a call took place: the repository, by its last two names if it is a URL, and the branch. */
export const placeOf = (call: CallRow | undefined): Pick<ThreadFacts, 'repository' | 'branch'> => {
  const repository = firstText(call, inResource(repositoryNames));
  const [, path = repository] =
    /^(?:[a-z+]+:\/\/[^/]+\/|[^/@]+@[^/:]+:)(.+?)(?:\.git)?\/?$/i.exec(repository ?? '') ?? [];
  return {
    repository: path?.split('/').slice(-2).join('/'),
    branch: firstText(call, inResource(branchNames))?.replace(/^refs\/heads\//, ''),
  };
};

/** Threads of one user, repository or branch, with what they took together. */
export interface ThreadGroup {
  /** Undefined for those that name none. */
  readonly name: string | undefined;
  readonly threads: readonly Thread[];
  readonly usage: Usage | undefined;
  readonly errors: number;
  /** Whether usage and errors are those of all of their turns. */
  readonly whole: boolean;
}

const nameIn: Readonly<Record<ThreadGrouping, (facts: ThreadFacts) => string | undefined>> = {
  repository: ({ repository }) => repository,
  // Branches of the same name are in several repositories.
  branch: ({ repository, branch }) =>
    branch === undefined ? undefined : [repository, branch].filter(Boolean).join(' · '),
  user: ({ user, email }) => email ?? user,
};

/** Threads by what their first turn names, the group of the first thread first; those that name nothing last. */
export const groupThreads = (
  threads: readonly Thread[],
  facts: ReadonlyMap<string, ThreadFacts>,
  by: ThreadGrouping,
): ThreadGroup[] => {
  const groups = Map.groupBy(threads, ({ thread_id }) => {
    const own = facts.get(thread_id);
    return own && nameIn[by](own);
  });
  return [...groups]
    .map(([name, own]): ThreadGroup => {
      const known = own.flatMap(({ thread_id }) => facts.get(thread_id) ?? []);
      return {
        name,
        threads: own,
        usage: sumUsage(known.flatMap(({ usage }) => usage ?? [])),
        errors: known.reduce((sum, { errors }) => sum + errors, 0),
        whole: known.every(({ whole }) => whole),
      };
    })
    .sort((a, b) => Number(a.name === undefined) - Number(b.name === undefined));
};
