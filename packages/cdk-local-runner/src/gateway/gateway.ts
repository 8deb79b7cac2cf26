import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Functions, LambdaFunction } from '../runtime/functions.ts';
import { FunctionThrottled, type Output } from '../runtime/worker.ts';
import type { ApiSpec, RouteSpec, Throttle } from '../template/stack.ts';
import {
  type CompleteAnswer,
  collect,
  parseAnswer,
  parseMetadata,
  renderGatewayResponse,
  splitOutput,
} from './answer.ts';
import { type Authorize, authorizer } from './authorize.ts';
import {
  drain,
  type GatewayRequest,
  getMediaType,
  type Match,
  matcher,
  proxyEvent,
  Refusal,
  readBody,
  readRequest,
  unpackText,
} from './request.ts';

/**
 * Makes a token bucket of `burst` tokens that refills at `ratePerSecond`.
 *
 * @param now the time in ms on a monotonic clock
 * @returns takes a token; false if there is none
 */
export const tokenBucket = ({ ratePerSecond, burst }: Throttle, now: () => number): (() => boolean) => {
  let tokens = burst;
  let filledAt = now();
  return () => {
    const at = now();
    tokens = Math.min(burst, tokens + ((at - filledAt) / 1000) * ratePerSecond);
    filledAt = at;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
};

/** The client closed the connection before it had the complete answer. */
class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** A request with its connection, until the answer is sent. */
interface Exchange {
  readonly request: GatewayRequest;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /**
   * Aborted when the function's answer is no longer needed. The reason is ClientGone, or the
   * Refusal that the client gets instead.
   */
  readonly ending: AbortController;
  /** The authorizer's context; empty before it was asked. */
  authorizer: Readonly<Record<string, string>>;
}

/** Begins an exchange: assigns the request's id and watches the connection. */
const beginExchange = (req: IncomingMessage, res: ServerResponse): Exchange => {
  const request = readRequest(req);
  const ending = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) ending.abort(new ClientGone('the client has gone'));
  });
  res.setHeader('x-amzn-RequestId', request.id);
  return { request, req, res, ending, authorizer: {} };
};

/**
 * Sets status and headers.
 *
 * @throws TypeError if a header has invalid characters
 */
const setHead = (
  res: ServerResponse,
  { status, headers }: Pick<CompleteAnswer, 'status' | 'headers'>,
): void => {
  res.statusCode = status;
  for (const [name, value] of headers) res.appendHeader(name, value);
};

/**
 * Sends a complete answer. If the client is still sending its body, the rest is read and dropped.
 */
export const sendComplete = async ({ req, res }: Exchange, answer: CompleteAnswer): Promise<void> => {
  setHead(res, answer);
  res.setHeader('content-length', answer.body.length);
  if (req.complete) {
    res.end(answer.body);
    return;
  }
  res.setHeader('connection', 'close');
  res.write(answer.body);
  await drain(req);
  res.end();
};

/** Sends an answer instead of one that was prepared but not sent. */
const sendReplacement = async (exchange: Exchange, answer: CompleteAnswer): Promise<void> => {
  const { request, res } = exchange;
  for (const name of res.getHeaderNames()) res.removeHeader(name);
  res.setHeader('x-amzn-RequestId', request.id);
  await sendComplete(exchange, answer);
};

/** How long a client may take to read what came before a failure, in ms. */
const readMs = 1000;

/** An answer that fails only once the client has what came before. */
async function* failingLast(body: Output, res: ServerResponse): Output {
  try {
    yield* body;
  } catch (error) {
    const until = performance.now() + readMs;
    while (res.writableLength > 0 && !res.destroyed && performance.now() < until) await sleep(5);
    throw error;
  }
}

/** Forwards a streamed answer as it comes. If it fails after its head, the connection is closed. */
const sendStreamed = async ({ res }: Exchange, output: Output): Promise<void> => {
  const { metadata, body } = await splitOutput(output);
  setHead(res, parseMetadata(metadata));
  res.flushHeaders();
  await pipeline(failingLast(body, res), res);
};

/**
 * Invokes the function of a route with an event and sends its answer.
 *
 * @param event the event as JSON
 * @throws Refusal if the function is busy, fails, takes too long or answers in a wrong form;
 * ClientGone
 */
const integrate = async (
  exchange: Exchange,
  route: RouteSpec,
  lambda: LambdaFunction,
  event: string,
): Promise<void> => {
  const { ending, res } = exchange;
  /** The client takes nothing, so what is still to be sent would wait for ever. */
  const giveUp = (reason: Error): void => {
    ending.abort(new Refusal('BAD_GATEWAY', reason));
    res.destroy();
  };
  const timer = setTimeout(() => {
    ending.abort(new Refusal('INTEGRATION_TIMEOUT', `no complete answer within ${route.timeoutMs} ms`));
  }, route.timeoutMs);
  try {
    const output = await lambda.invoke(event, ending.signal, giveUp);
    if (route.streaming) await sendStreamed(exchange, output);
    else await sendComplete(exchange, parseAnswer(await collect(output)));
  } catch (error) {
    ending.signal.throwIfAborted();
    throw new Refusal(error instanceof FunctionThrottled ? 'INTEGRATION_FAILURE' : 'BAD_GATEWAY', error);
  } finally {
    clearTimeout(timer);
  }
};

interface GatewayOptions {
  readonly api: ApiSpec;
  readonly functions: Pick<Functions, 'getFunction'>;
  /** Takes a line for each request that failed and was not the client's mistake. */
  readonly log: (line: string) => void;
}

/**
 * API Gateway's limit for the event of a function: 6 MB of JSON. It contains the body as an escaped
 * string.
 */
const maxEventBytes = 6_291_456;

const now = () => performance.now();

const createAuthorizers = ({ api, functions }: GatewayOptions): ReadonlyMap<string, Authorize> => {
  const specs = api.routes.flatMap(({ authorizer: spec }: RouteSpec) => (spec ? [spec] : []));
  return new Map(
    specs.map((spec) => [
      spec.id,
      authorizer({ api, spec, lambda: functions.getFunction(spec.function), now }),
    ]),
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
  const context = { requestId: request.id, mediaType: getMediaType(request), authorizer: caller };
  await sendReplacement(exchange, renderGatewayResponse(api.responses, type, context));
};

/**
 * Makes a listener for Node's HTTP server. It behaves as an API Gateway REST API with Lambda proxy
 * integrations.
 */
export const gateway = (options: GatewayOptions): RequestListener => {
  const { api, functions, log } = options;
  const match = matcher(api.routes);
  const takeShared = api.throttle ? tokenBucket(api.throttle, now) : () => true;
  const takeOwn = new Map(
    api.routes.flatMap((route) =>
      route.throttle ? [[route, tokenBucket(route.throttle, now)] as const] : [],
    ),
  );
  const authorizers = createAuthorizers(options);

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
    const takeToken = takeOwn.get(found.route) ?? takeShared;
    if (!takeToken()) throw new Refusal('THROTTLED');
    exchange.authorizer = await authorize(exchange, found);
    const body = await unpackText(request, received, api.binaryMediaTypes);
    const event = JSON.stringify(proxyEvent(api, request, found, { authorizer: exchange.authorizer, body }));
    if (Buffer.byteLength(event) > maxEventBytes) throw new Refusal('REQUEST_TOO_LARGE');
    await integrate(exchange, found.route, functions.getFunction(found.route.function), event);
  };

  return (req, res) => {
    const exchange = beginExchange(req, res);
    serve(exchange)
      .catch((error: unknown) => fail(exchange, error, options))
      .catch((error: unknown) => {
        log(describe(error));
        res.destroy();
      });
  };
};
