import * as oauth from 'oauth4webapi';
import { apiUrl, connectionFailure, errorText, RequestFailed, toFailure } from '../api/http.ts';
import { isObject, jsonIn } from '../data/values.ts';
import { readInTab, writeInTab } from './device.ts';
import { askTabs, forgetTokens, keepTokens, keptTokens, type SignInSetting, type Tokens } from './tokens.ts';

/*
 * Sign-in at an issuer of OpenID Connect: the authorization code flow with PKCE, `state` and `nonce`. The issuer
 * leads back to the page itself, and only its token endpoint is asked.
 */

/** How people sign in, and how far the service's clock is ahead of this device's, in seconds. */
export interface SignIn {
  readonly setting: SignInSetting;
  readonly skew: number;
}

/**
 * Asks the service how people sign in.
 *
 * @returns null if they only use keys
 * @throws RequestFailed
 */
export const readSignIn = async (): Promise<SignIn | null> => {
  const response = await fetch(new URL('sign-in', apiUrl()), { cache: 'no-store' }).catch(
    (error: unknown) => {
      throw connectionFailure(error, false);
    },
  );
  if (response.status === 404) return null;
  if (!response.ok) throw await toFailure(response);
  const ahead = (Date.parse(response.headers.get('date') ?? '') - Date.now()) / 1000;
  return { setting: await response.json(), skew: Number.isNaN(ahead) ? 0 : Math.round(ahead) };
};

/** What a tab knows of a sign-in that it has begun. */
interface Begun extends SignIn {
  readonly verifier: string;
  readonly state: string;
  readonly nonce: string;
  /** The view to come back to, below the page's own path. */
  readonly back: string;
}

const begunName = 'pennytrace.sign-in';

/** Keeps what the tab has to know when the issuer leads back to it. */
const keepBegun = (begun: Begun): void => writeInTab(begunName, JSON.stringify(begun));

/** Takes what was kept; undefined for nothing. It is good once. */
const takeBegun = (): Begun | undefined => {
  const begun = jsonIn(readInTab(begunName) ?? '');
  writeInTab(begunName, null);
  return isObject(begun) ? (begun as unknown as Begun) : undefined;
};

/** Where the issuer leads back to. */
const pageUrl = (): string => new URL('.', document.baseURI).href;

const toUrl = (endpoint: string, parameters: Readonly<Record<string, string>>): string => {
  const url = new URL(endpoint);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
};

const toServer = ({ issuer, ...endpoints }: SignInSetting): oauth.AuthorizationServer => ({
  issuer,
  authorization_endpoint: endpoints.authorization_endpoint,
  token_endpoint: endpoints.token_endpoint,
});

const toClient = ({ client_id }: SignInSetting, skew: number): oauth.Client => ({
  client_id,
  [oauth.clockSkew]: skew,
  [oauth.clockTolerance]: 60,
});

/** How long the issuer may take, in ms. */
const patienceMs = 15_000;

const options = ({ token_endpoint }: SignInSetting) => ({
  signal: AbortSignal.timeout(patienceMs),
  // The service lets only issuers on the same machine do without TLS.
  [oauth.allowInsecureRequests]: token_endpoint.startsWith('http:'),
});

/**
 * Leads to the issuer, and from there back to a view.
 *
 * @throws Error in words for people
 */
export const begin = async ({ setting, skew }: SignIn): Promise<void> => {
  if (!isSecureContext)
    throw new Error('Sign-in needs HTTPS, or the address 127.0.0.1. A key works here as well.');
  const { pathname, search } = location;
  const begun: Begun = {
    setting,
    skew,
    verifier: oauth.generateRandomCodeVerifier(),
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    back: pathname.slice(new URL(pageUrl()).pathname.length) + search,
  };
  keepBegun(begun);
  const parameters = {
    client_id: setting.client_id,
    redirect_uri: pageUrl(),
    response_type: 'code',
    scope: setting.scopes.join(' '),
    code_challenge: await oauth.calculatePKCECodeChallenge(begun.verifier),
    code_challenge_method: 'S256',
    state: begun.state,
    nonce: begun.nonce,
  };
  location.assign(toUrl(setting.authorization_endpoint, parameters));
};

/** At what part of a token's life it is renewed, and how long before its end at most, in ms. */
const renewalShare = 0.25;
const renewalMs = 30_000;

interface Before {
  readonly session: string;
  readonly setting: SignInSetting;
  readonly refresh?: string | undefined;
  readonly hint?: string | undefined;
}

/** Keeps what the token endpoint has answered. */
const keep = (answer: oauth.TokenEndpointResponse, { session, setting, ...before }: Before): void => {
  const claims = oauth.getValidatedIdTokenClaims(answer);
  const isAccess = setting.token === 'access';
  const bearer = isAccess ? answer.access_token : answer.id_token;
  if (bearer === undefined)
    throw new RequestFailed(
      'The issuer gave no token that the service takes: check the setting signIn.',
      401,
    );
  const seconds = (isAccess ? answer.expires_in : claims && claims.exp - claims.iat) ?? 300;
  const at = Date.now();
  keepTokens({
    session,
    setting,
    bearer,
    at,
    until: at + seconds * 1000 - Math.min(renewalMs, seconds * 1000 * renewalShare),
    refresh: answer.refresh_token ?? before.refresh,
    // A token that the service takes is in no URL.
    hint: isAccess ? (answer.id_token ?? before.hint) : undefined,
  });
};

/** What went wrong at the issuer, in words. */
const toError = (error: unknown): Error => {
  if (error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError) {
    const { error: code, error_description: words } = error;
    return new RequestFailed(`The issuer refused the sign-in: ${words ?? code}`, 401);
  }
  if (error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError)
    return new RequestFailed(`The issuer's answer was not accepted: ${errorText(error)}.`, 401);
  if (error instanceof RequestFailed) return error;
  return new RequestFailed('Cannot reach the issuer of the sign-in. Check your connection, then try again.');
};

/**
 * Ends a sign-in, with what the issuer has put into the page's address, and goes to the view in which it was
 * begun.
 *
 * @throws RequestFailed in words for people
 */
export const finish = async (parameters: URLSearchParams): Promise<void> => {
  const begun = takeBegun();
  if (begun?.state !== parameters.get('state') || begun === undefined)
    throw new RequestFailed(
      'This sign-in was begun in another tab, or has ended already. Sign in again.',
      401,
    );
  const { setting, verifier, state, nonce, skew, back } = begun;
  history.replaceState(history.state, '', new URL(back, pageUrl()));
  const server = toServer(setting);
  const client = toClient(setting, skew);
  try {
    const valid = oauth.validateAuthResponse(server, client, parameters, state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      valid,
      pageUrl(),
      verifier,
      options(setting),
    );
    const answer = await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: nonce,
      requireIdToken: true,
    });
    keep(answer, { session: crypto.randomUUID(), setting });
  } catch (error) {
    throw toError(error);
  }
};

/** How long other tabs have to say that they were first, in ms. */
const answerMs = 100;

const ended = () => new RequestFailed('Your session has ended. Sign in again.', 401);

const refreshed = async (before: Tokens): Promise<void> => {
  const { setting, refresh } = before;
  if (refresh === undefined) throw ended();
  const server = toServer(setting);
  // A device that slept may have set its clock since.
  const client = toClient(setting, (await readSignIn())?.skew ?? 0);
  try {
    const response = await oauth.refreshTokenGrantRequest(
      server,
      client,
      oauth.None(),
      refresh,
      options(setting),
    );
    // An issuer that is down or too busy is asked again later.
    if (response.status >= 500 || response.status === 429) throw new TypeError(`status ${response.status}`);
    keep(await oauth.processRefreshTokenResponse(server, client, response), before);
  } catch (error) {
    const failure = toError(error);
    throw failure instanceof RequestFailed && failure.status === 401 ? ended() : failure;
  }
};

/**
 * Renews a session, or takes what another tab has got for it.
 *
 * @throws RequestFailed in words for people, with the status 401 if the session has ended
 */
export const renew = (asked: Tokens): Promise<void> =>
  navigator.locks.request('pennytrace.renewal', async () => {
    askTabs(asked);
    await new Promise((resolve) => setTimeout(resolve, answerMs));
    const kept = keptTokens();
    if (kept && kept.at <= asked.at) await refreshed(kept);
  });

/** Ends the session here and at the issuer, which leads back to the page. */
export const end = (tokens: Tokens): void => {
  const { setting, hint } = tokens;
  forgetTokens();
  const { client_id, end_session_endpoint: endpoint } = setting;
  if (endpoint === null) return;
  const parameters = {
    client_id,
    post_logout_redirect_uri: pageUrl(),
    ...(hint !== undefined && { id_token_hint: hint }),
  };
  // One with a query takes no parameters of the standard: the service has put in what it takes.
  location.assign(endpoint.includes('?') ? endpoint : toUrl(endpoint, parameters));
};
