import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { type Credentials, createClient, keyCredentials } from '../api/client.ts';
import { errorText, RequestFailed } from '../api/http.ts';
import { Button, Check, Failure, Logo, Notice } from '../ui/controls.tsx';
import { Form } from '../ui/fields.tsx';
import { Modal } from '../ui/popups.tsx';
import { forgetKey, isOnDevice, keepKey, keptKey, noteSignsIn, signsIn } from './device.ts';
import { forgetAll } from './kept.ts';
import { type Me, SessionProvider } from './session.tsx';
import {
  forgetTokens,
  keptTokens,
  readSignIn,
  type SignIn,
  type Tokens,
  tokenCredentials,
  watchEnd,
} from './tokens.ts';

/** What the form does with a key: it throws if the service does not accept it. */
type EnterKey = (key: string, onDevice: boolean) => Promise<void>;

interface KeyFormProps {
  readonly onKey: EnterKey;
  /** Whether keeping the key on the device is preselected. */
  readonly onDevice?: boolean;
  /** Why an earlier key was not accepted. */
  readonly error?: unknown;
}

/** Asks for a key. */
const KeyForm = ({ onKey, onDevice = false, error: earlier }: KeyFormProps) => {
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
      await onKey(key.trim(), keep);
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

/** Leads to the issuer. What does so loads with the first click. */
const useBegin = () => {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const begin = useCallback(async (read: () => Promise<SignIn | null>) => {
    setBusy(true);
    setError(undefined);
    try {
      const [{ begin }, signIn] = await Promise.all([import('./sign-in.ts'), read()]);
      if (signIn === null) throw new RequestFailed('The service has no sign-in any more. Use a key.');
      await begin(signIn);
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  }, []);
  return { busy, error, begin };
};

const hostOf = (issuer: string): string => new URL(issuer).host;

interface IssuerButtonProps {
  readonly signIn: SignIn;
  /** Whether it leads there by itself. @default false */
  readonly atOnce?: boolean;
}

/** Signs in at the issuer. */
const IssuerButton = ({ signIn, atOnce = false }: IssuerButtonProps) => {
  const { busy, error, begin } = useBegin();
  const start = useCallback(() => begin(async () => signIn), [begin, signIn]);
  useEffect(() => {
    if (atOnce) start();
  }, [atOnce, start]);
  return (
    <>
      {error ? <Notice kind="error">{errorText(error)}</Notice> : null}
      <Button kind="primary" idle={busy} autoFocus onClick={start}>
        {busy ? 'Signing in…' : 'Sign in'}
      </Button>
      <p className="hint">You sign in at {hostOf(signIn.setting.issuer)}, and come back here.</p>
    </>
  );
};

/** Asks how people sign in: undefined until that is known, null if they only use keys. */
const useSignInSetting = () => {
  const [signIn, setSignIn] = useState<SignIn | null>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    readSignIn().then(setSignIn, (failure: unknown) => {
      setError(failure);
      setSignIn(null);
    });
  }, []);
  return { signIn, error };
};

/** The first view of a visitor who is not signed in. */
const SignInView = ({ onKey, error }: { onKey: EnterKey; error?: unknown }) => {
  const { signIn, error: unknown } = useSignInSetting();
  const [atOnce] = useState(() => error === undefined && signsIn());
  return (
    <main className="center">
      <div className="card sign-in">
        <h1 className="brand">
          <Logo /> pennytrace
        </h1>
        {signIn === undefined ? <p className="muted">Loading…</p> : null}
        {signIn ? (
          <>
            {error ? <Notice kind="error">{errorText(error)}</Notice> : null}
            <IssuerButton signIn={signIn} atOnce={atOnce} />
            <details>
              <summary>Use a key</summary>
              <KeyForm onKey={onKey} />
            </details>
          </>
        ) : null}
        {signIn === null ? (
          <>
            <p className="muted">
              Sign in with a key of this service. It stays in this tab unless you keep it, and is only sent to
              the service.
            </p>
            <KeyForm onKey={onKey} error={error ?? unknown} />
            <p className="hint">
              An operator makes keys with <code>npm run keys -- create</code>. The local service prints one
              when it starts.
            </p>
          </>
        ) : null}
      </div>
    </main>
  );
};

/** Asks for the sign-in anew, over what is on the screen. */
const SignInAgain = ({ tokens, onKey }: { tokens: Tokens | undefined; onKey: EnterKey }) => {
  const { busy, error, begin } = useBegin();
  if (!tokens)
    return (
      <>
        <p>Your key was revoked or has expired. What you see stays here.</p>
        <KeyForm onKey={onKey} onDevice={isOnDevice()} />
      </>
    );
  return (
    <>
      <p>
        Your session has ended. Sign in at {hostOf(tokens.setting.issuer)} to come back to this view. What you
        have typed here and not saved is lost then.
      </p>
      {error ? <Notice kind="error">{errorText(error)}</Notice> : null}
      <div className="row-end">
        <Button kind="primary" idle={busy} onClick={() => begin(readSignIn)}>
          {busy ? 'Signing in…' : 'Sign in'}
        </Button>
      </div>
    </>
  );
};

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
      const credentials = linked ? await linked : kept;
      if (credentials === undefined) throw new RequestFailed('You have signed out. Sign in again.', 401);
      const found = await identify(credentials);
      noteSignsIn(credentials === tokenCredentials);
      return found;
    };
    enter().then(
      (found) => {
        setAccepted(found);
        setWaiting(false);
      },
      (failure: unknown) => {
        const isRefused = failure instanceof RequestFailed && failure.status === 401;
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
      issuer: tokens && hostOf(tokens.setting.issuer),
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
    return <SignInView onKey={enterKey} error={error} />;
  }
  return (
    <SessionProvider session={session}>
      {children}
      <Modal title="Sign in again" open={refused !== undefined} onClose={() => setRefused(undefined)}>
        <SignInAgain tokens={refused?.tokens} onKey={enterKey} />
      </Modal>
    </SessionProvider>
  );
};
