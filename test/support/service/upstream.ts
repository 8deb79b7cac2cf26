import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** A request as it reached the upstream. */
export interface ReceivedRequest {
  readonly method: string;
  /** The path with its query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON. */
  readonly body: Record<string, unknown>;
  /** Resolves when the connection is closed before the answer is complete. */
  readonly aborted: Promise<void>;
}

/** Answers a request, well or badly. */
export type Behaviour = (request: ReceivedRequest, res: ServerResponse) => unknown;

/** An upstream of the tests' own. */
export interface TestUpstream extends AsyncDisposable {
  /** Its base URL, with the path that OpenAI's has. */
  readonly baseUrl: string;
  /** Every request so far. */
  readonly requests: readonly ReceivedRequest[];
  /** The latest request. */
  readonly last: () => ReceivedRequest;
  /** Sets how it answers from now on. */
  readonly behave: (behaviour: Behaviour) => void;
}

/** Listens on a free port of the loopback address, until it is disposed of. */
export const serve = async (
  listener: RequestListener,
): Promise<AsyncDisposable & { readonly origin: string }> => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
};

/** Starts an upstream that answers as it is told to. */
export const startUpstream = async (first: Behaviour = json({ ok: true })): Promise<TestUpstream> => {
  const requests: ReceivedRequest[] = [];
  let behaviour = first;
  const { origin, ...server } = await serve(async (req, res) => {
    const aborted = new Promise<void>((resolve) => {
      res.once('close', () => !res.writableFinished && resolve());
    });
    const text = (await buffer(req)).toString('utf8');
    const { method = '', url = '', headers } = req;
    const request = { method, url, headers, text, body: JSON.parse(text), aborted };
    requests.push(request);
    await behaviour(request, res);
  });
  return {
    ...server,
    baseUrl: `${origin}/v1`,
    requests,
    last: () => {
      const request = requests.at(-1);
      if (!request) throw new Error('the upstream has had no request');
      return request;
    },
    behave: (next) => {
      behaviour = next;
    },
  };
};

/** Answers with JSON. */
export const json =
  (value: unknown, status = 200, headers: Readonly<Record<string, string | string[]>> = {}): Behaviour =>
  (_request, res) =>
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));

/** Answers with server-sent events: pieces of the body, written one by one. */
export const events =
  (pieces: readonly (string | Uint8Array)[], pauseMs = 0): Behaviour =>
  async (_request, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    for (const piece of pieces) {
      res.write(piece);
      if (pauseMs > 0) await sleep(pauseMs);
    }
    res.end();
  };

/** An event with JSON as its data. */
export const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;

/** The event that ends a stream of OpenAI's. */
export const done = 'data: [DONE]\n\n';

/** A chunk of a streamed chat completion. */
export const chunk = (delta: object, finish_reason: string | null = null): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'gpt-test-2026',
  choices: [{ index: 0, delta, finish_reason }],
});

/** A chat completion. */
export const completion = (message: object, finish_reason = 'stop'): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'gpt-test-2026',
  choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason }],
  usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
});
