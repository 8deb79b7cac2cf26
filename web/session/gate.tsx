import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { createClient } from '../api/client.ts';
import { errorText, RequestFailed } from '../api/http.ts';
import { Button, Check, Failure, Logo, Notice } from '../ui/controls.tsx';
import { Form } from '../ui/fields.tsx';
import { Modal } from '../ui/popups.tsx';
import { forgetKey, isOnDevice, keepKey, keptKey } from './device.ts';
import { forgetAll } from './kept.ts';
import { type Me, SessionProvider } from './session.tsx';

/** What the form does with a key: it throws if the service does not accept it. */
type SignIn = (key: string, onDevice: boolean) => Promise<void>;

interface SignInFormProps {
  readonly onSignIn: SignIn;
  /** Whether keeping the key on the device is preselected. */
  readonly onDevice?: boolean;
  /** Why an earlier key was not accepted. */
  readonly error?: unknown;
}

/** Asks for a key. */
const SignInForm = ({ onSignIn, onDevice = false, error: earlier }: SignInFormProps) => {
  const [key, setKey] = useState('');
  const [keep, setKeep] = useState(onDevice);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(earlier);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const submit = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await onSignIn(key.trim(), keep);
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <Form className="stack" onSubmit={submit}>
      {error ? <Notice kind="error">{errorText(error)}</Notice> : null}
      <label className="field">
        <span>Key</span>
        <input
          ref={field}
          type="password"
          name="key"
          autoComplete="off"
          spellCheck={false}
          required
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
      </label>
      <Check label="Keep it on this device" checked={keep} onChange={setKeep} />
      <Button kind="primary" type="submit" disabled={busy || key.trim() === ''}>
        {busy ? 'Signing in…' : 'Sign in'}
      </Button>
    </Form>
  );
};

/** The first view of a visitor without a key. */
const SignInView = ({ onSignIn, error }: { onSignIn: SignIn; error?: unknown }) => (
  <main className="center">
    <div className="card sign-in">
      <h1 className="brand">
        <Logo /> pennytrace
      </h1>
      <p className="muted">
        Sign in with a key of this service. It stays in this tab unless you keep it, and is only sent to the
        service.
      </p>
      <SignInForm onSignIn={onSignIn} error={error} />
      <p className="hint">
        An operator makes keys with <code>npm run keys -- create</code>. The local service prints one when it
        starts.
      </p>
    </div>
  </main>
);

/** A key that the service accepted. */
interface Accepted {
  readonly key: string;
  readonly me: Me;
}

/** Asks who a key belongs to. */
const identify = async (key: string): Promise<Accepted> => ({
  key,
  me: await createClient(key).ask('/me', undefined),
});

/** What stands there while a kept key is looked up, or if that fails. */
const Restoring = ({ error, onRetry }: { error: unknown; onRetry: () => void }) => (
  <main className="center">
    {error ? <Failure error={error} onRetry={onRetry} /> : <p className="muted">Signing in…</p>}
  </main>
);

/**
 * Looks up the key of the link that was opened, or the one that was kept from an earlier visit.
 *
 * @param linked undefined if no such link was opened
 */
const useKnownKey = (linked: Promise<string> | undefined) => {
  const [accepted, setAccepted] = useState<Accepted>();
  const [waiting, setWaiting] = useState(() => linked !== undefined || keptKey() !== null);
  const [error, setError] = useState<unknown>();
  const restore = useCallback(() => {
    const kept = keptKey();
    if (linked === undefined && kept === null) return;
    setError(undefined);
    const enter = async (): Promise<Accepted> => {
      // The view of the URL begins with a query: its function need not wait until the key is known.
      const project = new URLSearchParams(location.search).get('project');
      if (kept !== null && project) createClient(kept).wake('/calls/stream_query', project);
      return identify(linked ? await linked : (kept ?? ''));
    };
    enter().then(
      (found) => {
        setAccepted(found);
        setWaiting(false);
      },
      (failure: unknown) => {
        const isRefused = failure instanceof RequestFailed && failure.status === 401;
        if (isRefused) forgetKey();
        // A link is followed once: if it led nowhere, the key is asked for.
        setWaiting(!isRefused && keptKey() !== null);
        setError(failure);
      },
    );
  }, [linked]);
  useEffect(restore, [restore]);
  return { accepted, setAccepted, waiting, error, restore };
};

/**
 * Lets people in who have a key, and asks the others for one. The URL stays, so that a link that
 * was sent opens after the sign-in. A key that stops being accepted is asked for anew over what is
 * on the screen.
 */
export const Gate = ({ linked, children }: { linked?: Promise<string> | undefined; children: ReactNode }) => {
  const cache = useQueryClient();
  const { accepted, setAccepted, waiting, error, restore } = useKnownKey(linked);
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
        client: createClient(accepted.key, { onRefused: () => setRefused(true) }),
        signOut: () => {
          forgetKey();
          cache.clear();
          forgetAll();
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
        <p>Your key was revoked or has expired. What you see stays here.</p>
        <SignInForm onSignIn={signIn} onDevice={isOnDevice()} />
      </Modal>
    </SessionProvider>
  );
};
