import { type Credentials, keyCredentials } from '../api/client.ts';
import { apiUrl, connectionFailure, RequestFailed } from '../api/http.ts';
import { keepKey, keptKey } from './device.ts';
import { takeBegun, tokenCredentials } from './tokens.ts';

/*
 * The addresses that sign in. The link that a local service prints has a code in its fragment, which is
 * exchanged for the key: once, and at that service alone. An issuer of sign-ins leads back with a code in the
 * query, which is exchanged for tokens.
 */

/** Takes the code out of the page's address, so that neither history nor a copied address has it. */
const takeCode = (): string | undefined => {
  const [, code] = /^#sign-in=([\w-]+)$/.exec(location.hash) ?? [];
  if (code !== undefined) history.replaceState(history.state, '', location.pathname + location.search);
  return code;
};

const exchange = async (code: string): Promise<string> => {
  const response = await fetch(new URL('local/sign-in', apiUrl()), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  }).catch((error: unknown) => {
    throw connectionFailure(error, false);
  });
  if (response.ok) {
    const { key } = (await response.json()) as { key: string };
    keepKey(key, false);
    return key;
  }
  const kept = keptKey();
  if (kept !== null) return kept;
  throw new RequestFailed('This link was used before or has expired. Sign in with a key.', response.status);
};

/** Ends the sign-in that the issuer leads back from, in the view where it was begun. */
const fromIssuer = (parameters: URLSearchParams): Promise<Credentials> => {
  const begun = takeBegun();
  const isOurs = begun !== undefined && begun.state === parameters.get('state');
  const { pathname } = new URL('.', document.baseURI);
  history.replaceState(history.state, '', pathname + (isOurs ? begun.back : ''));
  return isOurs
    ? import('./sign-in.ts').then(async ({ finish }) => {
        await finish(begun, parameters);
        return tokenCredentials;
      })
    : Promise.reject(
        new RequestFailed('This sign-in was begun in another tab, or has ended already. Sign in again.', 401),
      );
};

/** The credentials of the address that the page was opened with; undefined if it has none. */
export const linkedCredentials = (): Promise<Credentials> | undefined => {
  const code = takeCode();
  if (code !== undefined) return exchange(code).then(keyCredentials);
  const parameters = new URLSearchParams(location.search);
  const isAnswer = parameters.has('state') && (parameters.has('code') || parameters.has('error'));
  const isHome = location.href.startsWith(`${new URL('.', document.baseURI).href}?`);
  return isAnswer && isHome ? fromIssuer(parameters) : undefined;
};
