import { z } from 'zod';
import { type AuthorizerSpec, functionOfUri } from './authorizers.ts';
import type { FunctionSpec } from './functions.ts';
import { isRoot } from './names.ts';
import type { TemplateReader } from './reader.ts';

/** A method of the API with its integration. */
export interface RouteSpec {
  /** `POST`, …, or `ANY`. */
  readonly method: string;
  /**
   * The path of its resource, with parameters in braces: `/calls/stream_query`,
   * `/inference/v1/{path+}`.
   */
  readonly path: string;
  readonly function: FunctionSpec;
  readonly authorizer?: AuthorizerSpec;
  /** Whether the function's answer is forwarded as it comes. */
  readonly streaming: boolean;
  /** How long API Gateway waits for the complete answer, in ms. */
  readonly timeoutMs: number;
}

const resourceProperties = z.object({ ParentId: z.string(), PathPart: z.string() });

const methodProperties = z.object({
  HttpMethod: z.string(),
  ResourceId: z.string(),
  AuthorizationType: z.enum(['NONE', 'CUSTOM']),
  AuthorizerId: z.string().optional(),
  ApiKeyRequired: z.literal(false).default(false),
  Integration: z.object({
    Type: z.literal('AWS_PROXY'),
    Uri: z.string(),
    ResponseTransferMode: z.enum(['BUFFERED', 'STREAM']).default('BUFFERED'),
    TimeoutInMillis: z.number().default(29_000),
  }),
});

type MethodProperties = z.output<typeof methodProperties>;

/** Gives the path of an API Gateway resource by its id. */
const pathsOf = (reader: TemplateReader): ((id: string) => string) => {
  const resources = reader.resources('AWS::ApiGateway::Resource', resourceProperties);
  const byId = new Map(resources.map(({ id, properties }) => [reader.ref(id), properties]));
  const pathTo = (id: string): string => {
    if (isRoot(id)) return '';
    const resource = byId.get(id);
    if (!resource) throw new Error(`the API has no resource ${id}`);
    return `${pathTo(resource.ParentId)}/${resource.PathPart}`;
  };
  return (id) => pathTo(id) || '/';
};

const authorizerOf = (
  { AuthorizationType, AuthorizerId }: MethodProperties,
  authorizers: ReadonlyMap<string, AuthorizerSpec>,
): AuthorizerSpec | undefined => {
  if (AuthorizationType === 'NONE') return undefined;
  const found = authorizers.get(AuthorizerId ?? '');
  // A route must not become open because its authorizer is missing.
  if (!found) throw new Error(`the API has no authorizer ${AuthorizerId}`);
  return found;
};

/** CDK sets both the transfer mode and the invocation's URI; either means streaming. */
const isStreamed = ({ ResponseTransferMode, Uri }: MethodProperties['Integration']): boolean =>
  ResponseTransferMode === 'STREAM' || Uri.endsWith('/response-streaming-invocations');

/** The methods of the API, each with its function and authorizer. */
export const readRoutes = (
  reader: TemplateReader,
  functions: ReadonlyMap<string, FunctionSpec>,
  authorizers: ReadonlyMap<string, AuthorizerSpec>,
): RouteSpec[] => {
  const pathOf = pathsOf(reader);
  return reader.resources('AWS::ApiGateway::Method', methodProperties).map(({ properties }) => {
    const { HttpMethod, ResourceId, Integration } = properties;
    const authorizer = authorizerOf(properties, authorizers);
    return {
      method: HttpMethod,
      path: pathOf(ResourceId),
      function: functionOfUri(Integration.Uri, functions),
      ...(authorizer && { authorizer }),
      streaming: isStreamed(Integration),
      timeoutMs: Integration.TimeoutInMillis,
    };
  });
};
