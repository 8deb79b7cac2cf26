import { z } from 'zod';
import type { FunctionSpec } from './functions.ts';
import type { TemplateReader } from './reader.ts';

/** A Lambda authorizer of the REQUEST type. */
export interface AuthorizerSpec {
  readonly id: string;
  readonly function: FunctionSpec;
  /**
   * The headers, in lower case, that a request must have and whose values its answer is cached by.
   */
  readonly identityHeaders: readonly string[];
  /** How long an answer counts for the same identity; 0 for not at all. */
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
    .map((part) => {
      const [, header] = headerSource.exec(part.trim()) ?? [];
      if (header === undefined)
        throw new Error(`authorizer ${id}: the identity source ${part} is not supported`);
      return header.toLowerCase();
    });

const invocation = /\/functions\/(arn:[^/]+)\/(?:response-streaming-)?invocations$/;

/**
 * The function that API Gateway is to invoke by a URI.
 *
 * @throws Error where the URI is none that invokes a function of the stack
 */
export const functionOfUri = (uri: string, functions: ReadonlyMap<string, FunctionSpec>): FunctionSpec => {
  const [, arn = ''] = invocation.exec(uri) ?? [];
  const found = functions.get(arn);
  if (!found) throw new Error(`${uri} invokes no function of the stack`);
  return found;
};

/** The authorizers of a stack, by the id that methods know them by. */
export const readAuthorizers = (
  reader: TemplateReader,
  functions: ReadonlyMap<string, FunctionSpec>,
): ReadonlyMap<string, AuthorizerSpec> => {
  const authorizers = reader
    .resources('AWS::ApiGateway::Authorizer', properties)
    .map(({ id, properties: given }) => ({
      id: reader.ref(id),
      function: functionOfUri(given.AuthorizerUri, functions),
      identityHeaders: identityHeaders(id, given.IdentitySource),
      cacheSeconds: given.AuthorizerResultTtlInSeconds,
    }));
  return new Map(authorizers.map((spec) => [spec.id, spec]));
};
