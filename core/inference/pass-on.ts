import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable, Transform } from 'node:stream';
import { type JsonObject, ServiceError } from '../wire/index.ts';
import { upstreamBody } from './body.ts';
import { post } from './connection.ts';
import type { InferencePath } from './endpoints.ts';
import { noKey, noUpstream, redirected, tooLate, unknownModel, unreachable } from './faults.ts';
import { answerHeaders, type Headers, requestHeaders } from './headers.ts';
import type { InferenceBody } from './inference-body.ts';
import type { Recording } from './recording.ts';
import type { SecretKeys } from './secrets.ts';
import { signed } from './sign.ts';
import { type Chosen, chooseUpstream, targetOf, type Upstream } from './upstream.ts';

/** What requests are passed on with. */
export interface Inference {
  /** In the order in which they are asked. */
  readonly upstreams: readonly Upstream[];
  readonly keys: SecretKeys;
}

/** A request to be passed on: checked, and its caller allowed to make it. */
export interface InferenceRequest {
  readonly id: string;
  readonly path: InferencePath;
  /** The body as it came, and as it was understood. */
  readonly text: string;
  readonly body: InferenceBody;
  /** The client's headers, by their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /**
   * The longest that the whole answer may take, in milliseconds; the body's own `timeout` may be
   * less.
   */
  readonly maxMs: number;
  /** Aborted when the client has gone. */
  readonly gone: AbortSignal;
  readonly recording?: Recording | undefined;
}

/** The upstream's answer, on its way. */
export interface PassedOn {
  readonly status: number;
  readonly headers: Headers;
  /**
   * The body's bytes as they come. It is destroyed with an error where the upstream breaks off or
   * time is up.
   */
  readonly body: Readable;
  /** How many bytes of the body have passed so far. */
  readonly bytes: () => number;
  readonly upstream: string;
}

/** Chooses where a request goes. */
const choose = ({ upstreams }: Inference, { body: { model } }: InferenceRequest): Chosen => {
  if (upstreams.length === 0) throw noUpstream();
  const chosen = chooseUpstream(upstreams, model);
  if (!chosen) throw unknownModel(model);
  return chosen;
};

/**
 * Sends a request with the credentials of its upstream; once more, where these were refused and
 * there are newer ones.
 */
const send = async (
  { keys }: Inference,
  { path, text, body, headers: client }: InferenceRequest,
  { upstream, model }: Chosen,
  signal: AbortSignal,
): Promise<IncomingMessage> => {
  const url = targetOf(upstream, path, body.api_version);
  const headers = requestHeaders(client, body.extra_headers as JsonObject | undefined);
  const bytes = Buffer.from(upstreamBody(text, model));
  const { credentials } = upstream;
  const withKey = (key: string) => post(url, { ...headers, authorization: `Bearer ${key}` }, bytes, signal);
  if (credentials.kind === 'none') return post(url, headers, bytes, signal);
  if (credentials.kind === 'role')
    return post(url, await signed(url, headers, bytes, credentials.region), bytes, signal);
  if (credentials.kind === 'key') return withKey(credentials.key);

  const noKeyOf = (error: unknown) => {
    throw noKey(upstream.name, error);
  };
  const key = await keys.key(credentials.secret, signal).catch(noKeyOf);
  const answer = await withKey(key);
  if (answer.statusCode !== 401) return answer;
  // What its key may not do was not done, so that it may be sent again: the one case.
  const renewed = await keys.renewed(credentials.secret, key, signal).catch(() => undefined);
  if (renewed === undefined) return answer;
  answer.destroy();
  return withKey(renewed);
};

/** Lets the recording see what passes, after it has gone on its way, and counts it. */
const tapped = (
  answer: IncomingMessage,
  recording: Recording | undefined,
): Pick<PassedOn, 'body' | 'bytes'> => {
  let bytes = 0;
  const tap = new Transform({
    transform: (chunk: Buffer, _encoding, goOn) => {
      bytes += chunk.length;
      goOn(null, chunk);
      recording?.passed(chunk);
    },
  });
  // A failure of the answer destroys the tap, whose reader then sees it; there is no one else to
  // tell.
  return { body: pipeline(answer, tap, () => {}), bytes: () => bytes };
};

const header = ({ headers }: IncomingMessage, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
};

/** Passes a request on to its upstream. */
const passTo = async (chosen: Chosen, inference: Inference, request: InferenceRequest): Promise<PassedOn> => {
  const { recording, gone, body } = request;
  const { name } = chosen.upstream;
  recording?.sent(name, chosen.model);
  const wanted = Math.ceil((body.timeout ?? Number.POSITIVE_INFINITY) * 1000);
  const ms = Math.max(1, Math.min(request.maxMs, wanted));
  const late = AbortSignal.timeout(ms);
  let complete = false;
  const runOut = () => {
    if (!complete) recording?.failed(tooLate(name, ms / 1000).message);
  };
  late.addEventListener('abort', runOut, { once: true });
  gone.addEventListener('abort', () => recording?.failed('the client has gone'), { once: true });
  try {
    const answer = await send(inference, request, chosen, AbortSignal.any([late, gone]));
    const { statusCode: status = 502 } = answer;
    if (status >= 300 && status < 400) {
      answer.destroy();
      throw redirected(name);
    }
    const type = header(answer, 'content-type') ?? '';
    const encoding = header(answer, 'content-encoding') ?? '';
    recording?.answered(status, type, encoding, header(answer, 'x-request-id'));
    answer.once('end', () => {
      complete = true;
    });
    answer.once('error', () => recording?.failed(`the upstream ${name} broke its answer off`));
    const headers = answerHeaders(answer.headers, request.id);
    return { status, headers, ...tapped(answer, recording), upstream: name };
  } catch (error) {
    if (late.aborted) throw tooLate(name, ms / 1000);
    throw error instanceof ServiceError ? error : unreachable(name, error);
  }
};

/**
 * Passes a request on to the upstream of its model.
 *
 * @returns the upstream's answer, errors of its own included, as soon as its head is there
 * @throws ServiceError 404 for a model that goes nowhere; 502 where there is no upstream, or none
 * that answers; 504 when time is up
 */
export const passOn = async (inference: Inference, request: InferenceRequest): Promise<PassedOn> => {
  try {
    return await passTo(choose(inference, request), inference, request);
  } catch (error) {
    request.recording?.failed(error instanceof Error ? error.message : String(error));
    throw error;
  }
};
