import type { RequestListener } from 'node:http';
import type { Functions } from '../runtime/functions.ts';
import type { RouteSpec } from '../template/routes.ts';
import type { ApiSpec } from '../template/stack.ts';
import { type Authorize, authorizer } from './authorize.ts';
import { readBody } from './body.ts';
import { proxyEvent } from './event.ts';
import { ClientGone, type Exchange, exchangeOf, sendReplacement } from './exchange.ts';
import { renderGatewayResponse } from './gateway-response.ts';
import { integrate } from './integrate.ts';
import { type Match, matcher } from './match.ts';
import { mediaTypeOf } from './media-type.ts';
import { Refusal } from './refusal.ts';
import { tokenBucket } from './throttle.ts';
import { unpackText } from './unpack.ts';

export interface GatewayOptions {
  readonly api: ApiSpec;
  readonly functions: Pick<Functions, 'of'>;
  /** Takes a line for each request that failed and was not the client's mistake. */
  readonly log: (line: string) => void;
}

/**
 * API Gateway's limit for the event of a function: 6 MB of JSON. It contains the body as an escaped
 * string.
 */
const maxEventBytes = 6_291_456;

const now = () => performance.now();

/** The authorizers of the routes by id. */
const authorizersOf = ({ api, functions }: GatewayOptions): ReadonlyMap<string, Authorize> => {
  const specs = api.routes.flatMap(({ authorizer: spec }: RouteSpec) => (spec ? [spec] : []));
  return new Map(
    specs.map((spec) => [spec.id, authorizer({ api, spec, lambda: functions.of(spec.function), now })]),
  );
};

const describe = (cause: unknown): string =>
  cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);

/** Answers a failed request. It logs the failure unless the client caused it. */
const fail = async (exchange: Exchange, error: unknown, { api, log }: GatewayOptions): Promise<void> => {
  const { request, res, ending, authorizer: caller } = exchange;
  if (ending.signal.reason instanceof ClientGone) return;
  const { type, cause } = error instanceof Refusal ? error : new Refusal('DEFAULT_5XX', error);
  if (cause) log(`${type} ${request.method} ${request.path} (request ${request.id}): ${describe(cause)}`);
  if (res.headersSent) {
    // A truncated answer must not look complete.
    res.destroy();
    return;
  }
  const context = { requestId: request.id, mediaType: mediaTypeOf(request), authorizer: caller };
  await sendReplacement(exchange, renderGatewayResponse(api.responses, type, context));
};

/**
 * Makes a listener for Node's HTTP server. It behaves as an API Gateway REST API with Lambda proxy
 * integrations.
 */
export const gateway = (options: GatewayOptions): RequestListener => {
  const { api, functions, log } = options;
  const match = matcher(api.routes);
  const takeToken = api.throttle ? tokenBucket(api.throttle, now) : () => true;
  const authorizers = authorizersOf(options);

  const authorize = async ({ request, ending }: Exchange, found: Match) => {
    const { authorizer: spec } = found.route;
    if (!spec) return {};
    const callAuthorizer = authorizers.get(spec.id);
    if (!callAuthorizer) throw new Refusal('AUTHORIZER_CONFIGURATION_ERROR', `no authorizer ${spec.id}`);
    return callAuthorizer(request, found, ending.signal);
  };

  const serve = async (exchange: Exchange): Promise<void> => {
    const { request, req, res } = exchange;
    const received = await readBody(req, res);
    const found = match(request.method, request.path);
    if (!found) throw new Refusal('MISSING_AUTHENTICATION_TOKEN');
    if (!takeToken()) throw new Refusal('THROTTLED');
    exchange.authorizer = await authorize(exchange, found);
    const body = await unpackText(request, received, api.binaryMediaTypes);
    const event = JSON.stringify(proxyEvent(api, request, found, { authorizer: exchange.authorizer, body }));
    if (Buffer.byteLength(event) > maxEventBytes) throw new Refusal('REQUEST_TOO_LARGE');
    await integrate(exchange, found.route, functions.of(found.route.function), event);
  };

  return (req, res) => {
    const exchange = exchangeOf(req, res);
    serve(exchange)
      .catch((error: unknown) => fail(exchange, error, options))
      .catch((error: unknown) => {
        log(describe(error));
        res.destroy();
      });
  };
};
