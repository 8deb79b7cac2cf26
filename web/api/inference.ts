import { createParser } from 'eventsource-parser';
import type { CallSource } from '../../api/shared/header-fields.ts';
import { promptHeader, recordingHeader, requestIdHeader, sourceHeader } from '../../api/shared/headers.ts';
import { jsonIn } from '../data/values.ts';
import {
  apiUrl,
  connectionFailure,
  RequestFailed,
  readChunks,
  readRetryAfter,
  sentence,
  toFailure,
} from './http.ts';

/** An answer of a model that has begun. */
export interface ModelAnswer {
  /** The service's id of the request, which the recorded call has, too. */
  readonly requestId: string | undefined;
  /** When the service began to answer by its own clock, in ms since 1970. */
  readonly serverTime: number;
  /** The chunks of the answer as they come; a whole answer is one chunk. */
  readonly chunks: AsyncIterable<unknown>;
}

/** What the recorded call of a request says of it. */
export interface Asking {
  readonly source: CallSource;
  /** The prompt that the request was made of. @default - none is named */
  readonly prompt?: { readonly name: string; readonly version: number };
  /** What the call lies below: the trace, and the span of its parent's call. @default - nothing */
  readonly parent?: { readonly trace: string; readonly span: string };
}

/** A request to a model that is recorded as a call of a project. */
interface ModelRequest {
  /** The value of the header. */
  readonly authorization: string;
  readonly project: string;
  readonly body: object;
  readonly asking: Asking;
  readonly signal: AbortSignal | undefined;
  /** Is told when the service does not accept the key. */
  readonly onRefused: () => void;
}

async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  const decoder = new TextDecoder();
  let waiting: unknown[] = [];
  const parser = createParser({ onEvent: ({ data }) => waiting.push(jsonIn(data)) });
  try {
    for await (const bytes of readChunks(body)) {
      parser.feed(decoder.decode(bytes, { stream: true }));
      const ready = waiting;
      waiting = [];
      yield* ready;
    }
  } catch (error) {
    throw connectionFailure(error, true);
  }
}

async function* whole(response: Response): AsyncGenerator<unknown> {
  yield await response.json().catch((error: unknown) => {
    throw connectionFailure(error, true);
  });
}

interface AnsweredError {
  readonly words: string | undefined;
  /** Whether it is the service's, which has `detail` too. */
  readonly isOurs: boolean;
  readonly isLimit: boolean;
}

/** What an error says in the shape of OpenAI. */
const readError = (body: unknown): AnsweredError => {
  const { error, detail } = (body ?? {}) as {
    error?: { message?: unknown; code?: unknown } | string | null;
    detail?: unknown;
  };
  const { message, code } = typeof error === 'object' ? (error ?? {}) : { message: error, code: undefined };
  const isOurs = Array.isArray(detail);
  return {
    words: typeof message === 'string' ? message : undefined,
    isOurs,
    isLimit: isOurs && code === 'spending_limit',
  };
};

/** Reads an error: the provider's own, or the service's. */
const failed = async (response: Response, onRefused: () => void): Promise<Error> => {
  const { status } = response;
  const copy = response.clone();
  const { words, isOurs, isLimit } = readError(await copy.json().catch(() => undefined));
  const again = { afterMs: readRetryAfter(response.headers), isLimit };
  const requestId = response.headers.get(requestIdHeader) ?? undefined;
  if (words !== undefined && !isOurs)
    return new RequestFailed(`The model answered ${status}: ${words}`, status, requestId, again);
  // A provider's 401 is about the service's key for it. This one is about ours.
  if (status === 401) {
    onRefused();
    return toFailure(response);
  }
  return words === undefined
    ? toFailure(response)
    : new RequestFailed(sentence(words), status, requestId, again);
};

/**
 * Sends a chat to a model through the service, and has it recorded.
 *
 * @throws RequestFailed in words for people; DOMException AbortError
 */
export const askModel = async (request: ModelRequest): Promise<ModelAnswer> => {
  const { authorization, project, body, asking, signal, onRefused } = request;
  const { source, prompt, parent } = asking;
  const response = await fetch(new URL('./inference/v1/chat/completions', apiUrl()), {
    method: 'POST',
    headers: {
      authorization,
      'content-type': 'application/json',
      [recordingHeader]: project,
      [sourceHeader]: source,
      ...(prompt && { [promptHeader]: `${encodeURIComponent(prompt.name)}:${prompt.version}` }),
      ...(parent && { traceparent: `00-${parent.trace}-${parent.span}-01` }),
    },
    body: JSON.stringify(body),
    ...(signal && { signal }),
    credentials: 'omit',
    cache: 'no-store',
  }).catch((error: unknown) => {
    throw connectionFailure(error, false);
  });
  if (!response.ok) throw await failed(response, onRefused);
  const streams = response.headers.get('content-type')?.startsWith('text/event-stream');
  const date = Date.parse(response.headers.get('date') ?? '');
  return {
    requestId: response.headers.get(requestIdHeader) ?? undefined,
    serverTime: Number.isNaN(date) ? Date.now() : date,
    chunks: streams && response.body ? events(response.body) : whole(response),
  };
};
