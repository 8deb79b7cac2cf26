import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from 'aws-stand-in';

/** A request to the echo model. It accepts any field and reads these. */
interface EchoRequest {
  readonly messages?: unknown;
  readonly prompt?: unknown;
  readonly input?: unknown;
  readonly stream?: unknown;
  readonly stream_options?: { readonly include_usage?: unknown } | null;
  readonly response_format?: unknown;
}

/** The model's name in every answer, whichever model was requested. */
const echoModel = 'echo';

/** The text of a message's content: a string, or the texts of a list. */
const contentText = (content: unknown): string => {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((item: { text?: unknown }) => (typeof item?.text === 'string' ? item.text : ''))
    .join('');
};

const isUsers = (message: { role?: unknown } | null): boolean => message?.role === 'user';

/** The user's last message, from whichever field the endpoint uses. */
const findPrompt = ({ messages, prompt, input }: EchoRequest): string => {
  const turns = messages ?? input;
  if (!Array.isArray(turns)) return contentText(turns ?? prompt);
  const last = turns.findLast(isUsers) ?? turns.at(-1);
  return typeof last === 'string' ? last : contentText(last?.content);
};

/** The keywords of a JSON Schema that answers of a form have. */
interface Form {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, Form>>;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
}

/** The simplest value of a form. */
const simplest = ({ type, properties = {}, enum: named, minimum = 0 }: Form): unknown => {
  if (named) return named[0];
  if (type === 'object')
    return Object.fromEntries(Object.entries(properties).map(([name, form]) => [name, simplest(form)]));
  if (type === 'array') return [];
  if (type === 'boolean') return true;
  return type === 'number' || type === 'integer' ? minimum : 'This is the local echo model, no real one.';
};

/** The form that a request asks its answer to have; undefined if it asks for none. */
const findForm = ({ response_format: format }: EchoRequest): Form | undefined => {
  const { json_schema: named } = (format ?? {}) as { json_schema?: { schema?: Form } };
  return named?.schema;
};

/**
 * The reply: it says that it is an echo, and repeats the prompt. If it is to have a form, it is the
 * simplest value of that.
 */
const replyTo = (request: EchoRequest): string => {
  const form = findForm(request);
  if (form) return JSON.stringify(simplest(form));
  return `This is the local echo model, no real one. You said: ${findPrompt(request)}`;
};

/** Counts words as tokens. */
const tokens = (text: string): number => text.split(/\s+/).filter(Boolean).length;

/** The usage of a reply in the form of chat and text completions. */
export const toUsage = (prompt: string, reply: string) => ({
  prompt_tokens: tokens(prompt),
  completion_tokens: tokens(reply),
  total_tokens: tokens(prompt) + tokens(reply),
});

/** The usage of a reply in the form of the Responses API. */
const toResponseUsage = (prompt: string, reply: string) => ({
  input_tokens: tokens(prompt),
  output_tokens: tokens(reply),
  total_tokens: tokens(prompt) + tokens(reply),
});

const head = (id: string, object: string) => ({
  id: `${object.split('.')[0]}-${id}`,
  object,
  created: Math.floor(Date.now() / 1000),
  model: echoModel,
});

const chatCompletion = (id: string, prompt: string, reply: string) => ({
  ...head(id, 'chat.completion'),
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: reply, refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: toUsage(prompt, reply),
});

/** The chunks of a streamed chat completion: role, pieces, end, and usage if requested. */
const chatChunks = (id: string, prompt: string, pieces: readonly string[], withUsage: boolean): object[] => {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...head(id, 'chat.completion.chunk'),
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  });
  const usage = {
    ...head(id, 'chat.completion.chunk'),
    choices: [],
    usage: toUsage(prompt, pieces.join('')),
  };
  return [
    chunk({ role: 'assistant', content: '' }),
    ...pieces.map((content) => chunk({ content })),
    chunk({}, 'stop'),
    ...(withUsage ? [usage] : []),
  ];
};

const textCompletion = (id: string, prompt: string, reply: string) => ({
  ...head(id, 'text_completion'),
  choices: [{ index: 0, text: reply, logprobs: null, finish_reason: 'stop' }],
  usage: toUsage(prompt, reply),
});

const textChunks = (id: string, pieces: readonly string[]): object[] => {
  const chunk = (text: string, finish_reason: string | null) => ({
    ...head(id, 'text_completion'),
    choices: [{ index: 0, text, logprobs: null, finish_reason }],
  });
  return [...pieces.map((text) => chunk(text, null)), chunk('', 'stop')];
};

const message = (id: string, text: string, status: string) => ({
  type: 'message',
  id: `msg-${id}`,
  role: 'assistant',
  status,
  content: text === '' ? [] : [{ type: 'output_text', text, annotations: [] }],
});

/** An answer of the Responses API. It has no output while in progress. */
const response = (id: string, prompt: string, reply: string, status: 'in_progress' | 'completed') => ({
  id: `resp-${id}`,
  object: 'response',
  created_at: Math.floor(Date.now() / 1000),
  model: echoModel,
  status,
  output: status === 'completed' ? [message(id, reply, 'completed')] : [],
  usage: status === 'completed' ? toResponseUsage(prompt, reply) : null,
});

/** The events of a streamed answer of the Responses API. */
const responseEvents = (id: string, prompt: string, pieces: readonly string[]): { type: string }[] => {
  const reply = pieces.join('');
  const position = { item_id: `msg-${id}`, output_index: 0, content_index: 0 };
  const events = [
    { type: 'response.created', response: response(id, prompt, reply, 'in_progress') },
    { type: 'response.output_item.added', output_index: 0, item: message(id, '', 'in_progress') },
    {
      type: 'response.content_part.added',
      ...position,
      part: { type: 'output_text', text: '', annotations: [] },
    },
    ...pieces.map((delta) => ({ type: 'response.output_text.delta', ...position, delta })),
    { type: 'response.output_text.done', ...position, text: reply },
    { type: 'response.output_item.done', output_index: 0, item: message(id, reply, 'completed') },
    { type: 'response.completed', response: response(id, prompt, reply, 'completed') },
  ];
  return events.map((event, sequence_number) => ({ ...event, sequence_number }));
};

const dimensions = 8;

const unit = (numbers: readonly number[]): number[] => {
  const length = Math.hypot(...numbers) || 1;
  return numbers.map((number) => number / length);
};

/**
 * The embedding of a text: counts of its characters in a few classes, as a vector of length 1. Only
 * equality has a meaning.
 */
const toEmbedding = (text: string): number[] => {
  const counts = Array.from({ length: dimensions }, () => 0);
  for (const character of text) {
    const at = (character.codePointAt(0) ?? 0) % dimensions;
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return unit(counts);
};

const inBase64 = (numbers: readonly number[]): string =>
  Buffer.from(new Float32Array(numbers).buffer).toString('base64');

/** Embeddings of one or several texts, as lists of numbers or in base64. */
export const embeddings = ({ input }: EchoRequest, format: unknown) => {
  const texts = (Array.isArray(input) ? input : [input]).map(String);
  const prompt = tokens(texts.join(' '));
  return {
    object: 'list',
    model: echoModel,
    data: texts.map((text, index) => {
      const numbers = toEmbedding(text);
      return { object: 'embedding', index, embedding: format === 'base64' ? inBase64(numbers) : numbers };
    }),
    usage: { prompt_tokens: prompt, total_tokens: prompt },
  };
};

/** The pause between two chunks of a stream, in ms, so that streaming is visible. */
const pieceMs = 15;

type Body = EchoRequest & { readonly encoding_format?: unknown };

/** Splits a reply into words, each with the space before it. */
const splitWords = (reply: string): string[] => reply.match(/\s*\S+/g) ?? [];

interface Answers {
  readonly complete: (request: Body) => object;
  /** The data of each event in order; absent if the endpoint does not stream. */
  readonly streamed?: (request: Body) => object[];
  /** Whether `[DONE]` ends the stream. */
  readonly done?: boolean;
}

const answers: Readonly<Record<string, Answers>> = {
  '/v1/chat/completions': {
    complete: (request) => chatCompletion(randomUUID(), findPrompt(request), replyTo(request)),
    streamed: (request) => {
      const withUsage = request.stream_options?.include_usage === true;
      return chatChunks(randomUUID(), findPrompt(request), splitWords(replyTo(request)), withUsage);
    },
    done: true,
  },
  '/v1/completions': {
    complete: (request) => textCompletion(randomUUID(), findPrompt(request), replyTo(request)),
    streamed: (request) => textChunks(randomUUID(), splitWords(replyTo(request))),
    done: true,
  },
  '/v1/responses': {
    complete: (request) => response(randomUUID(), findPrompt(request), replyTo(request), 'completed'),
    streamed: (request) => responseEvents(randomUUID(), findPrompt(request), splitWords(replyTo(request))),
  },
  '/v1/embeddings': { complete: (request) => embeddings(request, request.encoding_format) },
};

/** Responses events have names; the other streams have data only. */
const formatEvent = (data: object): string => {
  const name = 'type' in data ? `event: ${data.type}\n` : '';
  return `${name}data: ${JSON.stringify(data)}\n\n`;
};

const stream = async (res: ServerResponse, events: readonly object[], done: boolean): Promise<void> => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const data of events) {
    if (res.destroyed) return;
    res.write(formatEvent(data));
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
const echo: RequestListener = (req, res) => {
  answer(req, res).catch(() => refuse(res, 400, 'the echo model could not read the request'));
};

/** The local upstream of model requests, whatever the model. */
export interface LocalUpstream {
  readonly baseUrl: string;
  readonly key?: string;
}

/** Upstreams as the setting `inferenceUpstreams` describes them, with their keys. */
export type LocalUpstreams = readonly ({ readonly name: string } & Readonly<Record<string, unknown>>)[];

/** The upstreams of a service with one that takes every model. */
export const onlyUpstream = ({ baseUrl, key }: LocalUpstream): LocalUpstreams => {
  const upstream = { name: 'local', models: ['*'], baseUrl, ...(key !== undefined && { key }) };
  return [upstream];
};

/** Starts the echo model on the loopback address. */
export const startEchoModel = async (): Promise<LocalUpstream & { stop(): Promise<void> }> => {
  const server = await listen(0, Promise.resolve(echo));
  return { baseUrl: `http://127.0.0.1:${server.port}/v1`, stop: () => server.stop() };
};
