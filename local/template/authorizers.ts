import { z } from 'zod';
import type { FunctionSpec } from './functions.ts';
import type { TemplateReader } from './reader.ts';

/** A Lambda authorizer of the REQUEST type. */
export interface AuthorizerSpec {
  readonly id: string;
  readonly function: FunctionSpec;
  /** Required headers in lower case. Their values are the cache key of an answer. */
  readonly identityHeaders: readonly string[];
  /** How long an answer is cached for the same identity, in seconds; 0 turns the cache off. */
  readonly cacheSeconds: number;
}

const properties = z.object({
  Type: z.literal('REQUEST'),
  AuthorizerUri: z.string(),
  IdentitySource: z.string().default(''),
  AuthorizerResultTtlInSeconds: z.number().default(300),
});

const headerSource = /^method\.request\.header\.([\w-]+)$/;

const identityHeaders = (id: string, source: string): string[] =>
  source
    .split(',')
    .filter(Boolean)
    .map((entry) => {
      const [, header] = headerSource.exec(entry.trim()) ?? [];
      if (header === undefined)
        throw new Error(`authorizer ${id}: the identity source ${entry} is not supported`);
      return header.toLowerCase();
    });

const invocation = /\/functions\/(arn:[^/]+)\/(?:response-streaming-)?invocations$/;

/**
 * Finds the function that an API Gateway URI invokes.
 *
 * @throws Error if the URI invokes no function of the stack
 */
export const functionOfUri = (uri: string, functions: ReadonlyMap<string, FunctionSpec>): FunctionSpec => {
  const [, arn = ''] = invocation.exec(uri) ?? [];
  const found = functions.get(arn);
  if (!found) throw new Error(`${uri} invokes no function of the stack`);
  return found;
};

/** The authorizers of a stack by the id that methods refer to. */
export const readAuthorizers = (
  reader: TemplateReader,
  functions: ReadonlyMap<string, FunctionSpec>,
): ReadonlyMap<string, AuthorizerSpec> => {
  const authorizers = reader
    .resources('AWS::ApiGateway::Authorizer', properties)
    .map(({ id, properties: authorizer }) => ({
      id: reader.ref(id),
      function: functionOfUri(authorizer.AuthorizerUri, functions),
      identityHeaders: identityHeaders(id, authorizer.IdentitySource),
      cacheSeconds: authorizer.AuthorizerResultTtlInSeconds,
    }));
  return new Map(authorizers.map((spec) => [spec.id, spec]));
};
