import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import type { APIGatewayProxyEvent, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { localRegion } from '../template/cloudformation.ts';
import type { ApiSpec, RouteSpec } from '../template/stack.ts';

/** API Gateway's default status and message for each type of gateway response. */
export const refusals = {
  ACCESS_DENIED: { status: 403, message: 'User is not authorized to access this resource' },
  AUTHORIZER_CONFIGURATION_ERROR: { status: 500, message: 'Internal server error' },
  AUTHORIZER_FAILURE: { status: 500, message: 'Internal server error' },
  DEFAULT_5XX: { status: 500, message: 'Internal server error' },
  /** A function that fails has no type of its own. */
  BAD_GATEWAY: { status: 502, message: 'Internal server error' },
  INTEGRATION_FAILURE: { status: 504, message: 'Internal server error' },
  INTEGRATION_TIMEOUT: { status: 504, message: 'Endpoint request timed out' },
  MISSING_AUTHENTICATION_TOKEN: { status: 403, message: 'Missing Authentication Token' },
  REQUEST_TOO_LARGE: { status: 413, message: 'Request Too Long' },
  THROTTLED: { status: 429, message: 'Too Many Requests' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'Unsupported Media Type' },
  UNAUTHORIZED: { status: 401, message: 'Unauthorized' },
} as const;

export type RefusalType = keyof typeof refusals;

/** The gateway answers by itself, instead of a function. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly type: RefusalType;

  /** @param cause the failure, for the log only; absent if the client made the mistake */
  constructor(type: RefusalType, cause?: unknown) {
    super(refusals[type].message, { cause });
    this.type = type;
  }
}

/** A request as API Gateway sees it. */
export interface GatewayRequest {
  /** The gateway's id of the request, a UUID. */
  readonly id: string;
  readonly method: string;
  /** As sent: still encoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names as sent, values in order. */
  readonly headers: readonly (readonly [string, string])[];
  readonly sourceIp: string;
  /** When the request came, in ms since 1970. */
  readonly receivedAt: number;
}

/** Makes pairs of Node's flat list of names and values. */
const pairs = (raw: readonly string[]): [string, string][] =>
  raw.flatMap((name, at): [string, string][] => (at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : []));

/** Reads id, method, path, query and headers of a request. */
export const readRequest = (req: IncomingMessage): GatewayRequest => {
  const [path = '/', query] = (req.url ?? '/').split(/\?(.*)/s);
  return {
    id: randomUUID(),
    method: req.method ?? 'GET',
    path,
    query: new URLSearchParams(query),
    headers: pairs(req.rawHeaders),
    sourceIp: req.socket.remoteAddress ?? '127.0.0.1',
    receivedAt: Date.now(),
  };
};

/**
 * The values of a header.
 *
 * @param name the header's name in lower case
 */
export const headerValues = ({ headers }: Pick<GatewayRequest, 'headers'>, name: string): string[] =>
  headers.filter(([key]) => key.toLowerCase() === name).map(([, value]) => value);

/** API Gateway's limit for a body: 10 MB. */
const maxBodyBytes = 10 * 1024 * 1024;

/** How much of an unwanted body is read, in bytes. Its sender reads the answer only afterwards. */
const maxDrainedBytes = 64 * 1024 * 1024;
const maxDrainMs = 2000;

/** Whether the client waits for permission to send its body. */
const waitsToSend = (req: IncomingMessage): boolean => /^100-continue$/i.test(req.headers.expect ?? '');

/**
 * Reads a body. It stops as soon as the body turns out to be too long.
 *
 * @throws Refusal REQUEST_TOO_LARGE
 */
export const readBody = async (req: IncomingMessage, res: ServerResponse): Promise<Buffer> => {
  if (Number(req.headers['content-length'] ?? 0) > maxBodyBytes) throw new Refusal('REQUEST_TOO_LARGE');
  if (waitsToSend(req)) res.writeContinue();
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop must not close the connection, because the answer still goes out on it.
  for await (const chunk of req.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBodyBytes) throw new Refusal('REQUEST_TOO_LARGE');
  }
  return Buffer.concat(chunks);
};

/**
 * Reads the rest of a body, within a size and a time. If the connection were closed while the
 * client sends, it would be reset and the client might miss the answer.
 */
export const drain = async (req: IncomingMessage): Promise<void> => {
  if (req.complete || req.destroyed || waitsToSend(req)) return;
  let size = 0;
  const stopped = new AbortController();
  const done = () => stopped.abort();
  req.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxDrainedBytes) done();
  });
  req.once('end', done).once('close', done);
  await sleep(maxDrainMs, undefined, { signal: stopped.signal }).catch(() => {});
  req.pause();
};

/** The media type of a request's body in lower case, without parameters; empty if it says none. */
export const getMediaType = (request: Pick<GatewayRequest, 'headers'>): string => {
  const [value = ''] = headerValues(request, 'content-type');
  const [type = ''] = value.split(';');
  return type.trim().toLowerCase();
};

/** Whether a media type is one of a list, in which `image/*` stands for all images. */
const isAmong = (type: string, list: readonly string[]): boolean =>
  list.some((entry) => entry === '*/*' || entry === type || entry === `${type.split('/')[0]}/*`);

/** Whether a request's body is of one of the API's binary media types. */
const isBinary = (request: Pick<GatewayRequest, 'headers'>, binaryMediaTypes: readonly string[]): boolean =>
  isAmong(getMediaType(request), binaryMediaTypes);

const unpackers = { gzip: promisify(gunzip), deflate: promisify(inflate) };

/**
 * Unpacks a text body by its `content-encoding`, as API Gateway documents it
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-make-request-with-compressed-payload.html).
 * Bodies of binary media types stay packed. For those the documentation says both: that bodies are
 * unpacked, and that functions get them as they are.
 *
 * @throws Refusal UNSUPPORTED_MEDIA_TYPE if the body is packed otherwise, REQUEST_TOO_LARGE above
 * 10 MB
 */
export const unpackText = async (
  request: GatewayRequest,
  body: Buffer,
  binaryMediaTypes: readonly string[],
): Promise<Buffer> => {
  const encoding = headerValues(request, 'content-encoding').join(',').trim().toLowerCase();
  if (encoding === '' || encoding === 'identity' || isBinary(request, binaryMediaTypes)) return body;
  if (encoding !== 'gzip' && encoding !== 'deflate') throw new Refusal('UNSUPPORTED_MEDIA_TYPE');
  try {
    return await unpackers[encoding](body, { maxOutputLength: maxBodyBytes });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Refusal(code === 'ERR_BUFFER_TOO_LARGE' ? 'REQUEST_TOO_LARGE' : 'UNSUPPORTED_MEDIA_TYPE');
  }
};

/** The route of a request, with the decoded path parameters. */
export interface Match {
  readonly route: RouteSpec;
  readonly pathParameters: Readonly<Record<string, string>>;
}

/** Finds the route for a method and a path; undefined if there is none. */
type Matcher = (method: string, path: string) => Match | undefined;

const splitPath = (path: string): string[] => path.split('/').slice(1);

const greedy = /^\{(.+)\+\}$/;
const single = /^\{(.+)\}$/;

/**
 * `0` for a fixed segment, `1` for a parameter, `2` for a greedy one. The lowest rank goes first.
 */
const rank = (segment: string): string => {
  if (greedy.test(segment)) return '2';
  return single.test(segment) ? '1' : '0';
};

const ranks = ({ path }: RouteSpec): string => splitPath(path).map(rank).join('');

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};

/** The parameters of a path; undefined if it does not fit the pattern. */
const matchPath = (
  pattern: readonly string[],
  path: readonly string[],
): Record<string, string> | undefined => {
  const parameters: Record<string, string> = {};
  for (const [at, expected] of pattern.entries()) {
    const segment = path[at];
    if (segment === undefined) return undefined;
    const [, rest] = greedy.exec(expected) ?? [];
    if (rest !== undefined) return { ...parameters, [rest]: path.slice(at).map(decoded).join('/') };
    const [, name] = single.exec(expected) ?? [];
    if (name !== undefined) parameters[name] = decoded(segment);
    else if (segment !== expected) return undefined;
  }
  return pattern.length === path.length ? parameters : undefined;
};

/**
 * Makes a matcher with API Gateway's priorities: a fixed segment, then a parameter, then `{name+}`,
 * which takes one or more segments. A trailing slash makes no difference to the other two.
 */
export const matcher = (routes: readonly RouteSpec[]): Matcher => {
  const candidates = routes
    .toSorted((a, b) => (ranks(a) < ranks(b) ? -1 : 1))
    .map((route) => ({ route, pattern: splitPath(route.path) }));
  return (method, path) => {
    const segments = splitPath(path);
    // API Gateway routes `/x/` like `/x`.
    const withoutSlash = segments.at(-1) === '' && segments.at(-2) ? segments.slice(0, -1) : segments;
    for (const { route, pattern } of candidates) {
      if (route.method !== method && route.method !== 'ANY') continue;
      const isGreedy = greedy.test(pattern.at(-1) ?? '');
      const pathParameters = matchPath(pattern, isGreedy ? segments : withoutSlash);
      if (pathParameters) return { route, pathParameters };
    }
    return undefined;
  };
};

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

const toIdentity = (request: GatewayRequest): APIGatewayProxyEvent['requestContext']['identity'] => ({
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

const toRequestContext = (api: Api, request: GatewayRequest, { route }: Match) => ({
  accountId: api.account,
  apiId: api.id,
  domainName: 'localhost',
  extendedRequestId: request.id,
  httpMethod: request.method,
  identity: toIdentity(request),
  // As behind a custom domain that maps nothing: clients see no stage.
  path: request.path,
  protocol: 'HTTP/1.1',
  requestId: request.id,
  requestTime: new Date(request.receivedAt).toUTCString(),
  requestTimeEpoch: request.receivedAt,
  resourceId: route.path,
  resourcePath: route.path,
  stage: api.stage,
});

/** The fields that events for functions and authorizers share. */
const commonFields = (request: GatewayRequest, { route, pathParameters }: Match) => {
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
  ...commonFields(request, match),
  requestContext: { ...toRequestContext(api, request, match), authorizer: undefined },
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
    ...commonFields(request, match),
    requestContext: { ...toRequestContext(api, request, match), authorizer },
    body: body.length > 0 ? body.toString(binary ? 'base64' : 'utf8') : null,
    isBase64Encoded: binary && body.length > 0,
  };
};
