import { createHash, randomBytes } from 'node:crypto';

/*
 * Signs people in at an OpenID provider with a form for e-mail and password, as a browser and the page would:
 * authorization code with PKCE.
 */

/** What `GET /sign-in` answers. */
export interface SignInAnswer {
  readonly issuer: string;
  readonly client_id: string;
  readonly scopes: readonly string[];
  readonly token: 'access' | 'id';
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly end_session_endpoint: string | null;
}

/** What the token endpoint answers. */
export interface Tokens {
  readonly access_token: string;
  readonly id_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
}

/** A browser's cookies, as far as a provider on one host needs any. */
class Browser {
  readonly #cookies = new Map<string, string>();

  /** Follows redirects within the provider, and gives the first answer that is none, or leads elsewhere. */
  async go(
    url: string,
    init: RequestInit = {},
  ): Promise<{ readonly url: string; readonly response: Response }> {
    const cookie = [...this.#cookies].map((pair) => pair.join('=')).join('; ');
    const response = await fetch(url, { ...init, redirect: 'manual', headers: { ...init.headers, cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = line.split(';')[0]?.split(/=(.*)/s) ?? [];
      if (value === '') this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) return { url, response };
    await response.body?.cancel();
    const next = new URL(location, url);
    return next.origin === new URL(url).origin ? this.go(next.href) : { url: next.href, response };
  }
}

/** Asks a service where people sign in. */
export const readSignIn = async (serviceUrl: string): Promise<SignInAnswer> => {
  const response = await fetch(`${serviceUrl}/sign-in`);
  if (response.status !== 200) throw new Error(`GET /sign-in: ${response.status} ${await response.text()}`);
  return (await response.json()) as SignInAnswer;
};

const exchange = async (signIn: SignInAnswer, fields: Readonly<Record<string, string>>): Promise<Response> =>
  fetch(signIn.token_endpoint, {
    method: 'POST',
    body: new URLSearchParams({ client_id: signIn.client_id, ...fields }),
  });

/** Who signs in. */
export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/**
 * Goes to an authorization endpoint as somebody does in a browser: fills in the form, and lets the client in if the
 * provider asks.
 *
 * @param onPage gets each page on the way
 * @returns where the provider leads back to, which is not visited
 * @throws Error if it does not
 */
export const browse = async (
  url: string,
  person: Credentials,
  onPage: (html: string) => void = () => {},
): Promise<URL> => {
  const browser = new Browser();
  let at = await browser.go(url);
  for (let forms = 0; new URL(at.url).origin === new URL(url).origin; forms += 1) {
    const html = await at.response.text();
    onPage(html);
    const action = /action="([^"]+)"/.exec(html)?.[1];
    if (action === undefined || forms === 2)
      throw new Error(`there is no form: ${at.response.status} ${html}`);
    at = await browser.go(new URL(action, at.url).href, {
      method: 'POST',
      body: new URLSearchParams({ ...person }),
    });
    if (at.response.status === 401) throw new Error(`nobody was signed in: ${at.url} 401`);
  }
  return new URL(at.url);
};

/**
 * Signs somebody in.
 *
 * @param callback where the provider sends the browser back to
 * @throws Error if the provider does not
 */
export const signInAs = async (
  signIn: SignInAnswer,
  person: Credentials,
  callback: string,
): Promise<Tokens> => {
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(8).toString('hex');
  const query = new URLSearchParams({
    client_id: signIn.client_id,
    response_type: 'code',
    redirect_uri: callback,
    scope: signIn.scopes.join(' '),
    state,
    nonce: randomBytes(8).toString('hex'),
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const back = await browse(`${signIn.authorization_endpoint}?${query}`, person);
  const code = back.searchParams.get('code');
  if (code === null || back.searchParams.get('state') !== state)
    throw new Error(`nobody was signed in: ${back}`);
  const response = await exchange(signIn, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: callback,
    code_verifier: verifier,
  });
  if (response.status !== 200) throw new Error(`there are no tokens: ${await response.text()}`);
  return (await response.json()) as Tokens;
};

/** Exchanges a refresh token: the answer of the token endpoint. */
export const refresh = (signIn: SignInAnswer, token: string): Promise<Response> =>
  exchange(signIn, { grant_type: 'refresh_token', refresh_token: token });
