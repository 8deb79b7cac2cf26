import { createParser } from 'eventsource-parser';
import { recordingHeader, requestIdHeader, sourceHeader } from '../../api/shared/headers.ts';
import { jsonIn } from '../data/values.ts';
import { apiUrl, connectionFailure, RequestFailed, readChunks, sentence, toFailure } from './http.ts';

/** An answer of a model that has begun. */
export interface ModelAnswer {
  /** The service's id of the request, which the recorded call has, too. */
  readonly requestId: string | undefined;
  /** When the service began to answer by its own clock, in ms since 1970. */
  readonly serverTime: number;
  /** The chunks of the answer as they come; a whole answer is one chunk. */
  readonly chunks: AsyncIterable<unknown>;
}

/** A request to a model that is recorded as a call of a project. */
interface ModelRequest {
  /** The value of the header. */
  readonly authorization: string;
  readonly project: string;
  readonly body: object;
  readonly signal: AbortSignal;
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

/** What an error says in the shape of OpenAI, and whether it is the service's, which has `detail` too. */
const readError = (body: unknown): { readonly words: string | undefined; readonly isOurs: boolean } => {
  const { error, detail } = (body ?? {}) as { error?: { message?: unknown } | string; detail?: unknown };
  const message = typeof error === 'object' ? error?.message : error;
  return { words: typeof message === 'string' ? message : undefined, isOurs: Array.isArray(detail) };
};

/** Reads an error: the provider's own, or the service's. */
const failed = async (response: Response, onRefused: () => void): Promise<Error> => {
  const { status } = response;
  const copy = response.clone();
  const { words, isOurs } = readError(await copy.json().catch(() => undefined));
  const requestId = response.headers.get(requestIdHeader) ?? undefined;
  if (words !== undefined && !isOurs)
    return new RequestFailed(`The model answered ${status}: ${words}`, status, requestId);
  // A provider's 401 is about the service's key for it. This one is about ours.
  if (status === 401) {
    onRefused();
    return toFailure(response);
  }
  return words === undefined ? toFailure(response) : new RequestFailed(sentence(words), status, requestId);
};

/**
 * Sends a chat to a model through the service, and has it recorded.
 *
 * @throws RequestFailed in words for people; DOMException AbortError
 */
export const askModel = async (request: ModelRequest): Promise<ModelAnswer> => {
  const { authorization, project, body, signal, onRefused } = request;
  const response = await fetch(new URL('./inference/v1/chat/completions', apiUrl()), {
    method: 'POST',
    headers: {
      authorization,
      'content-type': 'application/json',
      [recordingHeader]: project,
      [sourceHeader]: 'playground',
    },
    body: JSON.stringify(body),
    signal,
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
