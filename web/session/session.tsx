import { type UseQueryOptions, type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useState,
  useSyncExternalStore,
} from 'react';
import { hasProject, includesRole, type Role } from '../../foundations/auth/roles.ts';
import type { Client } from '../api/client.ts';
import type { Me } from '../api/contract.ts';
import type { Wakeable } from '../api/wake.ts';
import type { Store } from '../data/store.ts';

/** Who the key belongs to, and what it may do. */
export type { Me };

/** A person at work: who they are, and the API in their name. */
interface Session {
  readonly me: Me;
  readonly client: Client;
  readonly signOut: () => void;
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
 * A store from the cache, or a new one: whoever comes back to a view finds it as it was.
 *
 * @returns the store, what it holds, and what puts another in its place
 */
export const useStore = <Kept extends Store<State>, State extends object>(
  [kind, ...about]: readonly [kind: string, ...about: unknown[]],
  make: () => Kept,
): { readonly store: Kept; readonly state: State; readonly replace: (next: Kept) => void } => {
  const { me } = useSession();
  const cache = useQueryClient();
  const queryKey = [kind, me.key_id, ...about];
  const { store } = useQuery<{ readonly store: Kept }>({
    queryKey,
    queryFn: async () => ({ store: make() }),
    initialData: () => ({ store: make() }),
    staleTime: Number.POSITIVE_INFINITY,
  }).data;
  const state = useSyncExternalStore(store.subscribe, store.snapshot);
  return { store, state, replace: (next) => cache.setQueryData(queryKey, { store: next }) };
};

/**
 * A state that outlives its view as long as what was read does, so that whoever comes back finds
 * it. Signing out removes it.
 *
 * @param name its name, and what it belongs to
 */
export const useKept = <Value,>(
  name: string,
  of: string,
  first: Value,
): readonly [Value, (next: Value) => void] => {
  const { me } = useSession();
  const cache = useQueryClient();
  const { key_id } = me;
  const { data } = useQuery<{ value: Value }>({
    queryKey: [name, key_id, of],
    enabled: false,
    initialData: { value: first },
  });
  // The cache tells of a change a moment later, which would have a checkbox jump back and forth.
  const [latest, setLatest] = useState<{ readonly of: string; readonly value: Value }>();
  const keep = useCallback(
    (value: Value) => {
      cache.setQueryData([name, key_id, of], { value });
      setLatest({ of, value });
    },
    [cache, name, key_id, of],
  );
  if (latest?.of === of) return [latest.value, keep];
  return [data ? data.value : first, keep];
};

/**
 * Wakes the functions that a view's next views will need, once its own requests are on their way.
 *
 * @param project undefined while it is not known
 */
export const useWake = (project: string | undefined, operations: readonly Wakeable[]): void => {
  const { client } = useSession();
  const wanted = operations.join();
  useEffect(() => {
    if (!project) return;
    for (const operation of wanted.split(',')) client.wake(operation as Wakeable, project);
  }, [client, project, wanted]);
};
