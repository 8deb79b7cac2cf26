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

/** The pause between two chunks of a stream, in ms, so that streaming is visible. */
const pieceMs = 15;

type Body = EchoRequest & { readonly encoding_format?: unknown };

/** Splits a reply into words, each with the space before it. */
const piecesOf = (reply: string): string[] => reply.match(/\s*\S+/g) ?? [];

interface Answers {
  readonly complete: (request: Body) => object;
  /** The data of each event in order; absent if the endpoint does not stream. */
  readonly streamed?: (request: Body) => object[];
  /** Whether `[DONE]` ends the stream. */
  readonly done?: boolean;
}

const answers: Readonly<Record<string, Answers>> = {
  '/v1/chat/completions': {
    complete: (request) => chatCompletion(randomUUID(), promptOf(request), replyTo(request)),
    streamed: (request) => {
      const withUsage = request.stream_options?.include_usage === true;
      return chatChunks(randomUUID(), promptOf(request), piecesOf(replyTo(request)), withUsage);
    },
    done: true,
  },
  '/v1/completions': {
    complete: (request) => textCompletion(randomUUID(), promptOf(request), replyTo(request)),
    streamed: (request) => textChunks(randomUUID(), piecesOf(replyTo(request))),
    done: true,
  },
  '/v1/responses': {
    complete: (request) => response(randomUUID(), promptOf(request), replyTo(request), 'completed'),
    streamed: (request) => responseEvents(randomUUID(), promptOf(request), piecesOf(replyTo(request))),
  },
  '/v1/embeddings': { complete: (request) => embeddings(request, request.encoding_format) },
};

/** Responses events have names; the other streams have data only. */
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
  if (!found) return refuse(res, 404, 'the echo model has no such path');
  const request = (await json(req)) as Body;
  if (request.stream === true && found.streamed)
    return stream(res, found.streamed(request), found.done ?? false);
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(found.complete(request)));
};

/**
 * A stand-in for a model in the local service. It says that it is an echo and repeats the user's
 * last message. It speaks the part of OpenAI's API that the service forwards, with streams.
 */
export const echo: RequestListener = (req, res) => {
  answer(req, res).catch(() => refuse(res, 400, 'the echo model could not read the request'));
};
