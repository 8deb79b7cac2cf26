import { useCallback, useEffect, useRef, useState } from 'react';
import { errorText, RequestFailed } from '../api/http.ts';
import { Button, Check, Logo, Notice } from '../ui/controls.tsx';
import { Form } from '../ui/fields.tsx';
import { isOnDevice, signsIn } from './device.ts';
import { begin, readSignIn, type SignIn } from './sign-in.ts';
import { issuerHost, type Tokens } from './tokens.ts';

/* What asks people to sign in. It loads for those who are not. */

/** What the form does with a key: it throws if the service does not accept it. */
export type EnterKey = (key: string, onDevice: boolean) => Promise<void>;

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

/** Leads to the issuer. */
const useBegin = () => {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const start = useCallback(async (read: () => Promise<SignIn | null>) => {
    setBusy(true);
    setError(undefined);
    try {
      const signIn = await read();
      if (signIn === null) throw new RequestFailed('The service has no sign-in any more. Use a key.');
      await begin(signIn);
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  }, []);
  return { busy, error, start };
};

interface IssuerButtonProps {
  readonly signIn: SignIn;
  /** Whether it leads there by itself. @default false */
  readonly atOnce?: boolean;
}

/** Signs in at the issuer. */
const IssuerButton = ({ signIn, atOnce = false }: IssuerButtonProps) => {
  const { busy, error, start } = useBegin();
  const begin = useCallback(() => start(async () => signIn), [start, signIn]);
  useEffect(() => {
    if (atOnce) begin();
  }, [atOnce, begin]);
  return (
    <>
      {error ? <Notice kind="error">{errorText(error)}</Notice> : null}
      <Button kind="primary" idle={busy} autoFocus onClick={begin}>
        {busy ? 'Signing in…' : 'Sign in'}
      </Button>
      <p className="hint">You sign in at {issuerHost(signIn.setting)}, and come back here.</p>
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
export const SignInView = ({ onKey, error }: { onKey: EnterKey; error?: unknown }) => {
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
export const SignInAgain = ({ tokens, onKey }: { tokens: Tokens | undefined; onKey: EnterKey }) => {
  const { busy, error, start } = useBegin();
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
        Your session has ended. Sign in at {issuerHost(tokens.setting)} to come back to this view. What you
        have typed here and not saved is lost then.
      </p>
      {error ? <Notice kind="error">{errorText(error)}</Notice> : null}
      <div className="row-end">
        <Button kind="primary" idle={busy} onClick={() => start(readSignIn)}>
          {busy ? 'Signing in…' : 'Sign in'}
        </Button>
      </div>
    </>
  );
};
