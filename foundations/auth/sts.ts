import { createHash } from 'node:crypto';
import { HttpRequest } from '@smithy/core/transport';
import { Memory } from '../memory.ts';
import { httpHandler } from '../storage/index.ts';
import { asString, isJsonObject, type Micros, parseOptionalJson } from '../wire/index.ts';
import { getPartition, type RoleArn, toRoleArn } from './iam-role.ts';
import {
  parseToken,
  type SignedIdentity,
  type StsEndpoint,
  serviceHeader,
  type TokenRefusal,
} from './iam-token.ts';

/** Why a token does not show a role. STS's own code says why STS refuses one. */
export type RoleRefusal =
  | TokenRefusal
  | 'token of no role'
  | 'role of another partition'
  | `refused by STS: ${string}`;

/** Whose role signed a token, and until when the token is good. */
export interface RoleIdentity {
  readonly arn: RoleArn;
  readonly expiresAt: Micros;
}

/**
 * Finds out whose role signed a token.
 *
 * @param now microseconds since 1970
 * @throws StsError if STS does not answer, or not as it should: that says nothing about the token
 */
export type FindRole = (
  token: string,
  now: Micros,
) => Promise<RoleIdentity | { readonly refusal: RoleRefusal }>;

/** What tokens have to be made for. */
export interface IamSettings {
  /** The service's URL, without a slash at its end. */
  readonly serviceUrl: string;
  readonly partition: string;
  readonly endpoints: readonly StsEndpoint[];
}

/** STS does not answer, or not as it should. */
export class StsError extends Error {
  override readonly name = 'StsError';
}

/** The longest time for an answer of STS, in milliseconds. */
const answerMs = 3000;

/** An answer has half a kilobyte. */
const maxAnswerBytes = 16 * 1024;

/** For how long a container remembers a role, and that a token is bad, in milliseconds. */
const rememberedMs = 5 * 60_000;
const refusedMs = 60_000;

/** What STS says if it has too much to do, with the status of a bad request. */
const passing = /^(?:Throttl|RequestLimitExceeded|ServiceUnavailable|Internal)/;

// A container asks so seldom that a kept connection would mostly be closed by then.
const handler = httpHandler(answerMs, { keepAlive: false });

/** Reads the body of an answer. Throws a StsError if it is too long. */
const readBody = async (body: AsyncIterable<Uint8Array>): Promise<string> => {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.byteLength;
    if (bytes > maxAnswerBytes) throw new StsError(`STS answers more than ${maxAnswerBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
};

/** The text at a path of objects; undefined if there is none. */
const textAt = (value: unknown, ...path: readonly string[]): string | undefined => {
  const found = path.reduce<unknown>((at, name) => (isJsonObject(at) ? at[name] : undefined), value);
  return asString(found);
};

/** Sends the request that was signed, to the endpoint of the settings and with the service's own URL. */
const send = async ({ endpoint, query }: SignedIdentity, serviceUrl: string) => {
  const url = new URL(endpoint.origin);
  const request = new HttpRequest({
    method: 'GET',
    protocol: url.protocol,
    hostname: url.hostname,
    ...(url.port && { port: Number(url.port) }),
    path: '/',
    query: { ...query },
    // STS answers XML without it.
    headers: { host: url.host, accept: 'application/json', [serviceHeader]: serviceUrl },
  });
  const { response } = await handler.handle(request, { abortSignal: AbortSignal.timeout(answerMs) });
  return { status: response.statusCode, body: parseOptionalJson(await readBody(response.body)) };
};

/** The ARN of whose credentials signed the request, or why STS refuses it. */
const askSts = async (signed: SignedIdentity, serviceUrl: string) => {
  const answer = await send(signed, serviceUrl).catch((error: unknown) => {
    if (error instanceof StsError) throw error;
    throw new StsError(`STS does not answer: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  });
  const { status, body } = answer;
  const arn = textAt(body, 'GetCallerIdentityResponse', 'GetCallerIdentityResult', 'Arn');
  if (status === 200 && arn !== undefined) return { arn };
  const code = textAt(body, 'Error', 'Code');
  if (status < 400 || status >= 500 || code === undefined || !/^\w{1,64}$/.test(code) || passing.test(code))
    throw new StsError(`STS answers ${status} and no identity`);
  return { code };
};

type Outcome = { readonly arn: RoleArn } | { readonly refusal: RoleRefusal };

/** Makes what asks STS, and remembers its answers for some minutes. */
export const makeFindRole = ({ serviceUrl, partition, endpoints }: IamSettings): FindRole => {
  const good = new Memory<Outcome>(rememberedMs);
  // Bad ones are apart, so that many of them do not take the place of good ones.
  const bad = new Memory<Outcome>(refusedMs);

  const ask = async (signed: SignedIdentity): Promise<Outcome> => {
    const { arn: callerArn, code } = await askSts(signed, serviceUrl);
    if (callerArn === undefined) return { refusal: `refused by STS: ${code}` };
    const arn = toRoleArn(callerArn);
    if (arn === undefined) return { refusal: 'token of no role' };
    return getPartition(arn) === partition ? { arn } : { refusal: 'role of another partition' };
  };

  return async (token, now) => {
    const signed = parseToken(token, endpoints, now);
    if ('refusal' in signed) return signed;
    const name = createHash('sha256').update(token).digest('base64url');
    const outcome = await bad.get(name, () => good.get(name, () => ask(signed)));
    ('refusal' in outcome ? good : bad).forget(name);
    return 'refusal' in outcome ? outcome : { arn: outcome.arn, expiresAt: signed.expiresAt };
  };
};

/**
 * The settings of `iam` as the environment has them.
 *
 * @returns undefined if the setting is off
 */
export const iamFromEnvironment = (environment: NodeJS.ProcessEnv): IamSettings | undefined => {
  const { IAM_SERVICE_URL: serviceUrl, IAM_PARTITION: partition = '', IAM_STS_URL: own } = environment;
  const { AWS_REGION: region = '', AWS_ENDPOINT_URL_STS: other } = environment;
  if (!serviceUrl || !own) return undefined;
  // The partition `aws` alone has an endpoint for all regions, which signs for one of them.
  const forAll = { origin: 'https://sts.amazonaws.com', region: 'us-east-1' };
  const endpoints = other
    ? [{ origin: new URL(other).origin, region }]
    : [{ origin: own, region }, ...(partition === 'aws' ? [forAll] : [])];
  return { serviceUrl, partition, endpoints };
};
