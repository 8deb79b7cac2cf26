import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  chatChunks,
  chatCompletion,
  type EchoRequest,
  embeddings,
  promptOf,
  replyTo,
  response,
  responseEvents,
  textChunks,
  textCompletion,
} from './answers.ts';

/** The pause between two pieces of a stream, so that one sees that it is one. */
const pieceMs = 15;

type Body = EchoRequest & { readonly encoding_format?: unknown };

/** A reply in pieces: its words, with the space before each. */
const piecesOf = (reply: string): string[] => reply.match(/\s*\S+/g) ?? [];

interface Answers {
  readonly whole: (request: Body) => object;
  /** The data of each event, in order; absent where there are no streams. */
  readonly streamed?: (request: Body) => object[];
  /** Whether `[DONE]` ends the stream. */
  readonly done?: boolean;
}

const answers: Readonly<Record<string, Answers>> = {
  '/v1/chat/completions': {
    whole: (request) => chatCompletion(randomUUID(), promptOf(request), replyTo(request)),
    streamed: (request) => {
      const withUsage = request.stream_options?.include_usage === true;
      return chatChunks(randomUUID(), promptOf(request), piecesOf(replyTo(request)), withUsage);
    },
    done: true,
  },
  '/v1/completions': {
    whole: (request) => textCompletion(randomUUID(), promptOf(request), replyTo(request)),
    streamed: (request) => textChunks(randomUUID(), piecesOf(replyTo(request))),
    done: true,
  },
  '/v1/responses': {
    whole: (request) => response(randomUUID(), promptOf(request), replyTo(request), 'completed'),
    streamed: (request) => responseEvents(randomUUID(), promptOf(request), piecesOf(replyTo(request))),
  },
  '/v1/embeddings': { whole: (request) => embeddings(request, request.encoding_format) },
};

/** Responses have events with names, the others have data alone. */
const eventOf = (data: object): string => {
  const name = 'type' in data ? `event: ${data.type}\n` : '';
  return `${name}data: ${JSON.stringify(data)}\n\n`;
};

const stream = async (res: ServerResponse, events: readonly object[], done: boolean): Promise<void> => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const data of events) {
    if (res.destroyed) return;
    res.write(eventOf(data));
    await sleep(pieceMs);
  }
  res.end(done ? 'data: [DONE]\n\n' : '');
};

const refuse = (res: ServerResponse, status: number, message: string): void => {
  const error = { message, type: 'invalid_request_error', param: null, code: null };
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
};

const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
  const found = answers[new URL(req.url ?? '/', 'http://localhost').pathname];
  if (!found) return refuse(res, 404, 'the echo model knows no such path');
  const request = (await json(req)) as Body;
  if (request.stream === true && found.streamed)
    return stream(res, found.streamed(request), found.done ?? false);
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(found.whole(request)));
};

/**
 * A model for the local service that needs none: it says that it is an echo, and repeats what the
 * user said last. It speaks OpenAI's API as far as the service passes it on, streams included.
 */
export const echo: RequestListener = (req, res) => {
  answer(req, res).catch(() => refuse(res, 400, 'the echo model could not read the request'));
};
