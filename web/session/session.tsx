import { createContext, type ReactNode, useContext } from 'react';
import type { Client } from '../api/client.ts';
import type { Api } from '../api/types.ts';

/** Who the key belongs to, and what it may do. */
export type Me = Api['GET /me']['answer'];

/** A person at work: who they are, and the API in their name. */
export interface Session {
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
