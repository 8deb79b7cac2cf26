import type { APIGatewayProxyResult } from 'aws-lambda';
import type { AnswerOf } from '../../../api/endpoint.ts';
import type { resourceMetadata, signIn } from '../../../api/service.ts';
import { Issuer } from '../../../foundations/auth/issuer.ts';
import { type SignInSettings, signInFromEnvironment } from '../../../foundations/auth/sign-in.ts';
import type { ErrorBody } from '../../../foundations/wire/index.ts';
import { type FixedEvent, jsonText, toHead } from './answer.ts';

/*
 * Where people sign in, by the setting `signIn`. The issuer is asked once an hour by a container.
 */

const settings = signInFromEnvironment(process.env);
const issuer = settings && new Issuer(settings.issuer);

type SignIn = AnswerOf<typeof signIn>;

/** Where people sign in, or why nobody can. */
type Found = { readonly signIn: SignIn } | { readonly problem: string };

const toAnswer = async (
  { clientId, scopes, token, endSessionEndpoint, loopbackRedirectUri }: SignInSettings,
  from: Issuer,
): Promise<SignIn> => {
  const document = await from.getDocument();
  return {
    issuer: document.issuer,
    client_id: clientId,
    scopes: [...scopes],
    token,
    authorization_endpoint: document.authorizationEndpoint,
    token_endpoint: document.tokenEndpoint,
    end_session_endpoint: endSessionEndpoint ?? document.endSessionEndpoint ?? null,
    loopback_redirect_uri: loopbackRedirectUri ?? null,
  };
};

/** Finds out where people sign in. It never throws: an issuer that is away makes nothing fail. */
export const findSignIn = async (): Promise<Found> => {
  if (!settings || !issuer) return { problem: 'nobody signs in here: the setting signIn is off' };
  try {
    return { signIn: await toAnswer(settings, issuer) };
  } catch (error) {
    const why = error instanceof Error ? error.message : error;
    return { problem: `nobody can sign in now, a key is accepted: ${why}` };
  }
};

const answer = (event: FixedEvent, found: { readonly body: object } | { readonly problem: string }) => {
  const head = toHead(event, 'no-store');
  if ('body' in found) return { ...head, body: jsonText(found.body) };
  const body: ErrorBody = { detail: [{ loc: ['path'], msg: found.problem, type: 'not_found' }] };
  return { ...head, statusCode: 404, body: jsonText(body) };
};

/** Answers `GET /sign-in`. */
export const answerSignIn = async (event: FixedEvent): Promise<APIGatewayProxyResult> => {
  const found = await findSignIn();
  return answer(event, 'signIn' in found ? { body: found.signIn } : found);
};

/**
 * Answers where MCP clients sign people in. They send access tokens, so a service that takes others has them find
 * nothing: they would sign somebody in again and again.
 */
export const answerResourceMetadata = async (event: FixedEvent): Promise<APIGatewayProxyResult> => {
  const found = await findSignIn();
  if (!('signIn' in found)) return answer(event, found);
  const { resource } = settings ?? {};
  const { issuer: name, scopes, token } = found.signIn;
  if (token !== 'access' || resource === undefined)
    return answer(event, {
      problem:
        'MCP clients cannot sign in here, as the service takes ID tokens: send a key, or the token of npx pennytrace login, as Bearer',
    });
  const body: AnswerOf<typeof resourceMetadata> = {
    resource,
    authorization_servers: [name],
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
  };
  return answer(event, { body });
};
