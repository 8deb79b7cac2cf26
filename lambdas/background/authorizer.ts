import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent, Context } from 'aws-lambda';
import {
  type AcceptedScheme,
  authenticate,
  type Caller,
  iamFromEnvironment,
  type KeyStore,
  makeFindPerson,
  makeFindRole,
  type Person,
  type Refusal,
  signInFromEnvironment,
  toContext,
} from '../../foundations/auth/index.ts';
import { KeyUses } from '../../foundations/auth/key-uses.ts';
import { Memory } from '../../foundations/memory.ts';
import { type Meter, newMeter } from '../../foundations/storage/index.ts';
import { keysFromEnvironment } from '../common/http/key-store.ts';
import { RequestLog } from '../common/log/request-log.ts';
import { signInsFromEnvironment } from '../common/sign-ins.ts';

const iam = iamFromEnvironment(process.env);
const signIn = signInFromEnvironment(process.env);

/** Made once per container, while it starts. */
const keys: KeyStore = {
  ...keysFromEnvironment(process.env),
  findRole: iam && makeFindRole(iam),
  findPerson: signIn && makeFindPerson(signIn),
};

const cacheMs = Number(process.env.CACHE_SECONDS ?? 0) * 1000;

/**
 * The same for routes whose answers the gateway does not cache: a container remembers a key for as long
 * as the gateway would. The secret is compared for each request.
 */
const rememberedKeys: KeyStore = {
  ...keys,
  memory: new Memory(cacheMs),
  memberMemory: new Memory(cacheMs),
};

/** Audits who signs in. */
const signIns = signInsFromEnvironment(process.env, keys.table.client);

/** Notes the days on which keys are used. */
const uses = new KeyUses(keys.table);

/** The schemes of the routes that take another than `basic`, by their paths in the API. */
const schemes = JSON.parse(process.env.SCHEMES ?? '{}') as Readonly<Record<string, AcceptedScheme>>;

/**
 * API Gateway's REQUEST authorizer of every route that takes a key, or the token of a person. The gateway caches
 * its answer by the `Authorization` header, for the configured time, unless the route takes `x-api-key` as well.
 *
 * @returns a policy that allows every endpoint of the stage, with the caller as its context.
 * Handlers check what the caller may do to which project, since bodies name the projects.
 * @throws Error `Unauthorized` for whatever is wrong with the request: API Gateway makes a 401 of
 * this message alone. Any other error, e.g. of the table or of STS, becomes a 503.
 */
export const handler = async (
  event: APIGatewayRequestAuthorizerEvent,
  context: Pick<Context, 'awsRequestId'>,
): Promise<APIGatewayAuthorizerResult> => {
  const { requestId } = event.requestContext;
  const log = new RequestLog({ message: 'authorizer', requestId, route: event.resource }, context);
  const meter = newMeter();
  log.spends(meter);
  const outcome = await authenticated(event, meter).catch((error: unknown) => {
    log.describes(() => ({ reason: error instanceof Error ? error.name : 'unknown error' }));
    log.ends('failed', error);
    throw error;
  });
  if ('refusal' in outcome) {
    log.calledBy(outcome);
    log.describes(() => ({ reason: outcome.refusal }));
    log.ends('refused');
    throw new Error('Unauthorized');
  }
  uses.note(outcome.caller);
  log.calledBy(outcome.caller);
  log.ends('allowed');
  return allowAll(event.methodArn, outcome.caller);
};

/** The caller or the refusal. One refusal is not about the key. */
type Outcome =
  | { readonly caller: Caller; readonly person?: Person }
  | { readonly refusal: Refusal | 'several headers'; readonly keyId?: string; readonly user?: string };

const authenticated = async (event: APIGatewayRequestAuthorizerEvent, meter: Meter): Promise<Outcome> => {
  const scheme = schemes[event.resource] ?? 'basic';
  const isBearer = scheme === 'bearer';
  const tokens = isBearer ? headerValues(event, 'x-api-key').map((key) => `Bearer ${key}`) : [];
  const [header, ...more] = [...headerValues(event, 'authorization'), ...tokens];
  // The gateway caches by one header, and nothing says which of two it would take.
  if (more.length > 0 && !(isBearer && more.every((other) => other === header)))
    return { refusal: 'several headers' };
  const known = isBearer ? rememberedKeys : keys;
  const outcome = await authenticate(header, scheme, known, Date.now() * 1000, meter);
  if ('caller' in outcome && outcome.person)
    await signIns?.record(
      outcome.person,
      outcome.caller,
      event.requestContext.identity?.sourceIp ?? null,
      meter,
    );
  return outcome;
};

/** All values of a header. Clients write its name in any case. */
const headerValues = (event: APIGatewayRequestAuthorizerEvent, wanted: string): string[] =>
  Object.entries(event.multiValueHeaders ?? {})
    .filter(([name]) => name.toLowerCase() === wanted)
    .flatMap(([, values]) => values ?? []);

/**
 * Allows the whole stage and not just one method, since the cached policy serves the next one too.
 */
const allowAll = (methodArn: string, caller: Caller): APIGatewayAuthorizerResult => {
  const [api, stage] = methodArn.split('/');
  return {
    principalId: caller.user,
    policyDocument: {
      Version: '2012-10-17',
      Statement: [{ Action: 'execute-api:Invoke', Effect: 'Allow', Resource: `${api}/${stage}/*` }],
    },
    context: toContext(caller),
  };
};
