import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { pipeline, type Readable, Transform } from 'node:stream';
import { signed } from '../../../foundations/aws/index.ts';
import { type JsonObject, ServiceError } from '../../../foundations/wire/index.ts';
import type { SecretKeys } from './credentials.ts';
import type { Recording } from './recording.ts';
import {
  answerHeaders,
  type Headers,
  type InferenceBody,
  type InferencePath,
  requestHeaders,
  upstreamBody,
} from './request.ts';
import {
  chooseUpstream,
  noUpstream,
  targetOf,
  type Upstream,
  type UpstreamModel,
  unknownModel,
  upstreamKeyUnreadable,
  upstreamRedirected,
  upstreamTimedOut,
  upstreamUnreachable,
} from './upstream.ts';
import { withoutUsage } from './usage.ts';

const connectMs = 5000;

/**
 * How long an idle connection is reused, in ms. Many servers close theirs after five seconds, and a
 * frozen function does not notice. A request that fails on a closed connection may have been
 * served, so it is not sent again.
 */
const idleMs = 4000;

const agents = {
  'http:': new HttpAgent({ keepAlive: true }),
  'https:': new HttpsAgent({ keepAlive: true }),
};

const freedAt = new WeakMap<Socket, number>();
for (const agent of Object.values(agents))
  agent.on('free', (socket: Socket) => freedAt.set(socket, Date.now()));

const closeIdle = (agent: HttpAgent): void => {
  const sockets = Object.values(agent.freeSockets).flatMap((list) => list ?? []);
  for (const socket of sockets) {
    if (Date.now() - (freedAt.get(socket) ?? 0) > idleMs) socket.destroy();
  }
};

/**
 * POSTs a body once, without retries and without following redirects.
 *
 * @param signal aborts the request and its answer
 * @returns the answer as soon as its headers have come; its body is as the server encoded it
 * @throws Error if no connection is made within five seconds or it breaks before the answer; the
 * signal's AbortError
 */
export const post = (
  url: URL,
  headers: Headers,
  body: Uint8Array,
  signal: AbortSignal,
): Promise<IncomingMessage> => {
  const secure = url.protocol === 'https:';
  const agent = agents[secure ? 'https:' : 'http:'];
  closeIdle(agent);
  return new Promise((resolve, reject) => {
    const request = (secure ? httpsRequest : httpRequest)(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': body.length },
      agent,
      signal,
    });
    const giveUp = () => request.destroy(new Error(`no connection within ${connectMs} ms`));
    const timer = setTimeout(giveUp, connectMs);
    const connected = () => clearTimeout(timer);
    request.once('socket', (socket) => {
      if (socket.connecting) socket.once(secure ? 'secureConnect' : 'connect', connected);
      else connected();
    });
    request.once('close', connected);
    request.once('response', resolve);
    // An error after the answer has begun reaches the reader of its body instead.
    request.on('error', reject);
    request.end(body);
  });
};

/** Where requests can be forwarded to. */
export interface UpstreamConfig {
  /** In order of priority: the first with a matching rule gets the request. */
  readonly upstreams: readonly Upstream[];
  readonly keys: SecretKeys;
}

/** A validated and authorized request. */
export interface InferenceRequest {
  readonly path: InferencePath;
  /** The body as the schema has it. */
  readonly body: InferenceBody;
  /** The body with its numbers as they were written. */
  readonly received: InferenceBody;
  /** The client's headers by lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The longest time for the complete answer, in ms. The body's own `timeout` may be shorter. */
  readonly maxMs: number;
  /** Aborted when the client disconnects. */
  readonly gone: AbortSignal;
  readonly recording?: Recording | undefined;
  /** Whether the client did not ask for the usage that comes as the last chunk of a stream. */
  readonly withholdsUsage?: boolean | undefined;
}

/** The answer of an upstream while it is being forwarded. */
export interface ForwardedAnswer {
  readonly status: number;
  readonly headers: Headers;
  /**
   * The body's bytes as they come. It fails with an error if the upstream breaks off or time is up.
   */
  readonly body: Readable;
  /** The number of bytes of the body that have passed so far. */
  readonly bytes: () => number;
  readonly upstream: string;
  /** Whether all has come that a client waits for. The upstream may close a little later. */
  readonly isComplete: () => boolean;
  /** Whether the caller's own `timeout` has ended it. */
  readonly isTimedOut: () => boolean;
}

const choose = ({ upstreams }: UpstreamConfig, { body: { model } }: InferenceRequest): UpstreamModel => {
  if (upstreams.length === 0) throw noUpstream();
  const chosen = chooseUpstream(upstreams, model);
  if (!chosen) throw unknownModel(model);
  return chosen;
};

/**
 * Sends a request with the credentials of its upstream. If the upstream refuses the key and the
 * secret holds a newer one, the request is sent once more.
 */
const send = async (
  { keys }: UpstreamConfig,
  { path, body, received, headers: client }: InferenceRequest,
  { upstream, model }: UpstreamModel,
  signal: AbortSignal,
): Promise<IncomingMessage> => {
  const url = targetOf(upstream, path, body.api_version);
  const headers = requestHeaders(client, body.extra_headers as JsonObject | undefined);
  const bytes = Buffer.from(upstreamBody(received, model));
  const { credentials } = upstream;
  const withKey = (key: string) => post(url, { ...headers, authorization: `Bearer ${key}` }, bytes, signal);
  if (credentials.kind === 'none') return post(url, headers, bytes, signal);
  if (credentials.kind === 'role') {
    const signing = { service: 'bedrock', region: credentials.region };
    return post(url, await signed(signing, url, headers, bytes), bytes, signal);
  }
  if (credentials.kind === 'key') return withKey(credentials.key);

  const failKey = (error: unknown) => {
    throw upstreamKeyUnreadable(upstream.name, error);
  };
  const key = await keys.key(credentials.secret, signal).catch(failKey);
  const answer = await withKey(key);
  if (answer.statusCode !== 401) return answer;
  // A request refused for its key was not executed. This makes it the only one that may be resent.
  const renewed = await keys.renewed(credentials.secret, key, signal).catch(() => undefined);
  if (renewed === undefined) return answer;
  answer.destroy();
  return withKey(renewed);
};

/** The line with which the last event of a stream begins: of chat completions, or of a response. */
const lastEvent = /\n(?:data: ?\[DONE\]|event: ?response\.(?:completed|incomplete|failed)\r?\n)/;
const emptyLine = /\n\r?\n/;

/** Longer than such a line. */
const lineCharacters = 64;

/**
 * Finds the end of a stream of server-sent events. Clients leave there, and some upstreams close
 * only a little later.
 *
 * @returns takes the next bytes, and tells whether the last event is whole
 */
const streamEnd = (): ((bytes: Buffer) => boolean) => {
  let kept = '\n';
  let inLast = false;
  let whole = false;
  return (bytes) => {
    if (whole) return true;
    let text = kept + bytes.toString('latin1');
    const at = inLast ? -1 : text.search(lastEvent);
    if (at >= 0) {
      inLast = true;
      text = text.slice(at + 1);
    }
    whole = inLast && emptyLine.test(text);
    kept = text.slice(-lineCharacters);
    return whole;
  };
};

/** Counts the bytes of an answer and shows them to the recording after they are forwarded. */
const tapped = (
  answer: IncomingMessage,
  { recording, withholdsUsage }: InferenceRequest,
  ended: () => void,
): Pick<ForwardedAnswer, 'body' | 'bytes'> => {
  let bytes = 0;
  const isStream = /^text\/event-stream\b/i.test(header(answer, 'content-type') ?? '');
  const hasEnded = isStream ? streamEnd() : () => false;
  const tap = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      bytes += chunk.length;
      if (hasEnded(chunk)) ended();
      done(null, chunk);
      recording?.passed(chunk);
    },
  });
  // A failing answer destroys the tap, and its reader sees the error. Nobody else needs to know.
  const isReadable = isStream && /^(identity)?$/.test(header(answer, 'content-encoding') ?? '');
  const body: Readable =
    withholdsUsage && isReadable
      ? pipeline(answer, tap, withoutUsage(), () => {})
      : pipeline(answer, tap, () => {});
  return { body, bytes: () => bytes };
};

const header = ({ headers }: IncomingMessage, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
};

const forwardTo = async (
  chosen: UpstreamModel,
  config: UpstreamConfig,
  request: InferenceRequest,
): Promise<ForwardedAnswer> => {
  const { recording, gone, body } = request;
  const { name } = chosen.upstream;
  recording?.sent(name, chosen.model);
  const requestedMs = Math.ceil((body.timeout ?? Number.POSITIVE_INFINITY) * 1000);
  const ms = Math.max(1, Math.min(request.maxMs, requestedMs));
  const timeout = AbortSignal.timeout(ms);
  const isCallers = requestedMs <= request.maxMs;
  const timedOut = upstreamTimedOut(name, ms / 1000, isCallers);
  let complete = false;
  const fail = (reason: string) => {
    if (!complete) recording?.failed(reason);
  };
  timeout.addEventListener('abort', () => fail(timedOut.message), { once: true });
  gone.addEventListener('abort', () => fail('the client has gone'), { once: true });
  try {
    const answer = await send(config, request, chosen, AbortSignal.any([timeout, gone]));
    const { statusCode: status = 502 } = answer;
    if (status >= 300 && status < 400) {
      answer.destroy();
      throw upstreamRedirected(name);
    }
    const type = header(answer, 'content-type') ?? '';
    const encoding = header(answer, 'content-encoding') ?? '';
    recording?.answered(status, type, encoding, header(answer, 'x-request-id'));
    const completed = () => {
      complete = true;
    };
    answer.once('end', completed);
    answer.once('error', () => fail(`the upstream ${name} broke its answer off`));
    return {
      ...{ status, headers: answerHeaders(answer.headers), upstream: name },
      ...tapped(answer, request, completed),
      isComplete: () => complete,
      isTimedOut: () => isCallers && timeout.aborted && !complete,
    };
  } catch (error) {
    if (timeout.aborted) throw timedOut;
    throw error instanceof ServiceError ? error : upstreamUnreachable(name, error);
  }
};

/**
 * Forwards a request to the upstream of its model.
 *
 * @returns the upstream's answer as soon as its headers have come, also if its status is an error
 * @throws ServiceError 404 if no rule matches the model; 502 if there is no upstream or it does not
 * answer; 504 if time is up
 */
export const forward = async (
  config: UpstreamConfig,
  request: InferenceRequest,
): Promise<ForwardedAnswer> => {
  try {
    return await forwardTo(choose(config, request), config, request);
  } catch (error) {
    request.recording?.failed(error instanceof Error ? error.message : String(error));
    throw error;
  }
};
