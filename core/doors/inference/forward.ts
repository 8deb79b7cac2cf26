import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable, Transform } from 'node:stream';
import { signed } from '../../../foundations/aws/index.ts';
import { type JsonObject, ServiceError } from '../../../foundations/wire/index.ts';
import type { SecretKeys } from './credentials.ts';
import { post } from './post.ts';
import { type ClientApi, type Translation, translate } from './protocols/index.ts';
import type { Attempt, Recording } from './recording.ts';
import {
  answerHeaders,
  type Headers,
  type InferenceBody,
  type InferencePath,
  requestHeaders,
  upstreamBody,
} from './request.ts';
import { neverReached } from './spending.ts';
import { streamEnd } from './stream-end.ts';
import { translateAnswer } from './translated.ts';
import {
  candidatesFor,
  noUpstream,
  pathNotTaken,
  toTargetUrl,
  type Upstream,
  type UpstreamModel,
  unknownModel,
  upstreamKeyUnreadable,
  upstreamRedirected,
  upstreamSilent,
  upstreamTimedOut,
  upstreamUnreachable,
  type Way,
  waysTo,
} from './upstream.ts';
import { withoutUsage } from './usage.ts';

/** Where requests can be forwarded to. */
export interface UpstreamConfig {
  /** In order of priority: those with a matching rule are asked one after the other. */
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
  /** The upstream whose answer it is: the last that was asked. */
  readonly upstream: string;
  /** How many upstreams were asked. */
  readonly attempts: number;
  /** Whether all has come that a client waits for. The upstream may close a little later. */
  readonly isComplete: () => boolean;
  /** Whether the caller's own `timeout` has ended it. */
  readonly isTimedOut: () => boolean;
}

/** The paths of APIs that can be translated. */
const clientApis: Partial<Record<InferencePath, ClientApi>> = {
  '/chat/completions': 'chat',
  '/messages': 'messages',
};

/** A request as one of the upstreams is to get it. */
interface Prepared {
  readonly chosen: UpstreamModel;
  readonly way: Way;
  /** Undefined for a request that is passed on as it is. */
  readonly translation: Translation | undefined;
}

const betasIn = (headers: Headers): string[] =>
  (headers['anthropic-beta'] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

/**
 * Prepares a request for an upstream: if the model there speaks the client's API, the request is passed on,
 * and is translated otherwise.
 *
 * @throws ServiceError 422 if it cannot be translated without a loss
 */
const prepare = (request: InferenceRequest, chosen: UpstreamModel): Prepared => {
  const { path, received, headers } = request;
  const ways = waysTo(chosen);
  const native = ways.find(({ paths }) => paths.includes(path));
  if (native) return { chosen, way: native, translation: undefined };
  const from = clientApis[path];
  const [way] = ways;
  if (!from || !way) throw pathNotTaken(path, chosen);
  const { timeout: _t, extra_headers: _h, api_version: _v, ...body } = received;
  const betas = betasIn(requestHeaders(headers, request.body.extra_headers));
  const translation = translate(from, way.api, body as JsonObject, chosen.model, { betas });
  return { chosen, way, translation };
};

/**
 * Prepares a request for all upstreams that have a rule for its model and can take it.
 *
 * @throws ServiceError 404 if none has a rule; 422, the first one's, if none can take it
 */
const prepareAll = ({ upstreams }: UpstreamConfig, request: InferenceRequest): Prepared[] => {
  if (upstreams.length === 0) throw noUpstream();
  const candidates = candidatesFor(upstreams, request.body.model);
  if (candidates.length === 0) throw unknownModel(request.body.model);
  const prepared: Prepared[] = [];
  let refusal: ServiceError | undefined;
  for (const chosen of candidates) {
    try {
      prepared.push(prepare(request, chosen));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      refusal ??= error;
    }
  }
  if (prepared.length === 0 && refusal) throw refusal;
  return prepared;
};

/** Anthropic's API takes no request without a version, and has had one since 2023. */
const anthropicVersion = '2023-06-01';

const headersFor = ({ api }: Way, { headers, body }: InferenceRequest): Headers => {
  const passed = requestHeaders(headers, body.extra_headers);
  if (api === 'messages') return { 'anthropic-version': anthropicVersion, ...passed };
  const ofOthers = Object.entries(passed).filter(([name]) => !name.startsWith('anthropic-'));
  const accepted = { accept: 'application/json, application/vnd.amazon.eventstream' };
  return { ...Object.fromEntries(ofOthers), ...(api === 'converse' && accepted) };
};

/** The path of a request below the base URL of its way. */
const pathFor = (
  { way: { api }, chosen: { model }, translation }: Prepared,
  { path, body: { stream } }: InferenceRequest,
): string => {
  if (!translation) return path;
  if (api === 'converse')
    return `/model/${encodeURIComponent(model)}/${stream === true ? 'converse-stream' : 'converse'}`;
  return api === 'chat' ? '/chat/completions' : '/messages';
};

/**
 * Sends a request with the credentials of its upstream. If the upstream refuses the key and the
 * secret holds a newer one, the request is sent once more.
 */
const send = async (
  { keys }: UpstreamConfig,
  request: InferenceRequest,
  prepared: Prepared,
  signal: AbortSignal,
): Promise<IncomingMessage> => {
  const { chosen, way, translation } = prepared;
  const { upstream, model } = chosen;
  const url = toTargetUrl(
    way,
    pathFor(prepared, request),
    translation ? undefined : request.body.api_version,
  );
  const headers = headersFor(way, request);
  const bytes = Buffer.from(
    translation ? JSON.stringify(translation.body) : upstreamBody(request.received, model),
  );
  const { credentials } = upstream;
  const withKey = (key: string) => {
    const authorized = way.api === 'messages' ? { 'x-api-key': key } : { authorization: `Bearer ${key}` };
    return post(url, { ...headers, ...authorized }, bytes, signal);
  };
  if (credentials.kind === 'none') return post(url, headers, bytes, signal);
  if (credentials.kind === 'role') {
    const signing = { service: way.service ?? 'bedrock', region: credentials.region };
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

/** Counts the bytes of an answer and shows them to the recording after they are forwarded. */
const tapped = (
  source: Readable,
  { type, encoding }: { readonly type: string; readonly encoding: string },
  { recording, withholdsUsage }: InferenceRequest,
  ended: () => void,
): Pick<ForwardedAnswer, 'body' | 'bytes'> => {
  let bytes = 0;
  const isStream = /^text\/event-stream\b/i.test(type);
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
  const isReadable = isStream && /^(identity)?$/.test(encoding);
  const body: Readable =
    withholdsUsage && isReadable
      ? pipeline(source, tap, withoutUsage(), () => {})
      : pipeline(source, tap, () => {});
  return { body, bytes: () => bytes };
};

const header = ({ headers }: IncomingMessage, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
};

/** The upstream's own id of a request. */
const idIn = (answer: IncomingMessage): string | undefined =>
  header(answer, 'x-request-id') ?? header(answer, 'request-id') ?? header(answer, 'x-amzn-requestid');

/** Statuses after which the next upstream is asked. All others from 400 on are about the request itself. */
const isPassing = (status: number): boolean => status === 429 || status >= 500;

/** An upstream answered with a status after which the next one is asked. */
class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;

  constructor(status: number) {
    super(`status ${status}`);
    this.status = status;
  }
}

/**
 * Waits for the first byte of an answer, or its end.
 *
 * @throws what the answer breaks off with
 */
const firstByte = (answer: IncomingMessage): Promise<void> =>
  new Promise((resolve, reject) => {
    const settle = (end: () => void) => () => {
      answer.off('readable', readable).off('end', readable).off('error', failed);
      end();
    };
    const readable = settle(resolve);
    const failed = (error: unknown) => settle(() => reject(error))();
    answer.once('readable', readable).once('end', readable).once('error', failed);
  });

/** The time of one forwarded request. */
interface Clock {
  /** Aborted when it is up, for all upstreams together. */
  readonly timeout: AbortSignal;
  readonly ms: number;
  /** Whether it is the caller's own `timeout`. */
  readonly isCallers: boolean;
}

const startClock = ({ body, maxMs }: InferenceRequest): Clock => {
  const requestedMs = Math.ceil((body.timeout ?? Number.POSITIVE_INFINITY) * 1000);
  const ms = Math.max(1, Math.min(maxMs, requestedMs));
  return { timeout: AbortSignal.timeout(ms), ms, isCallers: requestedMs <= maxMs };
};

/** A request on its way through the upstreams. */
class Forwarding {
  readonly #config: UpstreamConfig;
  readonly #request: InferenceRequest;
  readonly #clock: Clock;
  #attempts = 0;
  #complete = false;
  #upstream = '';

  constructor(config: UpstreamConfig, request: InferenceRequest) {
    this.#config = config;
    this.#request = request;
    this.#clock = startClock(request);
    const { timeout } = this.#clock;
    timeout.addEventListener('abort', () => this.#fail(this.#timedOut().message), { once: true });
    request.gone.addEventListener('abort', () => this.#fail('the client has gone'), { once: true });
  }

  /**
   * Asks the upstreams in order, as long as one gives way to the next.
   *
   * @throws ServiceError as {@link forward}
   */
  async run(prepared: readonly Prepared[]): Promise<ForwardedAnswer> {
    /** Whether an upstream may have worked on the request, and asks for money. */
    let hasWorked = false;
    for (const [i, each] of prepared.entries()) {
      const isLast = i === prepared.length - 1;
      const startedAt = performance.now();
      try {
        return await this.#attempt(each, isLast, startedAt);
      } catch (error) {
        const status = error instanceof Refused ? { status: error.status } : undefined;
        const message = error instanceof Error ? error.message : String(error);
        this.#note(startedAt, status ?? { error: message });
        const { timeout } = this.#clock;
        if (timeout.aborted) throw this.#timedOut();
        if (isLast || this.#request.gone.aborted)
          throw hasWorked && neverReached(error)
            ? upstreamUnreachable(this.#upstream, new Error(message))
            : error;
        hasWorked ||= !status && !neverReached(error);
      }
    }
    throw noUpstream();
  }

  async #attempt(prepared: Prepared, isLast: boolean, startedAt: number): Promise<ForwardedAnswer> {
    const { upstream, model } = prepared.chosen;
    const { name, firstByteMs } = upstream;
    const { recording, gone } = this.#request;
    this.#upstream = name;
    this.#attempts += 1;
    recording?.sent(name, model);
    const giveUp = new AbortController();
    const timer = firstByteMs === undefined ? undefined : setTimeout(() => giveUp.abort(), firstByteMs);
    const signals = [this.#clock.timeout, gone, giveUp.signal];
    try {
      const answer = await send(this.#config, this.#request, prepared, AbortSignal.any(signals));
      const { statusCode: status = 502 } = answer;
      if (!isLast && isPassing(status)) {
        answer.destroy();
        throw new Refused(status);
      }
      if (status >= 300 && status < 400) {
        answer.destroy();
        throw upstreamRedirected(name);
      }
      if (!isLast || timer) await firstByte(answer);
      clearTimeout(timer);
      const forwarded = await this.#forwarded(answer, prepared);
      this.#note(startedAt, { status });
      return forwarded;
    } catch (error) {
      if (giveUp.signal.aborted && firstByteMs !== undefined) throw upstreamSilent(name, firstByteMs);
      if (error instanceof ServiceError || error instanceof Refused) throw error;
      throw upstreamUnreachable(name, error);
    } finally {
      clearTimeout(timer);
    }
  }

  async #forwarded(answer: IncomingMessage, { translation }: Prepared): Promise<ForwardedAnswer> {
    const { statusCode: status = 502 } = answer;
    const name = this.#upstream;
    const completed = () => {
      this.#complete = true;
    };
    const translated = translation && (await translateAnswer(answer, translation, name));
    const source = translated?.body ?? answer;
    source.once('end', completed);
    source.once('error', () => this.#fail(`the upstream ${name} broke its answer off`));
    const type = translated?.type ?? header(answer, 'content-type') ?? '';
    const encoding = translated ? '' : (header(answer, 'content-encoding') ?? '');
    this.#request.recording?.answered(status, type, encoding, idIn(answer));
    const { 'content-encoding': _encoding, ...kept } = answer.headers;
    const headers = answerHeaders(translated ? { ...kept, 'content-type': type } : answer.headers);
    return {
      status,
      headers,
      upstream: name,
      attempts: this.#attempts,
      ...tapped(source, { type, encoding }, this.#request, completed),
      isComplete: () => this.#complete,
      isTimedOut: () => this.#clock.isCallers && this.#clock.timeout.aborted && !this.#complete,
    };
  }

  #note(startedAt: number, outcome: Pick<Attempt, 'status' | 'error'>): void {
    const ms = Math.round((performance.now() - startedAt) * 1000) / 1000;
    this.#request.recording?.attempted({ upstream: this.#upstream, ...outcome, ms });
  }

  #fail(reason: string): void {
    if (!this.#complete) this.#request.recording?.failed(reason);
  }

  #timedOut(): ServiceError {
    const { ms, isCallers } = this.#clock;
    return upstreamTimedOut(this.#upstream, ms / 1000, isCallers);
  }
}

/**
 * Forwards a request to the upstreams of its model, one after the other, until one answers. The next one is
 * asked if one answers 429 or from 500 on, cannot be reached, or gives no first byte in time; never after
 * a byte has gone out, nor when the client has gone or its time is up.
 *
 * @returns the last upstream's answer as soon as its headers have come, also if its status is an error
 * @throws ServiceError 404 if no rule matches the model; 422 if no upstream can take the request; 502 if
 * there is no upstream or the last does not answer; 504 if time is up
 */
export const forward = async (
  config: UpstreamConfig,
  request: InferenceRequest,
): Promise<ForwardedAnswer> => {
  try {
    return await new Forwarding(config, request).run(prepareAll(config, request));
  } catch (error) {
    request.recording?.failed(error instanceof Error ? error.message : String(error));
    throw error;
  }
};
