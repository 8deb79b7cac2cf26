import { ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import { resourceMetadata } from '../api/service.ts';
import { requestIdHeader } from '../api/shared/headers.ts';
import { errorForAll } from '../core/doors/inference/error.ts';
import { encodeStatus } from '../core/doors/otel/answer.ts';
import type { ErrorDetail } from '../foundations/wire/errors.ts';
import { challenge, keyOrTokenRequired, keyRequired } from '../foundations/wire/errors.ts';
import { type Config, constructId } from './config.ts';

/** An answer that API Gateway makes without a function. */
interface GatewayAnswer {
  readonly types: readonly ResponseType[];
  /** @default - API Gateway's own */
  readonly status?: number;
  readonly error: ErrorDetail;
  /**
   * The message for an exporter of spans, in less than 128 characters of ASCII. @default - the same
   */
  readonly brief?: string;
  /** Further headers, by name. @default - none */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The texts are fixed and say nothing of anybody, so pages of every origin may read them. */
const readableByPages = {
  'access-control-allow-origin': "'*'",
  'access-control-expose-headers': `'${requestIdHeader}, retry-after'`,
};

const retrySoon = { 'Retry-After': '1' };

/**
 * The challenge of a service whose access tokens MCP clients can get. It is that of every route, because a gateway
 * response knows of none, and a function's own header would be renamed. Bearer comes first: the clients of the
 * official SDK read nothing else (docs/decisions/0306).
 *
 * @param metadata where the metadata of `/mcp` are
 */
const bearerChallenge = (metadata: string): string =>
  `Bearer realm="svc", resource_metadata="${metadata}", Basic realm="svc", charset="UTF-8"`;

/** Whether people have access tokens for the service. Those of a user pool say too little to it. */
const takesAccessTokens = ({ signIn }: Pick<Config, 'signIn'>): boolean =>
  signIn !== undefined && 'issuer' in signIn && signIn.token === 'access';

/** What is answered without valid credentials. */
const unauthorized = (config: Config, url: string): GatewayAnswer => ({
  types: [ResponseType.UNAUTHORIZED],
  status: 401,
  error: config.signIn ? keyOrTokenRequired : keyRequired,
  brief: `a valid key${config.signIn ? ' or token' : ''} is required in OTEL_EXPORTER_OTLP_HEADERS: Authorization, Basic or Bearer`,
  headers: {
    'WWW-Authenticate': takesAccessTokens(config)
      ? bearerChallenge(`${url}${resourceMetadata.path}`)
      : challenge,
  },
});

/**
 * Every other answer that API Gateway can make without a function. The texts are fixed, because its own
 * texts name functions and ARNs, and one repeats the Authorization header.
 */
const gatewayAnswers: readonly GatewayAnswer[] = [
  {
    types: [ResponseType.ACCESS_DENIED],
    status: 403,
    error: { loc: ['header', 'authorization'], msg: 'this key may not do this', type: 'forbidden' },
  },
  {
    // API Gateway wants AWS's own credentials from a request to no route. Without an Authorization
    // header it misses a token, with one it finds no valid signature.
    types: [
      ResponseType.MISSING_AUTHENTICATION_TOKEN,
      ResponseType.INVALID_SIGNATURE,
      ResponseType.EXPIRED_TOKEN,
      ResponseType.RESOURCE_NOT_FOUND,
    ],
    status: 404,
    error: {
      loc: ['path'],
      msg: 'no such route: GET /openapi.json lists all, with their methods; no path has a doubled slash',
      type: 'not_found',
    },
  },
  {
    types: [ResponseType.REQUEST_TOO_LARGE],
    status: 413,
    error: {
      loc: ['body'],
      msg: 'the request is over the 6 MB that its event may have: about 5 MB of JSON, or a file of 4.4 MB; send smaller batches, chunks or files',
      type: 'too_large',
    },
    brief:
      'the request is over 4 MB: lower OTEL_BSP_MAX_EXPORT_BATCH_SIZE, or send_batch_max_size of a collector',
  },
  {
    // What the gateway cannot unpack.
    types: [ResponseType.UNSUPPORTED_MEDIA_TYPE],
    status: 415,
    error: {
      loc: ['header', 'content-encoding'],
      msg: 'should be absent, and the body plain; exports of OpenTelemetry may be packed with gzip or deflate, as this header says',
      type: 'unsupported_media_type',
    },
    brief: 'the body should be packed with gzip or not at all: set OTEL_EXPORTER_OTLP_COMPRESSION',
  },
  {
    // The stage throttles, or Lambda does. API Gateway calls the latter a failed integration
    // (docs/decisions/0024), and its own answer would be a bare 500.
    types: [ResponseType.THROTTLED, ResponseType.INTEGRATION_FAILURE],
    status: 429,
    error: {
      loc: [],
      msg: 'too many requests; send the same request again a little later',
      type: 'throttled',
    },
    headers: retrySoon,
  },
  {
    // The authorizer died or is throttled, or its table did not answer. None of these says anything
    // of the key, and all pass.
    types: [ResponseType.AUTHORIZER_FAILURE, ResponseType.AUTHORIZER_CONFIGURATION_ERROR],
    status: 503,
    error: {
      loc: ['storage'],
      msg: 'the key could not be looked up in time; send the same request again',
      type: 'storage_unavailable',
    },
    headers: retrySoon,
  },
  {
    types: [ResponseType.API_CONFIGURATION_ERROR],
    status: 500,
    error: { loc: [], msg: 'internal error', type: 'internal_error' },
  },
  {
    types: [ResponseType.INTEGRATION_TIMEOUT],
    status: 504,
    error: {
      loc: [],
      msg: 'the service did not answer in time; send the same request again',
      type: 'timeout',
    },
  },
  // A status here would replace that of all answers without one.
  {
    types: [ResponseType.DEFAULT_4XX],
    error: {
      loc: [],
      msg: 'the request was refused: is it to a route of the API, with its method?',
      type: 'bad_request',
    },
  },
  {
    // Also the 502 of a function that died.
    types: [ResponseType.DEFAULT_5XX],
    error: { loc: [], msg: 'internal error; the same request may be sent again', type: 'internal_error' },
  },
];

/**
 * A `google.rpc.Status` in protobuf, as text: its bytes are all ASCII.
 *
 * @throws Error if they are not
 */
const statusText = (status: number, message: string): string => {
  const bytes = encodeStatus('application/x-protobuf', status, message);
  if (bytes.some((byte) => byte > 0x7f)) throw new Error(`shorten "${message}", which is no ASCII as it is`);
  return Buffer.from(bytes).toString('latin1');
};

/** The status that one of the default answers is reckoned with. */
const getStatus = ({ responseType }: ResponseType): number => (responseType === 'DEFAULT_4XX' ? 400 : 500);

/**
 * Sets the gateway's own answers: in the service's error shape, with the `error` that OpenAI's clients
 * read, and with the request's id.
 *
 * @param url of the service, without a slash at its end
 */
export const addGatewayResponses = (api: RestApi, config: Config, url: string): void => {
  const { corsOrigins } = config;
  const answers = [unauthorized(config, url), ...gatewayAnswers];
  for (const { types, status, error, brief = error.msg, headers = {} } of answers) {
    const texts = Object.entries(headers).map(([name, value]) => [name, `'${value}'`]);
    for (const type of types) {
      api.addGatewayResponse(constructId(type.responseType), {
        type,
        ...(status !== undefined && { statusCode: String(status) }),
        responseHeaders: {
          [requestIdHeader]: 'context.requestId',
          'x-content-type-options': "'nosniff'",
          ...(corsOrigins && readableByPages),
          ...Object.fromEntries(texts),
        },
        templates: {
          'application/json': `${JSON.stringify(errorForAll(status ?? getStatus(type), error))}\n`,
          'application/x-protobuf': statusText(status ?? 500, brief),
        },
      });
    }
  }
};
