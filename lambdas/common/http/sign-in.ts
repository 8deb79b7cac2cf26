import type { APIGatewayProxyResult } from 'aws-lambda';
import type { AnswerOf } from '../../../api/endpoint.ts';
import type { signIn } from '../../../api/service.ts';
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
  { clientId, scopes, token, endSessionEndpoint }: SignInSettings,
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

/** Answers `GET /sign-in`. */
export const answerSignIn = async (event: FixedEvent): Promise<APIGatewayProxyResult> => {
  const found = await findSignIn();
  const head = toHead(event, 'no-store');
  if ('signIn' in found) return { ...head, body: jsonText(found.signIn) };
  const body: ErrorBody = { detail: [{ loc: ['path'], msg: found.problem, type: 'not_found' }] };
  return { ...head, statusCode: 404, body: jsonText(body) };
};
