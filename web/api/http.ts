import { requestIdHeader } from '../../api/shared/headers.ts';

/** What the service said of trying again. */
interface Again {
  /** How long to wait, in ms, from `Retry-After`. @default - nobody said */
  readonly afterMs?: number | undefined;
  /** Whether a spending limit leaves too little for the request. @default false */
  readonly isLimit?: boolean;
}

/** How long an answer asks to wait, in ms; undefined if it does not say. */
export const readRetryAfter = (headers: Headers): number | undefined => {
  const ms = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (ms >= 0) return ms;
  const text = headers.get('retry-after') ?? '';
  const seconds = text.trim() === '' ? Number.NaN : Number(text);
  if (seconds >= 0) return seconds * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
};

/** What a request failed with, in words for the person in front of the page. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed';
  /** The HTTP status; undefined if there was no answer, or if it broke off. */
  readonly status: number | undefined;
  /** The id under which the service's log has the request. */
  readonly requestId: string | undefined;
  readonly again: Again;

  constructor(message: string, status?: number, requestId?: string, again: Again = {}) {
    super(message);
    this.status = status;
    this.requestId = requestId;
    this.again = again;
  }
}

/** The base URL of the API: the page lies right below it, whatever its own path is. */
export const apiUrl = (): URL => new URL('..', document.baseURI);

interface Problem {
  readonly loc?: readonly string[];
  readonly msg?: string;
}

interface ErrorBody {
  readonly detail?: readonly Problem[];
}

const ended = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** A message of the service as a sentence: it writes them to follow a place. */
export const sentence = (text: string): string => ended(text.charAt(0).toUpperCase() + text.slice(1));

/** The problems that the service names, one after the other, with their places in the request's body. */
const describeProblems = (body: unknown, withPlaces: boolean): string => {
  const { detail } = (body ?? {}) as ErrorBody;
  if (!Array.isArray(detail)) return '';
  const problems = detail.map(({ loc: [part, ...rest] = [], msg = '' }: Problem) => {
    const place = withPlaces && part === 'body' ? rest.join('.') : '';
    return place ? `${place}: ${ended(msg)}` : sentence(msg);
  });
  return problems.join(' ');
};

/** What to say if the service names no problem. */
const texts: Readonly<Record<number, string>> = {
  401: 'This key is not accepted: it is unknown, revoked or expired.',
  403: 'This key may not do this.',
  413: 'The request is too large.',
  429: 'Too many requests at once. Wait a moment, then try again.',
  503: 'The service is busy. Wait a moment, then try again.',
};

/** Reads an answer that is an error. */
export const toFailure = async (response: Response): Promise<RequestFailed> => {
  const { status } = response;
  // Which field names the project is nothing to a person whose key may not read it.
  const problems = describeProblems(await response.json().catch(() => undefined), status !== 403);
  // The service's 401 tells programs how to send a key, and the page has sent one.
  const text =
    (status === 401 ? undefined : problems) ||
    (texts[status] ?? `The service answered with status ${status}. Try again.`);
  const requestId = response.headers.get(requestIdHeader) ?? undefined;
  return new RequestFailed(text, status, requestId, { afterMs: readRetryAfter(response.headers) });
};

/** What a failed fetch means. An abort stays what it is. */
export const connectionFailure = (error: unknown, begun: boolean): unknown => {
  if (error instanceof RequestFailed || (error instanceof DOMException && error.name === 'AbortError'))
    return error;
  return new RequestFailed(
    begun
      ? 'The answer was cut off. What arrived is shown; try again for the rest.'
      : 'Cannot reach the service. Check your connection, then try again.',
  );
};

/** The words for any error. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Cuts a text into its lines as it arrives, without empty ones.
 *
 * @returns the lines that each chunk completes, at least one
 */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder();
  // A line may come in many chunks: they are joined once, at its end.
  let pending: string[] = [];
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    const end = text.lastIndexOf('\n');
    if (end < 0) {
      pending.push(text);
      continue;
    }
    const complete = [...pending, text.slice(0, end)].join('');
    pending = [text.slice(end + 1)];
    const lines = complete.split('\n').filter((line) => line !== '');
    if (lines.length > 0) yield lines;
  }
  const rest = pending.join('') + decoder.decode();
  if (rest.trim() !== '') yield [rest];
}

/** The chunks of an answer. Not every browser can iterate a stream itself. */
export async function* readChunks(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}
