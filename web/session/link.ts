import { type Credentials, keyCredentials } from '../api/client.ts';
import { apiUrl, connectionFailure, RequestFailed } from '../api/http.ts';
import { keepKey, keptKey } from './device.ts';
import { tokenCredentials } from './tokens.ts';

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

/** Takes what an issuer has put into the page's address, so that neither history nor a copied address has it. */
const takeAnswer = (): URLSearchParams | undefined => {
  const parameters = new URLSearchParams(location.search);
  const isAnswer = parameters.has('state') && (parameters.has('code') || parameters.has('error'));
  const { pathname } = new URL('.', document.baseURI);
  if (!isAnswer || location.pathname !== pathname) return undefined;
  history.replaceState(history.state, '', pathname);
  return parameters;
};

const finishSignIn = async (answer: URLSearchParams): Promise<Credentials> => {
  const { finish } = await import('./sign-in.ts');
  await finish(answer);
  return tokenCredentials;
};

/** The credentials of the address that the page was opened with; undefined if it has none. */
export const linkedCredentials = (): Promise<Credentials> | undefined => {
  const code = takeCode();
  if (code !== undefined) return exchange(code).then(keyCredentials);
  const answer = takeAnswer();
  return answer && finishSignIn(answer);
};
