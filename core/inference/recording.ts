import {
  formatTime,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Micros,
  newId,
  type ProjectId,
} from '../wire/index.ts';
import { type Assembly, StreamAssembly, WholeAssembly } from './assembly.ts';
import { endpoints, type InferencePath } from './endpoints.ts';
import type { InferenceBody } from './inference-body.ts';
import { usageOf } from './usage.ts';

/** A request that is to become a call. */
export interface Recorded {
  readonly projectId: ProjectId;
  readonly path: InferencePath;
  readonly body: InferenceBody;
  /** The service's id of the request. */
  readonly requestId: string;
}

const maxMessage = 2000;

/** What an error in an answer says of itself. */
const messageOf = (error: JsonValue): string => {
  if (typeof error === 'string') return error.slice(0, maxMessage);
  if (!isJsonObject(error)) return 'an error without a message';
  const { message, error: inner } = error;
  if (inner !== undefined && inner !== null) return messageOf(inner);
  return typeof message === 'string'
    ? message.slice(0, maxMessage)
    : JSON.stringify(error).slice(0, maxMessage);
};

/** Follows one request from its arrival to its end, and makes a call of it. */
export class Recording {
  readonly #recorded: Recorded;
  readonly #startedAt: Micros = Date.now() * 1000;
  readonly #begun = performance.now();
  readonly #facts: JsonObject = {};
  readonly #attributes: JsonObject = {};
  #assembly: Assembly | undefined;
  #status: number | undefined;
  #exception: string | undefined;
  #bytes = 0;

  constructor(recorded: Recorded) {
    this.#recorded = recorded;
  }

  /** Notes where the request goes, and what its model is called there. */
  sent(upstream: string, model: string): void {
    Object.assign(this.#attributes, { upstream, upstream_model: model });
  }

  /**
   * Notes the answer's head.
   *
   * @param type its media type
   * @param encoding its content encoding: what is compressed goes through as it is and is not read
   * @param upstreamId the upstream's own id of the request
   */
  answered(status: number, type: string, encoding: string, upstreamId: string | undefined): void {
    this.#status = status;
    if (upstreamId !== undefined) this.#facts.upstream_request_id = upstreamId;
    if (encoding !== '' && encoding !== 'identity') this.#facts.unread = encoding;
    else this.#assembly = /^text\/event-stream\b/i.test(type) ? new StreamAssembly() : new WholeAssembly();
  }

  /** Takes the next bytes of the answer's body. */
  passed(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    this.#facts.first_byte_ms ??= this.#elapsedMs();
    this.#assembly?.add(bytes);
    if (this.#assembly?.spoken) this.#facts.first_token_ms ??= this.#elapsedMs();
  }

  /** Notes why there is no whole answer. The first reason counts. */
  failed(reason: string): void {
    this.#exception ??= reason.slice(0, maxMessage);
  }

  /**
   * The call as a batch for `/call/upsert_batch` would have it: its start and its end. To be asked
   * once, when the answer is over.
   *
   */
  batch(): JsonObject {
    const { projectId: project_id, path, body, requestId } = this.#recorded;
    const id = newId();
    // They may hold what opens another door.
    const { extra_headers: _secret, ...inputs } = body as JsonObject;
    const start = {
      project_id,
      id,
      trace_id: newId(),
      op_name: endpoints[path],
      started_at: formatTime(this.#startedAt),
      attributes: { inference: { endpoint: path, request_id: requestId, ...this.#attributes } },
      inputs,
    };
    const ended_at = formatTime(this.#startedAt + Math.round((performance.now() - this.#begun) * 1000));
    const end = { project_id, id, ended_at, ...this.#outcome() };
    return {
      batch: [
        { mode: 'start', req: { start } },
        { mode: 'end', req: { end } },
      ],
    };
  }

  #outcome(): JsonObject {
    const { output, truncated, error } = this.#assembly?.end() ?? {
      output: null,
      truncated: false,
      error: undefined,
    };
    const status = this.#status;
    const refused = status !== undefined && status >= 400 ? `${status}: ${messageOf(output)}` : undefined;
    const inStream = error === undefined ? undefined : messageOf(error);
    const facts = {
      ...(status !== undefined && { status }),
      ...this.#facts,
      bytes: this.#bytes,
      ...(truncated && { truncated }),
    };
    return {
      output,
      exception: refused ?? inStream ?? this.#exception ?? null,
      summary: {
        ...(refused === undefined && status !== undefined && { usage: this.#usage(output) }),
        inference: facts,
      },
    };
  }

  #usage(output: JsonValue): JsonObject {
    const { upstream_model: sent } = this.#attributes;
    return usageOf(output, typeof sent === 'string' ? sent : this.#recorded.body.model);
  }

  #elapsedMs(): number {
    return Math.round((performance.now() - this.#begun) * 1000) / 1000;
  }
}
