import * as oauth from 'oauth4webapi';
import type { AnswerOf } from '../../api/endpoint.ts';
import { signIn } from '../../api/service.ts';
import { isIssuerUrl } from '../../foundations/auth/issuer.ts';
import type { ErrorBody } from '../../foundations/wire/index.ts';
import { Failure } from '../common.ts';

/*
 * Sign-in at an issuer of OpenID Connect, as commands do it: the authorization code flow with PKCE, `state` and
 * `nonce`, and no secret (RFC 8252).
 */

/** What `GET /sign-in` answers. */
export type SignInSetting = AnswerOf<typeof signIn>;

/** Somebody who is signed in to a service. */
export interface Session {
  readonly setting: SignInSetting;
  /** The token that the service takes. */
  readonly bearer: string;
  /** From when on it is renewed before it is used, in ms since 1970. */
  readonly until: number;
  /** Renews it. @default - the issuer gave none, and somebody has to sign in again */
  readonly refresh?: string | undefined;
}

/** How people sign in, and how far the service's clock is ahead of this machine's, in seconds. */
export interface SignIn {
  readonly setting: SignInSetting;
  readonly skew: number;
}

/** How long a service or an issuer may take, in ms. */
const patienceMs = 15_000;

const maxShown = 300;

/** A text of somebody else as a terminal can show it. */
export const shown = (text: string): string => text.replace(/\p{C}+/gu, ' ').slice(0, maxShown);

/** Why a request got no answer, by the code of the system, or by its own words. */
const describe = (error: unknown): string => {
  const { cause, name, message } = error as Error;
  if (name === 'TimeoutError') return `not within ${patienceMs / 1000} s`;
  const { code, message: inner = message } = (cause ?? {}) as Partial<NodeJS.ErrnoException>;
  return code ?? inner;
};

/** Asks a service. Throws a Failure if it does not answer. */
export const askService = (url: string, path: string, headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, { headers, redirect: 'error', signal: AbortSignal.timeout(patienceMs) }).catch(
    (error: unknown) => {
      throw new Failure(`${url} does not answer: ${describe(error)}`, { cause: error });
    },
  );

/**
 * Asks a service how people sign in.
 *
 * @param url of the service, without a slash at its end
 * @throws Failure if nobody does, or it does not say
 */
export const readSignIn = async (url: string): Promise<SignIn> => {
  const answer = await askService(url, signIn.path);
  const body: unknown = await answer.json().catch(() => undefined);
  const { success, data: setting } = signIn.answer().safeParse(body);
  const { detail } = (body ?? {}) as Partial<ErrorBody>;
  if (answer.status === 404 && Array.isArray(detail))
    throw new Failure(`nobody can sign in to ${url}: ${shown(String(detail[0]?.msg))}`);
  if (!answer.ok || !success)
    throw new Failure(`${url} does not say where people sign in (status ${answer.status}): check the URL`);
  const loopback = url.startsWith('http:');
  for (const endpoint of [setting.issuer, setting.authorization_endpoint, setting.token_endpoint])
    if (!isIssuerUrl(endpoint, { loopback }))
      throw new Failure(`${url} names ${shown(endpoint)} for sign-in, which is not https`);
  const ahead = (Date.parse(answer.headers.get('date') ?? '') - Date.now()) / 1000;
  return { setting, skew: Number.isNaN(ahead) ? 0 : Math.round(ahead) };
};

const toServer = ({ issuer, ...endpoints }: SignInSetting): oauth.AuthorizationServer => ({
  issuer,
  authorization_endpoint: endpoints.authorization_endpoint,
  token_endpoint: endpoints.token_endpoint,
});

const toClient = ({ setting, skew }: SignIn): oauth.Client => ({
  client_id: setting.client_id,
  [oauth.clockSkew]: skew,
  [oauth.clockTolerance]: 60,
});

const options = ({ issuer }: Pick<SignInSetting, 'issuer'>) => ({
  signal: AbortSignal.timeout(patienceMs),
  // Only a service on this machine may have such an issuer.
  [oauth.allowInsecureRequests]: issuer.startsWith('http:'),
});

/** The issuer says that a session is over. */
export class SessionEnded extends Failure {}

/** What went wrong at the issuer, in words. */
const toFailure = (error: unknown, { issuer }: SignInSetting): Failure => {
  if (error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError) {
    const { error: code, error_description: words } = error;
    const Kind = code === 'invalid_grant' ? SessionEnded : Failure;
    return new Kind(`the issuer ${issuer} refused: ${shown(words ?? code)}`, { cause: error });
  }
  if (error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError)
    return new Failure(`the answer of the issuer ${issuer} was not accepted: ${shown(error.message)}`, {
      cause: error,
    });
  if (error instanceof Failure) return error;
  return new Failure(`the issuer ${issuer} does not answer: ${describe(error)}; try again`, { cause: error });
};

/** A sign-in that waits for somebody in a browser. */
export interface Begun extends SignIn {
  readonly redirectUri: string;
  readonly verifier: string;
  readonly state: string;
  readonly nonce: string;
  /** Where the browser goes. */
  readonly url: string;
}

/** Begins a sign-in that leads back to this machine. */
export const begin = async ({ setting, skew }: SignIn, redirectUri: string): Promise<Begun> => {
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const nonce = oauth.generateRandomNonce();
  const url = new URL(setting.authorization_endpoint);
  const parameters = {
    client_id: setting.client_id,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: setting.scopes.join(' '),
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { setting, skew, redirectUri, verifier, state, nonce, url: url.href };
};

/** At what part of a token's life it is renewed, and how long before its end at most, in ms. */
const renewalShare = 0.25;
const renewalMs = 30_000;

const toSession = (
  answer: oauth.TokenEndpointResponse,
  setting: SignInSetting,
  before?: Pick<Session, 'refresh'>,
): Session => {
  const claims = oauth.getValidatedIdTokenClaims(answer);
  const isAccess = setting.token === 'access';
  const bearer = isAccess ? answer.access_token : answer.id_token;
  if (bearer === undefined)
    throw new Failure(
      `the issuer ${setting.issuer} gave no token that the service takes: check the setting signIn`,
    );
  const lifeMs = ((isAccess ? answer.expires_in : claims && claims.exp - claims.iat) ?? 300) * 1000;
  const refresh = answer.refresh_token ?? before?.refresh;
  return {
    setting,
    bearer,
    until: Date.now() + lifeMs - Math.min(renewalMs, lifeMs * renewalShare),
    ...(refresh !== undefined && { refresh }),
  };
};

/**
 * Ends a sign-in.
 *
 * @param parameters what the issuer has put into the address that it led back to
 * @throws Failure
 */
export const finish = async (begun: Begun, parameters: URLSearchParams): Promise<Session> => {
  const { setting, redirectUri, verifier, state, nonce } = begun;
  const server = toServer(setting);
  const client = toClient(begun);
  try {
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      oauth.validateAuthResponse(server, client, parameters, state),
      redirectUri,
      verifier,
      options(setting),
    );
    const answer = await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: nonce,
      requireIdToken: true,
    });
    return toSession(answer, setting);
  } catch (error) {
    throw toFailure(error, setting);
  }
};

/**
 * Renews a session.
 *
 * @param skew how far the service's clock is ahead, in seconds
 * @throws SessionEnded if somebody has to sign in again; Failure if the issuer cannot say now
 */
export const renew = async (session: Session, skew: number): Promise<Session> => {
  const { setting, refresh } = session;
  if (refresh === undefined) throw new SessionEnded(`the session at ${setting.issuer} has ended`);
  const server = toServer(setting);
  const client = toClient({ setting, skew });
  try {
    const response = await oauth.refreshTokenGrantRequest(
      server,
      client,
      oauth.None(),
      refresh,
      options(setting),
    );
    if (response.status >= 500 || response.status === 429) throw new Error(`status ${response.status}`);
    return toSession(await oauth.processRefreshTokenResponse(server, client, response), setting, session);
  } catch (error) {
    throw toFailure(error, setting);
  }
};

/**
 * Has the issuer forget a session, as its discovery document says (RFC 7009).
 *
 * @throws Failure if the issuer does not, or has no place for that
 */
export const revoke = async ({ setting, refresh }: Session): Promise<void> => {
  if (refresh === undefined) return;
  try {
    const issuer = new URL(setting.issuer);
    const server = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, options(setting)),
    );
    if (server.revocation_endpoint === undefined)
      throw new Failure(`the issuer ${setting.issuer} has no place to end a session from here`);
    const client = { client_id: setting.client_id };
    await oauth.processRevocationResponse(
      await oauth.revocationRequest(server, client, oauth.None(), refresh, options(setting)),
    );
  } catch (error) {
    throw toFailure(error, setting);
  }
};
