import type { Answer, ApiPath, Request } from './contract.ts';
import { apiUrl, connectionFailure, RequestFailed, readChunks, splitLines, toFailure } from './http.ts';
import type { Asking, ModelAnswer } from './inference.ts';
import { noteRequest } from './quiet.ts';
import { isAwake, noteUse, type Wakeable, wakingBody } from './wake.ts';

type RecordOf<Path extends ApiPath> = Answer<Path> extends (infer Record)[] ? Record : never;

/** What requests are sent with. */
export interface Credentials {
  /**
   * The value of the header `Authorization` for an operation. Throws RequestFailed, with the status 401 if
   * there is nothing left to send.
   */
  readonly authorize: (path: string) => string | Promise<string>;
  /**
   * Gets something else to send after a 401, if it can, and says whether it has. Throws as `authorize` does.
   *
   * @default - it cannot
   */
  readonly renew?: (refused: string) => Promise<boolean>;
}

/** The documented API, asked in one name. */
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
  readonly askModel: (
    project: string,
    body: object,
    asking: Asking,
    signal?: AbortSignal,
  ) => Promise<ModelAnswer>;
  /** What is known of a model that requests may name. Throws as `ask` does: a 404 if none may. */
  readonly readModel: (model: string, signal?: AbortSignal) => Promise<Answer<'/inference/v1/models/{id+}'>>;
  /** Has a function start that was not used of late, so that the next request need not wait. */
  readonly wake: (path: Wakeable, project: string) => void;
}

/** UTF-8 as Base64. */
const base64 = (text: string): string =>
  btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));

/** Credentials of a key, which goes into the header `Authorization` and nowhere else. */
export const keyCredentials = (key: string): Credentials => ({
  // Inference takes the scheme of OpenAI's clients.
  authorize: (path) => (path.startsWith('/inference/') ? `Bearer ${key}` : `Basic ${base64(`api:${key}`)}`),
});

interface ClientOptions {
  /** Is told when the service does not accept the credentials. @default - nobody is */
  readonly onRefused?: () => void;
}

/** Makes a client. */
export const createClient = (
  { authorize, renew = async () => false }: Credentials,
  { onRefused = () => {} }: ClientOptions = {},
): Client => {
  const parsed = (line: string) => JSON.parse(line) as never;
  /** Does something with credentials. Tells if there are none left. */
  const asked = async <Result>(work: () => Result | Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof RequestFailed && error.status === 401) onRefused();
      throw error;
    }
  };
  const sendWith = (
    authorization: string,
    path: ApiPath,
    body: unknown,
    accept: string,
    signal?: AbortSignal,
  ): Promise<Response> => {
    const request = fetch(new URL(`.${path}`, apiUrl()), {
      method: body === undefined ? 'GET' : 'POST',
      headers: { accept, authorization, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
      credentials: 'omit',
      cache: 'no-store',
    });
    return noteRequest(request).catch((error: unknown) => {
      throw connectionFailure(error, false);
    });
  };
  const send = async (path: ApiPath, body: unknown, accept: string, signal?: AbortSignal) => {
    noteUse(path);
    const authorization = await asked(() => authorize(path));
    let response = await sendWith(authorization, path, body, accept, signal);
    // A token that ended by the service's clock, or that was taken back.
    if (response.status === 401 && (await asked(() => renew(authorization))))
      response = await sendWith(await asked(() => authorize(path)), path, body, accept, signal);
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
    askModel: async (project, body, asking, signal) => {
      const { askModel } = await import('./inference.ts');
      const authorization = await asked(() => authorize('/inference/v1/chat/completions'));
      return askModel({ authorization, project, body, asking, signal, onRefused });
    },
    readModel: async (model, signal) => {
      // Names of models may have slashes.
      const path = `/inference/v1/models/${model.split('/').map(encodeURIComponent).join('/')}`;
      const response = await send(path as ApiPath, undefined, 'application/json', signal);
      return response.json().catch((error: unknown) => {
        throw connectionFailure(error, true);
      });
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
