import { z } from 'zod';
import type { LambdaFunction } from '../runtime/functions.ts';
import { FunctionError } from '../runtime/worker.ts';
import {
  type ApiSpec,
  type AuthorizerSpec,
  allowsAccess,
  type Policy,
  policySchema,
} from '../template/stack.ts';
import { collect } from './answer.ts';
import {
  authorizerEvent,
  type GatewayRequest,
  headerValues,
  type Match,
  methodArn,
  Refusal,
} from './request.ts';

/** Whether a policy allows invoking a method, by the method's ARN. */
export const allowsInvoke = (policy: Policy, methodArn: string): boolean =>
  allowsAccess([policy], { action: 'execute-api:Invoke', resource: methodArn });

const contextValue = z.union([z.string(), z.number(), z.boolean()]).transform(String);

const resultSchema = z.object({
  principalId: z.string(),
  policyDocument: policySchema,
  context: z.record(z.string(), contextValue.nullish()).nullish(),
});

type Result = z.output<typeof resultSchema>;

/** Bounds the memory that the cache takes in a service that runs for long. */
const maxCached = 10_000;

/**
 * Asks an authorizer about a request. Resolves to its context for the function's event.
 *
 * @throws Refusal UNAUTHORIZED, ACCESS_DENIED, AUTHORIZER_FAILURE or AUTHORIZER_CONFIGURATION_ERROR
 */
export type Authorize = (
  request: GatewayRequest,
  match: Match,
  signal: AbortSignal,
) => Promise<Readonly<Record<string, string>>>;

interface AuthorizerOptions {
  readonly api: Pick<ApiSpec, 'id' | 'account' | 'stage'>;
  readonly spec: AuthorizerSpec;
  readonly lambda: Pick<LambdaFunction, 'invoke'>;
  /** Milliseconds on a monotonic clock. */
  readonly now: () => number;
}

/** The cache key of a request; undefined if an identity header is missing or empty. */
const cacheKey = (request: GatewayRequest, { identityHeaders }: AuthorizerSpec): string | undefined => {
  const values = identityHeaders.map((name) => headerValues(request, name).join(','));
  return values.every(Boolean) ? JSON.stringify(values) : undefined;
};

/** An authorizer answers 401 by an error with exactly this message. */
const toRefusal = (error: unknown): Refusal =>
  error instanceof FunctionError && error.message === 'Unauthorized'
    ? new Refusal('UNAUTHORIZED')
    : new Refusal('AUTHORIZER_FAILURE', error);

const parseResult = (json: string): Result => {
  try {
    return resultSchema.parse(JSON.parse(json));
  } catch (error) {
    throw new Refusal('AUTHORIZER_CONFIGURATION_ERROR', error);
  }
};

const toContext = ({ principalId, context }: Result): Record<string, string> => {
  const values = Object.entries(context ?? {}).filter((entry): entry is [string, string] => entry[1] != null);
  return { ...Object.fromEntries(values), principalId };
};

/**
 * Makes an authorizer with its cache. Refusals are not cached. A cached policy is evaluated again
 * for each method.
 */
export const authorizer = ({ api, spec, lambda, now }: AuthorizerOptions): Authorize => {
  const cache = new Map<string, { readonly result: Result; readonly expiresAt: number }>();

  const callAuthorizer = async (
    request: GatewayRequest,
    match: Match,
    signal: AbortSignal,
  ): Promise<Result> => {
    const event = JSON.stringify(authorizerEvent(api, request, match));
    const output = await lambda
      .invoke(event, signal)
      .then(collect)
      .catch((error: unknown) => {
        signal.throwIfAborted();
        throw toRefusal(error);
      });
    return parseResult(output);
  };

  const remember = (identity: string, result: Result): void => {
    if (spec.cacheSeconds === 0) return;
    if (cache.size >= maxCached) cache.clear();
    cache.set(identity, { result, expiresAt: now() + spec.cacheSeconds * 1000 });
  };

  return async (request, match, signal) => {
    const identity = cacheKey(request, spec);
    if (identity === undefined) throw new Refusal('UNAUTHORIZED');
    const cached = cache.get(identity);
    const fresh = cached !== undefined && cached.expiresAt > now();
    const result = fresh ? cached.result : await callAuthorizer(request, match, signal);
    if (!fresh) remember(identity, result);
    if (!allowsInvoke(result.policyDocument, methodArn(api, request))) throw new Refusal('ACCESS_DENIED');
    return toContext(result);
  };
};
