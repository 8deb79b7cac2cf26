import type { Answer, ApiPath, Request } from './contract.ts';
import { apiUrl, connectionFailure, readChunks, splitLines, toFailure } from './http.ts';
import type { ModelAnswer } from './inference.ts';
import { noteRequest } from './quiet.ts';
import { isAwake, noteUse, type Wakeable, wakingBody } from './wake.ts';

type RecordOf<Path extends ApiPath> = Answer<Path> extends (infer Record)[] ? Record : never;

/** The documented API, asked with one key. */
export interface Client {
  /** @throws RequestFailed in words for people; DOMException AbortError */
  readonly ask: <Path extends ApiPath>(
    path: Path,
    body: Request<Path>,
    signal?: AbortSignal,
  ) => Promise<Answer<Path>>;
  /** Streams records as JSON Lines, in batches as they come. Throws as `ask` does. */
  readonly stream: <Path extends ApiPath>(
    path: Path,
    body: Request<Path>,
    signal?: AbortSignal,
  ) => AsyncGenerator<RecordOf<Path>[]>;
  /** Does what `stream` does, and keeps the text of each record. */
  readonly streamWithText: <Path extends ApiPath>(
    path: Path,
    body: Request<Path>,
    signal?: AbortSignal,
  ) => AsyncGenerator<{ readonly text: string; readonly value: RecordOf<Path> }[]>;
  /** The bytes of an answer in a media type, whole. Throws as `ask` does. */
  readonly download: <Path extends ApiPath>(
    path: Path,
    body: Request<Path>,
    accept: string,
    signal?: AbortSignal,
  ) => Promise<Blob>;
  /**
   * Sends a chat to a model, and has it recorded in a project. What does so loads with the first.
   * Throws as `ask` does.
   */
  readonly askModel: (project: string, body: object, signal: AbortSignal) => Promise<ModelAnswer>;
  /** Has a function start that was not used of late, so that the next request need not wait. */
  readonly wake: (path: Wakeable, project: string) => void;
}

/** UTF-8 as Base64. */
const base64 = (text: string): string =>
  btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));

interface ClientOptions {
  /** Is told when the service does not accept the key. @default - nobody is */
  readonly onRefused?: () => void;
}

/**
 * Makes a client.
 *
 * @param key the key, which goes into the `Authorization` header and nowhere else
 */
export const createClient = (key: string, { onRefused = () => {} }: ClientOptions = {}): Client => {
  const parsed = (line: string) => JSON.parse(line) as never;
  const send = async (path: ApiPath, body: unknown, accept: string, signal?: AbortSignal) => {
    noteUse(path);
    const request = fetch(new URL(`.${path}`, apiUrl()), {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        accept,
        // Inference takes the scheme of OpenAI's clients.
        authorization: path.startsWith('/inference/') ? `Bearer ${key}` : `Basic ${base64(`api:${key}`)}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
      credentials: 'omit',
      cache: 'no-store',
    });
    const response = await noteRequest(request).catch((error: unknown) => {
      throw connectionFailure(error, false);
    });
    if (response.ok) return response;
    if (response.status === 401) onRefused();
    throw await toFailure(response);
  };
  /** Reads lines of JSON, and makes something of each. */
  async function* streamLines<Line>(
    request: Parameters<Client['stream']>,
    readLine: (line: string) => Line,
  ): AsyncGenerator<Line[]> {
    const [path, body, signal] = request;
    const response = await send(path, body, 'application/jsonl', signal);
    if (!response.body) return;
    try {
      for await (const lines of splitLines(readChunks(response.body))) yield lines.map(readLine);
    } catch (error) {
      throw connectionFailure(error, true);
    }
  }
  return {
    ask: async (path, body, signal) => {
      const response = await send(path, body, 'application/json', signal);
      const answer: unknown = await response.json().catch((error: unknown) => {
        throw connectionFailure(error, true);
      });
      return answer as never;
    },
    stream: (...request) => streamLines(request, parsed),
    streamWithText: (...request) => streamLines(request, (text) => ({ text, value: parsed(text) })),
    download: async (path, body, accept, signal) => {
      const response = await send(path, body, accept, signal);
      return response.blob().catch((error: unknown) => {
        throw connectionFailure(error, true);
      });
    },
    askModel: async (project, body, signal) => {
      const { askModel } = await import('./inference.ts');
      return askModel({ key, project, body, signal, onRefused });
    },
    wake: (path, project) => {
      if (isAwake(path)) return;
      // Whatever goes wrong here, the request that is meant will tell.
      send(path, wakingBody(path, project), 'application/json').then(
        (response) => response.text(),
        () => {},
      );
    },
  };
};
