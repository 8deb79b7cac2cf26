import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, Suspense, useCallback, useEffect, useMemo, useState } from 'react';
import { type Credentials, createClient, keyCredentials } from '../api/client.ts';
import { RequestFailed } from '../api/http.ts';
import { Failure } from '../ui/controls.tsx';
import { lazily } from '../ui/lazy.ts';
import { Modal } from '../ui/popups.tsx';
import { forgetKey, keepKey, keptKey, noteSignsIn } from './device.ts';
import { forgetAll } from './kept.ts';
import { type Me, SessionProvider } from './session.tsx';
import { forgetTokens, issuerHost, keptTokens, type Tokens, tokenCredentials, watchEnd } from './tokens.ts';

const loadViews = () => import('./sign-in-view.tsx');
const SignInView = lazily(loadViews, 'SignInView');
const SignInAgain = lazily(loadViews, 'SignInAgain');

/** Credentials that the service accepted. */
interface Accepted {
  readonly credentials: Credentials;
  readonly me: Me;
}

/** Asks who credentials belong to. */
const identify = async (credentials: Credentials): Promise<Accepted> => ({
  credentials,
  me: await createClient(credentials).ask('/me', undefined),
});

const isRefusal = (failure: unknown): boolean => failure instanceof RequestFailed && failure.status === 401;

/**
 * Enters by the address that was opened, or by what was kept. Anybody can lead people to an address, so one that
 * leads nowhere ends no session.
 *
 * @throws what is wrong with the address, if what was kept is not accepted either
 */
const enterBy = async (
  linked: Promise<Credentials> | undefined,
  kept: Credentials | undefined,
): Promise<Accepted> => {
  try {
    const credentials = linked ? await linked : kept;
    if (credentials === undefined) throw new RequestFailed('You have signed out. Sign in again.', 401);
    return await identify(credentials);
  } catch (failure) {
    if (linked === undefined || kept === undefined) throw failure;
    return identify(kept).catch((other: unknown) => {
      throw isRefusal(other) ? failure : other;
    });
  }
};

/** What was kept from an earlier visit; undefined for nothing. */
const keptCredentials = (): Credentials | undefined => {
  const key = keptKey();
  return key !== null ? keyCredentials(key) : keptTokens() ? tokenCredentials : undefined;
};

const forgetCredentials = (): void => {
  forgetKey();
  forgetTokens();
  noteSignsIn(false);
};

/** What stands there while kept credentials are looked up, or if that fails. */
const Restoring = ({ error, onRetry }: { error: unknown; onRetry: () => void }) => (
  <main className="center">
    {error ? <Failure error={error} onRetry={onRetry} /> : <p className="muted">Signing in…</p>}
  </main>
);

/**
 * Looks up the credentials of the address that was opened, or those that were kept from an earlier visit.
 *
 * @param linked undefined if no such address was opened
 */
const useKnownCredentials = (linked: Promise<Credentials> | undefined) => {
  const [accepted, setAccepted] = useState<Accepted>();
  const [waiting, setWaiting] = useState(() => linked !== undefined || keptCredentials() !== undefined);
  const [error, setError] = useState<unknown>();
  const restore = useCallback(() => {
    const kept = keptCredentials();
    if (linked === undefined && kept === undefined) return;
    setError(undefined);
    const enter = async (): Promise<Accepted> => {
      // The view of the URL begins with a query: its function need not wait until the person is known.
      const project = new URLSearchParams(location.search).get('project');
      if (kept !== undefined && project) createClient(kept).wake('/calls/stream_query', project);
      const found = await enterBy(linked, kept);
      noteSignsIn(found.credentials === tokenCredentials);
      return found;
    };
    enter().then(
      (found) => {
        setAccepted(found);
        setWaiting(false);
      },
      (failure: unknown) => {
        const isRefused = isRefusal(failure);
        if (isRefused) forgetCredentials();
        // An address is followed once: if it led nowhere, the sign-in is asked for.
        setWaiting(!isRefused && keptCredentials() !== undefined);
        setError(failure);
      },
    );
  }, [linked]);
  useEffect(restore, [restore]);
  return { accepted, setAccepted, waiting, error, restore };
};

interface GateProps {
  /** The credentials of the address that was opened. @default - it has none */
  readonly linked?: Promise<Credentials> | undefined;
  readonly children: ReactNode;
}

/**
 * Lets people in who have signed in, and asks the others to. The URL stays, so that a link that was sent opens
 * after the sign-in. If the service stops accepting who they are, that is asked for anew over what is on the
 * screen.
 */
export const Gate = ({ linked, children }: GateProps) => {
  const cache = useQueryClient();
  const { accepted, setAccepted, waiting, error, restore } = useKnownCredentials(linked);
  const [refused, setRefused] = useState<{ readonly tokens: Tokens | undefined }>();
  const enterKey = async (key: string, onDevice: boolean) => {
    const found = await identify(keyCredentials(key));
    forgetCredentials();
    keepKey(key, onDevice);
    setRefused(undefined);
    setAccepted(found);
  };
  const session = useMemo(() => {
    if (!accepted) return undefined;
    const { me, credentials } = accepted;
    const tokens = credentials === tokenCredentials ? keptTokens() : undefined;
    const leave = () => {
      forgetCredentials();
      cache.clear();
      forgetAll();
      setRefused(undefined);
      setAccepted(undefined);
    };
    return {
      me,
      issuer: tokens && issuerHost(tokens.setting),
      client: createClient(credentials, { onRefused: () => setRefused({ tokens }) }),
      leave,
      signOut: async () => {
        const present = tokens && (keptTokens() ?? tokens);
        const loading = present && import('./sign-in.ts');
        leave();
        // Whoever signs in next on this device is asked who they are.
        if (present) (await loading)?.end(present);
      },
    };
  }, [accepted, setAccepted, cache]);
  useEffect(() => session && watchEnd(session.leave), [session]);
  if (!session) {
    if (waiting) return <Restoring error={error} onRetry={restore} />;
    return (
      <Suspense>
        <SignInView onKey={enterKey} error={error} />
      </Suspense>
    );
  }
  return (
    <SessionProvider session={session}>
      {children}
      <Modal title="Sign in again" open={refused !== undefined} onClose={() => setRefused(undefined)}>
        <Suspense>
          <SignInAgain tokens={refused?.tokens} onKey={enterKey} />
        </Suspense>
      </Modal>
    </SessionProvider>
  );
};
