import {
  type QueryClient,
  type QueryFilters,
  type UseQueryOptions,
  type UseQueryResult,
  useQuery,
} from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect } from 'react';
import { hasProject, includesRole, type Role } from '../../foundations/auth/roles.ts';
import type { Client } from '../api/client.ts';
import type { Me } from '../api/contract.ts';
import type { Wakeable } from '../api/wake.ts';

/** Who the key belongs to, and what it may do. */
export type { Me };

/** A person at work: who they are, and the API in their name. */
interface Session {
  readonly me: Me;
  /** The host of the issuer at which they signed in; absent if they came with a key. */
  readonly issuer?: string | undefined;
  readonly client: Client;
  readonly signOut: () => unknown;
  /** Whether it is of a public link, which shows one trace and leads nowhere else. @default false */
  readonly isShared?: boolean;
}

const Context = createContext<Session | undefined>(undefined);

/** Gives a session to what is inside. */
export const SessionProvider = ({ session, children }: { session: Session; children: ReactNode }) => (
  <Context value={session}>{children}</Context>
);

/** The session. Throws an Error outside of one: views are rendered for people who signed in. */
export const useSession = (): Session => {
  const session = useContext(Context);
  if (!session) throw new Error('no session');
  return session;
};

/**
 * What somebody is called: the reader by their name, others by what stands before the @ of their e-mail. A key's
 * user is called what it is.
 */
export const personText = (user: string, me: Pick<Me, 'user' | 'name'>): string =>
  user === me.user && me.name ? me.name : user.replace(/^([^@\s]+)@[^@\s]+$/, '$1');

/** Somebody by what they are called; the pointer shows who exactly that is. */
export const Person = ({ user }: { user: string }) => {
  const text = personText(user, useSession().me);
  return (
    <span dir="auto" {...(text !== user && { title: user })}>
      {text}
    </span>
  );
};

/** Whether a key may do something to a project. The service decides; this says it beforehand. */
export const allows = ({ grants }: Pick<Me, 'grants'>, project: string, role: Role): boolean =>
  grants.some(({ resource, role: granted }) => includesRole(granted, role) && hasProject(resource, project));

/** Whether the reader's key may do something to a project. */
export const useAllowed = (project: string, role: Role): boolean => allows(useSession().me, project, role);

/** What a read is done with. */
export interface Reading {
  readonly client: Client;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/**
 * Reads from the service, through the cache. Each key has answers of its own.
 *
 * @param queryKey the kind of answer, and what it is about
 */
export const useRead = <Data, Shown = Data>(
  [kind, ...about]: readonly [kind: string, ...about: unknown[]],
  read: (reading: Reading) => Promise<Data>,
  options: Omit<UseQueryOptions<Data, Error, Shown>, 'queryKey' | 'queryFn'> = {},
): UseQueryResult<Shown> => {
  const { client, me } = useSession();
  return useQuery({
    queryKey: [kind, me.key_id, ...about],
    // The signal is taken only if it is used: an answer without it is read to its end.
    queryFn: (context) =>
      read({
        client,
        get signal() {
          return context.signal;
        },
      }),
    ...options,
  });
};

/**
 * Reads again what a change has made out of date. An answer that is on its way may be from before the
 * change. Invalidating alone would still take it if it is the first of its key.
 *
 * @param stale which reads the change concerns
 */
export const readAgain = async (cache: QueryClient, stale: Pick<QueryFilters, 'queryKey' | 'predicate'>) => {
  await cache.cancelQueries(stale);
  await cache.invalidateQueries(stale);
};

/**
 * Wakes the functions that a view's next views will need, once its own requests are on their way.
 *
 * @param project undefined while it is not known
 */
export const useWake = (project: string | undefined, operations: readonly Wakeable[]): void => {
  const { client } = useSession();
  const operationNames = operations.join();
  useEffect(() => {
    if (!project) return;
    for (const operation of operationNames.split(',')) client.wake(operation as Wakeable, project);
  }, [client, project, operationNames]);
};

interface LackingProps {
  readonly project: string;
  readonly needs: Role;
  /** What the role is needed for: `to change this`. */
  readonly what: string;
}

/** Says why something is not there for somebody. */
export const Lacking = ({ project, needs, what }: LackingProps) => (
  <p className="muted">
    It takes the role {needs} on {project} {what}. Somebody with the role admin can give it to you.
  </p>
);

interface ForAdminsProps {
  readonly project: string;
  readonly what: string;
  readonly children: ReactNode;
}

/** What only administrators of the project see; the others read why. */
export const ForAdmins = ({ project, what, children }: ForAdminsProps) =>
  useAllowed(project, 'admin') ? children : <Lacking project={project} needs="admin" what={what} />;
