import type { APIGatewayProxyEvent, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { localRegion } from '../stores/store.ts';
import type { ApiSpec } from '../template/stack.ts';
import type { Match } from './match.ts';
import { isBinary } from './media-type.ts';
import { type GatewayRequest, headerValues } from './request.ts';

type Api = Pick<ApiSpec, 'id' | 'account' | 'stage'>;
type ProxyApi = Api & Pick<ApiSpec, 'binaryMediaTypes'>;
type Pairs = Iterable<readonly [string, string]>;

/** Headers between the client and the gateway only. */
const ownHeaders = new Set(['connection', 'expect', 'keep-alive', 'te', 'transfer-encoding', 'upgrade']);

const grouped = (pairs: Pairs): Record<string, string[]> => {
  const groups = new Map<string, string[]>();
  for (const [name, value] of pairs) groups.set(name, [...(groups.get(name) ?? []), value]);
  return Object.fromEntries(groups);
};

/** API Gateway sends null for empty records. */
const orNull = <T extends object>(record: T): T | null => (Object.keys(record).length > 0 ? record : null);

/** The headers for a function: the client's and those that the gateway adds. */
const eventHeaders = ({ headers, sourceIp, id, receivedAt }: GatewayRequest): [string, string][] => [
  ...headers
    .filter(([name]) => !ownHeaders.has(name.toLowerCase()))
    .map(([name, value]): [string, string] => [name, value]),
  [
    'X-Amzn-Trace-Id',
    `Root=1-${Math.floor(receivedAt / 1000).toString(16)}-${id.replaceAll('-', '').slice(0, 24)}`,
  ],
  ['X-Forwarded-For', sourceIp],
  ['X-Forwarded-Proto', 'http'],
];

/** The ARN of a method with the requested path. Authorizers' policies refer to it. */
export const methodArn = ({ id, account, stage }: Api, { method, path }: GatewayRequest): string =>
  `arn:aws:execute-api:${localRegion}:${account}:${id}/${stage}/${method}${path}`;

const identityOf = (request: GatewayRequest): APIGatewayProxyEvent['requestContext']['identity'] => ({
  accessKey: null,
  accountId: null,
  apiKey: null,
  apiKeyId: null,
  caller: null,
  clientCert: null,
  cognitoAuthenticationProvider: null,
  cognitoAuthenticationType: null,
  cognitoIdentityId: null,
  cognitoIdentityPoolId: null,
  principalOrgId: null,
  sourceIp: request.sourceIp,
  user: null,
  userAgent: headerValues(request, 'user-agent')[0] ?? null,
  userArn: null,
});

const requestContextOf = (api: Api, request: GatewayRequest, { route }: Match) => ({
  accountId: api.account,
  apiId: api.id,
  domainName: 'localhost',
  extendedRequestId: request.id,
  httpMethod: request.method,
  identity: identityOf(request),
  path: `/${api.stage}${request.path}`,
  protocol: 'HTTP/1.1',
  requestId: request.id,
  requestTime: new Date(request.receivedAt).toUTCString(),
  requestTimeEpoch: request.receivedAt,
  resourceId: route.path,
  resourcePath: route.path,
  stage: api.stage,
});

/** The fields that events for functions and authorizers share. */
const commonOf = (request: GatewayRequest, { route, pathParameters }: Match) => {
  const headers = eventHeaders(request);
  return {
    resource: route.path,
    path: request.path,
    httpMethod: request.method,
    headers: Object.fromEntries(headers),
    multiValueHeaders: grouped(headers),
    queryStringParameters: orNull(Object.fromEntries(request.query)),
    multiValueQueryStringParameters: orNull(grouped(request.query)),
    pathParameters: orNull(pathParameters),
    stageVariables: null,
  };
};

/** The event of a REQUEST authorizer. */
export const authorizerEvent = (
  api: Api,
  request: GatewayRequest,
  match: Match,
): APIGatewayRequestAuthorizerEvent => ({
  type: 'REQUEST',
  methodArn: methodArn(api, request),
  ...commonOf(request, match),
  requestContext: { ...requestContextOf(api, request, match), authorizer: undefined },
});

/**
 * The event of a Lambda proxy integration, version 1.0.
 *
 * @param authorizer the authorizer's context with the principal; empty without an authorizer
 */
export const proxyEvent = (
  api: ProxyApi,
  request: GatewayRequest,
  match: Match,
  { authorizer, body }: { authorizer: Readonly<Record<string, string>>; body: Buffer },
): APIGatewayProxyEvent => {
  const binary = isBinary(request, api.binaryMediaTypes);
  return {
    ...commonOf(request, match),
    requestContext: { ...requestContextOf(api, request, match), authorizer },
    body: body.length > 0 ? body.toString(binary ? 'base64' : 'utf8') : null,
    isBase64Encoded: binary && body.length > 0,
  };
};
