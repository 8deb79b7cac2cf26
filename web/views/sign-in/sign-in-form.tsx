import { type FormEvent, useState } from 'react';
import { wordsOf } from '../../api/errors.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';

/** What the form does with a key: it throws if the service does not accept it. */
export type SignIn = (key: string, onDevice: boolean) => Promise<void>;

interface SignInFormProps {
  readonly onSignIn: SignIn;
  /** Whether keeping the key on the device is preselected. */
  readonly onDevice?: boolean;
  /** Why an earlier key was not accepted. */
  readonly error?: unknown;
}

/** Asks for a key. */
export const SignInForm = ({ onSignIn, onDevice = false, error: earlier }: SignInFormProps) => {
  const [key, setKey] = useState('');
  const [keep, setKeep] = useState(onDevice);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(earlier);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
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
    <form className="stack" onSubmit={submit}>
      {error ? <Notice kind="error">{wordsOf(error)}</Notice> : null}
      <label className="field">
        <span>Key</span>
        <input
          type="password"
          name="key"
          autoComplete="off"
          spellCheck={false}
          required
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
      </label>
      <label className="check">
        <input type="checkbox" checked={keep} onChange={(event) => setKeep(event.target.checked)} />
        <span>Keep it on this device</span>
      </label>
      <Button kind="primary" type="submit" disabled={busy || key.trim() === ''}>
        {busy ? 'Signing in…' : 'Sign in'}
      </Button>
    </form>
  );
};
