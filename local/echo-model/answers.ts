/** A request to the echo model. It accepts any field and reads these. */
export interface EchoRequest {
  readonly messages?: unknown;
  readonly prompt?: unknown;
  readonly input?: unknown;
  readonly stream?: unknown;
  readonly stream_options?: { readonly include_usage?: unknown } | null;
}

/** The model's name in every answer, whichever model was requested. */
export const echoModel = 'echo';

/** The text of a message's content: a string, or the texts of a list. */
const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((item: { text?: unknown }) => (typeof item?.text === 'string' ? item.text : ''))
    .join('');
};

const isUsers = (message: { role?: unknown } | null): boolean => message?.role === 'user';

/** The user's last message, from whichever field the endpoint uses. */
export const promptOf = ({ messages, prompt, input }: EchoRequest): string => {
  const turns = messages ?? input;
  if (!Array.isArray(turns)) return textOf(turns ?? prompt);
  const last = turns.findLast(isUsers) ?? turns.at(-1);
  return typeof last === 'string' ? last : textOf(last?.content);
};

/** The reply: it says that it is an echo, and repeats the prompt. */
export const replyTo = (request: EchoRequest): string =>
  `This is the local echo model, no real one. You said: ${promptOf(request)}`;

/** Counts words as tokens. */
const tokens = (text: string): number => text.split(/\s+/).filter(Boolean).length;

/** The usage of a reply in the form of chat and text completions. */
export const usageOf = (prompt: string, reply: string) => ({
  prompt_tokens: tokens(prompt),
  completion_tokens: tokens(reply),
  total_tokens: tokens(prompt) + tokens(reply),
});

/** The usage of a reply in the form of the Responses API. */
export const responseUsageOf = (prompt: string, reply: string) => ({
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

/** A chat completion in OpenAI's form. */
export const chatCompletion = (id: string, prompt: string, reply: string) => ({
  ...head(id, 'chat.completion'),
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: reply, refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: usageOf(prompt, reply),
});

/** The chunks of a streamed chat completion: role, pieces, end, and usage if requested. */
export const chatChunks = (
  id: string,
  prompt: string,
  pieces: readonly string[],
  withUsage: boolean,
): object[] => {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...head(id, 'chat.completion.chunk'),
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  });
  const usage = {
    ...head(id, 'chat.completion.chunk'),
    choices: [],
    usage: usageOf(prompt, pieces.join('')),
  };
  return [
    chunk({ role: 'assistant', content: '' }),
    ...pieces.map((content) => chunk({ content })),
    chunk({}, 'stop'),
    ...(withUsage ? [usage] : []),
  ];
};

/** A text completion in OpenAI's form. */
export const textCompletion = (id: string, prompt: string, reply: string) => ({
  ...head(id, 'text_completion'),
  choices: [{ index: 0, text: reply, logprobs: null, finish_reason: 'stop' }],
  usage: usageOf(prompt, reply),
});

/** The chunks of a streamed text completion. */
export const textChunks = (id: string, pieces: readonly string[]): object[] => {
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
export const response = (id: string, prompt: string, reply: string, status: 'in_progress' | 'completed') => ({
  id: `resp-${id}`,
  object: 'response',
  created_at: Math.floor(Date.now() / 1000),
  model: echoModel,
  status,
  output: status === 'completed' ? [message(id, reply, 'completed')] : [],
  usage: status === 'completed' ? responseUsageOf(prompt, reply) : null,
});

/** The events of a streamed answer of the Responses API. */
export const responseEvents = (id: string, prompt: string, pieces: readonly string[]): { type: string }[] => {
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

/** The length of an embedding. */
const dimensions = 8;

const unit = (numbers: readonly number[]): number[] => {
  const length = Math.hypot(...numbers) || 1;
  return numbers.map((number) => number / length);
};

/**
 * The embedding of a text: counts of its characters in a few classes, as a vector of length 1. Only
 * equality has a meaning.
 */
const embeddingOf = (text: string): number[] => {
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
      const numbers = embeddingOf(text);
      return { object: 'embedding', index, embedding: format === 'base64' ? inBase64(numbers) : numbers };
    }),
    usage: { prompt_tokens: prompt, total_tokens: prompt },
  };
};
