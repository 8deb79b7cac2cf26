import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Micros,
  newId,
  type ProjectId,
} from '../../../foundations/wire/index.ts';
import type { CallEnd, CallReport } from '../../records/calls/index.ts';
import { parseCounts } from '../otel/conventions/usage.ts';
import { endReport, startReport } from '../report.ts';
import { type Assembly, BodyAssembly, StreamAssembly } from './assembly.ts';
import { endpoints, type InferenceBody, type InferencePath } from './request.ts';

/**
 * The usage of an answer as a call's `summary.usage` holds it: tokens by the model that the answer
 * names. The Responses API counts input and output tokens, the others prompt and completion. A
 * stream reports none unless the request set `stream_options`; then only the request is counted.
 *
 * @param answer the answer's JSON
 * @param requested the requested model, for an answer that names none
 */
export const toUsage = (answer: JsonValue, requested: string): JsonObject => {
  const fields = isJsonObject(answer) ? answer : {};
  const model = typeof fields.model === 'string' && fields.model !== '' ? fields.model : requested;
  if (!isJsonObject(fields.usage)) return { [model]: { requests: 1 } };
  const counts = parseCounts(fields.usage, model) ?? { model };
  // No answer takes no tokens: where Messages is translated, this is what nobody counted.
  if (counts.input === 0 && counts.output === 0) return { [model]: { requests: 1 } };
  const { input = 0, output = 0, total, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = counts;
  return {
    [model]: {
      requests: 1,
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: total ?? input + output,
      ...(cacheRead > 0 && { prompt_tokens_details: { cached_tokens: cacheRead } }),
      ...(cacheWrite > 0 && { cache_creation_input_tokens: cacheWrite }),
      ...(reasoning > 0 && { completion_tokens_details: { reasoning_tokens: reasoning } }),
    },
  };
};

/** A request whose answer is followed. */
export interface RecordedRequest {
  readonly path: InferencePath;
  readonly body: InferenceBody;
  /** The service's id of the request. */
  readonly requestId: string;
  /** What else is known of the call. */
  readonly call?: {
    /** @default - a new id */
    readonly id?: string;
    /** @default - the name of the endpoint's operation */
    readonly opName?: string;
    readonly displayName?: string;
    readonly attributes?: JsonObject;
    /** Where it lies. @default - it is the root of a trace of its own */
    readonly place?: { readonly traceId: string; readonly parentId: string | null } | undefined;
    /** A root in a thread is a turn of it. @default - it is in none */
    readonly threadId?: string | undefined;
  };
}

/** What came of asking one upstream: its status, or why it gave none. */
export interface Attempt {
  readonly upstream: string;
  readonly status?: number;
  readonly error?: string;
  /** Until the answer began or was given up, in milliseconds. */
  readonly ms: number;
}

type Outcome = Pick<CallEnd, 'output' | 'exception' | 'summary'>;

const maxMessage = 2000;

/** The message of an error in an answer. */
const toErrorMessage = (error: JsonValue): string => {
  if (typeof error === 'string') return error.slice(0, maxMessage);
  if (!isJsonObject(error)) return 'an error without a message';
  const { message, error: inner } = error;
  if (isJsonObject(inner) || (typeof inner === 'string' && inner !== '')) return toErrorMessage(inner);
  return typeof message === 'string'
    ? message.slice(0, maxMessage)
    : JSON.stringify(error).slice(0, maxMessage);
};

/** Observes one request from arrival to end and makes a call of it. */
export class Recording {
  readonly #request: RecordedRequest;
  readonly #startedAt: Micros = Date.now() * 1000;
  readonly #startedMs = performance.now();
  readonly #facts: JsonObject = {};
  readonly #attributes: JsonObject = {};
  readonly #attempts: JsonObject[] = [];
  #assembly: Assembly | undefined;
  #status: number | undefined;
  #exception: string | undefined;
  #bytes = 0;
  #isFromCache = false;
  #isTruncated = false;
  #worked: Outcome | undefined;

  constructor(request: RecordedRequest) {
    this.#request = request;
  }

  /** Notes the upstream and its name of the model. */
  sent(upstream: string, model: string): void {
    Object.assign(this.#attributes, { upstream, upstream_model: model });
  }

  /** Notes what came of asking an upstream. */
  attempted(attempt: Attempt): void {
    this.#attempts.push({ ...attempt });
  }

  /**
   * Notes status and headers of the answer.
   *
   * @param type its media type
   * @param encoding its content encoding; a compressed answer is forwarded but not read
   * @param upstreamId the upstream's own id of the request
   */
  answered(status: number, type: string, encoding: string, upstreamId: string | undefined): void {
    this.#status = status;
    if (upstreamId !== undefined) this.#facts.upstream_request_id = upstreamId;
    if (encoding !== '' && encoding !== 'identity') this.#facts.unread = encoding;
    else this.#assembly = /^text\/event-stream\b/i.test(type) ? new StreamAssembly() : new BodyAssembly();
  }

  /** Notes whether the cache of answers had one, which costs nothing then. */
  looked(cache: 'hit' | 'miss'): void {
    this.#isFromCache = cache === 'hit';
    this.#facts.cache = cache;
  }

  /** Takes the next bytes of the answer's body. */
  passed(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    this.#facts.first_byte_ms ??= this.#elapsedMs();
    this.#assembly?.add(bytes);
    if (this.#assembly?.hasOutput) this.#facts.first_token_ms ??= this.#elapsedMs();
  }

  /** Notes why the answer is incomplete. The first reason counts. */
  failed(reason: string): void {
    this.#exception ??= reason.slice(0, maxMessage);
  }

  /**
   * The status of the answer, and its usage by model, of which tokens are known only if the upstream
   * said them. Read it after the answer has ended.
   *
   * @returns undefined for what never came
   */
  get answer(): { readonly status: number | undefined; readonly usage: JsonObject | undefined } {
    const { usage } = this.#outcome.summary;
    return { status: this.#status, usage: usage !== undefined && isJsonObject(usage) ? usage : undefined };
  }

  /** Why there is no whole answer, or what the upstream refused; null if nothing is wrong. */
  get exception(): string | null {
    return this.#outcome.exception;
  }

  /** The answer in the form that it has without `stream`; undefined if it did not come as it should. */
  get whole(): JsonObject | undefined {
    const { output = null, exception } = this.#outcome;
    const isGood = this.#status === 200 && exception === null && !this.#isTruncated;
    return isGood && isJsonObject(output) ? output : undefined;
  }

  /** The reports of a call: its start and its end. Read them after the answer has ended. */
  reports(projectId: ProjectId): CallReport[] {
    const { path, body, requestId, call: recordedCall } = this.#request;
    const call = { projectId, id: recordedCall?.id ?? newId() };
    const { threadId = null, place = { traceId: newId(), parentId: null } } = recordedCall ?? {};
    // They may hold credentials for other services.
    const { extra_headers: _secret, ...inputs } = body as JsonObject;
    return [
      startReport({
        ...call,
        opName: recordedCall?.opName ?? endpoints[path],
        displayName: recordedCall?.displayName ?? null,
        ...place,
        threadId,
        turnId: threadId !== null && place.parentId === null ? call.id : null,
        startedAt: this.#startedAt,
        attributes: {
          kind: path === '/embeddings' ? 'embedding' : 'model',
          ...recordedCall?.attributes,
          inference: { endpoint: path, request_id: requestId, ...this.#attributes },
        },
        inputs,
      }),
      endReport({
        ...call,
        endedAt: this.#startedAt + Math.round((performance.now() - this.#startedMs) * 1000),
        ...this.#outcome,
      }),
    ];
  }

  /** Worked out once: the end of an assembly is its end. */
  get #outcome(): Outcome {
    this.#worked ??= this.#workOut();
    return this.#worked;
  }

  #workOut(): Outcome {
    const { output = null, truncated = false, error, isBroken } = this.#assembly?.end() ?? {};
    this.#isTruncated = truncated;
    const status = this.#status;
    const refused =
      status !== undefined && status >= 400 ? `${status}: ${toErrorMessage(output)}` : undefined;
    const answered = error === undefined ? undefined : toErrorMessage(error);
    const broken = isBroken ? 'the upstream answered with what is not JSON' : null;
    return {
      output,
      exception: refused ?? answered ?? this.#exception ?? broken,
      summary: {
        ...(refused === undefined && status !== undefined && { usage: this.#usage(output) }),
        inference: {
          ...(status !== undefined && { status }),
          ...this.#facts,
          ...(this.#attempts.length > 0 && { attempts: this.#attempts }),
          bytes: this.#bytes,
          ...(truncated && { truncated }),
        },
      },
    };
  }

  #usage(output: JsonValue): JsonObject {
    const { upstream_model: sent } = this.#attributes;
    const answer = this.#isFromCache && isJsonObject(output) ? { ...output, usage: null } : output;
    return toUsage(answer, typeof sent === 'string' ? sent : this.#request.body.model);
  }

  #elapsedMs(): number {
    return Math.round((performance.now() - this.#startedMs) * 1000) / 1000;
  }
}
