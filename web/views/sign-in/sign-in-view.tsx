import { Logo } from '../../ui/logo.tsx';
import { type SignIn, SignInForm } from './sign-in-form.tsx';

/** The first view of a visitor without a key. */
export const SignInView = ({ onSignIn, error }: { onSignIn: SignIn; error?: unknown }) => (
  <main className="center">
    <div className="card sign-in">
      <h1 className="brand">
        <Logo /> pennytrace
      </h1>
      <p className="muted">
        Sign in with a key of this service. It stays in this tab unless you keep it, and goes nowhere but to
        the service.
      </p>
      <SignInForm onSignIn={onSignIn} error={error} />
      <p className="hint">
        An operator makes keys with <code>npm run keys -- create</code>. The local service prints one when it
        starts.
      </p>
    </div>
  </main>
);
