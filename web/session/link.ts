import { apiUrl, connectionFailure, RequestFailed } from '../api/http.ts';
import { keepKey, keptKey } from './device.ts';

/*
 * The link that a local service prints. It has a code in its fragment, which is exchanged for the key: once,
 * and at that service alone.
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

/** The key of the link that the page was opened with; undefined if it was opened otherwise. */
export const linkedKey = (): Promise<string> | undefined => {
  const code = takeCode();
  return code === undefined ? undefined : exchange(code);
};
