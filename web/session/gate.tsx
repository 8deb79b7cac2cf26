import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useCallback, useEffect, useMemo, useState } from 'react';
import { clientOf } from '../api/client.ts';
import { RequestFailed, wordsOf } from '../api/errors.ts';
import { Button } from '../ui/button.tsx';
import { Modal } from '../ui/modal.tsx';
import { Notice } from '../ui/notice.tsx';
import { SignInForm } from '../views/sign-in/sign-in-form.tsx';
import { SignInView } from '../views/sign-in/sign-in-view.tsx';
import { forgetKey, isOnDevice, keepKey, keptKey } from './key-store.ts';
import { type Me, SessionProvider } from './session.tsx';

/** A key that the service accepted. */
interface Accepted {
  readonly key: string;
  readonly me: Me;
}

/** Asks who a key belongs to. */
const identify = async (key: string): Promise<Accepted> => ({
  key,
  me: await clientOf(key).ask('GET /me', undefined),
});

/** What stands there while a kept key is looked up, or if that fails. */
const Restoring = ({ error, onRetry }: { error: unknown; onRetry: () => void }) => (
  <main className="center">
    {error ? (
      <Notice kind="error" action={<Button onClick={onRetry}>Try again</Button>}>
        {wordsOf(error)}
      </Notice>
    ) : (
      <p className="muted">Signing in…</p>
    )}
  </main>
);

/** Looks up the key that was kept from an earlier visit. */
const useKeptKey = () => {
  const [accepted, setAccepted] = useState<Accepted>();
  const [waiting, setWaiting] = useState(() => keptKey() !== null);
  const [error, setError] = useState<unknown>();
  const restore = useCallback(() => {
    const key = keptKey();
    if (key === null) return;
    setError(undefined);
    // The view of the URL begins with a query: its function need not wait until the key is known.
    const project = new URLSearchParams(location.search).get('project');
    if (project) clientOf(key).wake('POST /calls/stream_query', project);
    identify(key).then(
      (found) => {
        setAccepted(found);
        setWaiting(false);
      },
      (failure: unknown) => {
        const isRefused = failure instanceof RequestFailed && failure.status === 401;
        if (isRefused) forgetKey();
        setWaiting(!isRefused);
        setError(failure);
      },
    );
  }, []);
  useEffect(restore, [restore]);
  return { accepted, setAccepted, waiting, error, restore };
};

/**
 * Lets people in who have a key, and asks the others for one. The URL stays, so that a link that
 * was sent opens after the sign-in. A key that stops being accepted is asked for anew over what is
 * on the screen.
 */
export const Gate = ({ children }: { children: ReactNode }) => {
  const cache = useQueryClient();
  const { accepted, setAccepted, waiting, error, restore } = useKeptKey();
  const [refused, setRefused] = useState(false);
  const signIn = async (key: string, onDevice: boolean) => {
    const found = await identify(key);
    keepKey(key, onDevice);
    setRefused(false);
    setAccepted(found);
  };
  const session = useMemo(
    () =>
      accepted && {
        me: accepted.me,
        client: clientOf(accepted.key, () => setRefused(true)),
        signOut: () => {
          forgetKey();
          cache.clear();
          setRefused(false);
          setAccepted(undefined);
        },
      },
    [accepted, setAccepted, cache],
  );
  if (!session) {
    if (waiting) return <Restoring error={error} onRetry={restore} />;
    return <SignInView onSignIn={signIn} error={error} />;
  }
  return (
    <SessionProvider session={session}>
      {children}
      <Modal title="Sign in again" open={refused} onClose={() => setRefused(false)}>
        <p>The service no longer accepts your key: it was revoked or has expired. What you see stays here.</p>
        <SignInForm onSignIn={signIn} onDevice={isOnDevice()} />
      </Modal>
    </SessionProvider>
  );
};
