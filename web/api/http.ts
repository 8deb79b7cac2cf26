import { requestIdHeader } from '../../api/shared/headers.ts';

/** What a request failed with, in words for the person in front of the page. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed';
  /** The HTTP status; undefined if there was no answer, or if it broke off. */
  readonly status: number | undefined;
  /** The id under which the service's log has the request. */
  readonly requestId: string | undefined;

  constructor(message: string, status?: number, requestId?: string) {
    super(message);
    this.status = status;
    this.requestId = requestId;
  }
}

/** The base URL of the API: the page lies right below it, whatever its own path is. */
export const apiUrl = (): URL => new URL('..', document.baseURI);

interface ErrorBody {
  readonly detail?: readonly { readonly loc?: readonly string[]; readonly msg?: string }[];
}

/** The problems that the service names, one after the other. */
const problemsOf = (body: unknown): string => {
  const { detail } = (body ?? {}) as ErrorBody;
  if (!Array.isArray(detail)) return '';
  return detail
    .map(({ loc = [], msg = '' }: { loc?: readonly string[]; msg?: string }) => {
      const place = loc.filter((part) => part !== 'body').join('.');
      return place ? `${place}: ${msg}` : msg;
    })
    .join('; ');
};

const texts: Readonly<Record<number, string>> = {
  401: 'This key is not accepted: it is unknown, revoked or expired.',
  403: 'This key may not read this project. Sign in with a key that has a grant for it.',
  413: 'The request is too large.',
  429: 'Too many requests at once. Wait a moment, then try again.',
  503: 'The service is busy. Wait a moment, then try again.',
};

/** Reads an answer that is an error. */
export const failureOf = async (response: Response): Promise<RequestFailed> => {
  const problems = problemsOf(await response.json().catch(() => undefined));
  const text =
    texts[response.status] ?? (problems || `The service answered with status ${response.status}. Try again.`);
  return new RequestFailed(text, response.status, response.headers.get(requestIdHeader) ?? undefined);
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
export const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Cuts a text into its lines as it arrives, without empty ones.
 *
 * @returns the lines that each chunk completes, at least one
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
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
export async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}
