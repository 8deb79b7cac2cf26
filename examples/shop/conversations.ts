import { randomUUID } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';

const width = 160;
const height = 100;

const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
};

/** The distance of a point to the nearest link of a chain across the picture. */
const toChain = (x: number, y: number): number => {
  const middle = Math.round((x - 10) / 20) * 20 + 10;
  return Math.hypot((x - middle) * 0.9, y - (50 + 8 * Math.sin(middle / 30)));
};

/** Gray steel with a rusty chain: gray, rust and black by number. */
const colorAt = (x: number, y: number): number => {
  const distance = toChain(x, y);
  if (distance < 4) return 2;
  if (distance < 12) return 1;
  return Math.abs(y - (50 + 8 * Math.sin(x / 30))) < 4 ? 2 : 0;
};

/** A small picture of a chain as PNG, in Base64: what a customer sends with a message. */
export const photo: string = (() => {
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = colorAt(x, y);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', head),
    chunk('PLTE', Buffer.from([0xb9, 0xbd, 0xc1, 0xa3, 0x5a, 0x2b, 0x3a, 0x2c, 0x24])),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]).toString('base64');
})();

/** A call as the demo reports it: its start, and its end unless it still runs. */
export interface DemoCall {
  readonly id: string;
  readonly trace: string;
  readonly parent: string | null;
  readonly thread: string | null;
  readonly turn: string | null;
  readonly op: string;
  /** What people see instead of the operation. @default - the operation */
  readonly name?: string;
  /** In ms since 1970. */
  readonly start: number;
  /** In ms; null while it runs. */
  readonly ms: number | null;
  readonly attributes: object;
  readonly inputs: object;
  readonly output?: unknown;
  readonly exception?: string;
  readonly summary?: object;
}

/** Times with microseconds, so that calls of the same millisecond have an order. */
const formatTime = (ms: number, order: number): string =>
  `${new Date(ms).toISOString().slice(0, -1)}${String(order % 1000).padStart(3, '0')}Z`;

/** The reports of a call, as `POST /call/upsert_batch` takes them. */
export const toReports = (project: string, call: DemoCall, order: number): object[] => {
  const { id, trace, parent, thread, turn, op, name, start, ms, attributes, inputs } = call;
  const started = {
    project_id: project,
    id,
    op_name: op,
    ...(name !== undefined && { display_name: name }),
    trace_id: trace,
    parent_id: parent,
    thread_id: thread,
    turn_id: turn,
    started_at: formatTime(start, order),
    attributes,
    inputs,
  };
  const { output = null, exception = null, summary = {} } = call;
  const ended = {
    project_id: project,
    id,
    ended_at: formatTime(start + (ms ?? 0), order),
    output,
    exception,
    summary,
  };
  const end = ms === null ? [] : [{ mode: 'end', req: { end: ended } }];
  return [{ mode: 'start', req: { start: started } }, ...end];
};

/** Numbers from 0 to 1 that look random, the same for every run (mulberry32). */
export const createRandom = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

/** About four characters are a token. */
export const tokensIn = (value: unknown): number => JSON.stringify(value).length >> 2;

/** What a model used, as its call reports it. */
export const toUsage = (model: string, prompt: number, completion: number, cached = 0): object => ({
  usage: {
    [model]: {
      requests: 1,
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      ...(cached > 0 && { prompt_tokens_details: { cached_tokens: cached } }),
    },
  },
});

export const newId = (): string => randomUUID();

/** A tool that the model asks for. */
export interface ToolCall {
  readonly id: string;
  readonly tool: string;
  readonly args: object;
}

/** A message of a conversation, in the same form for every vendor of models. */
export type Message =
  | { readonly by: 'user'; readonly text: string; readonly photo: boolean }
  | { readonly by: 'assistant'; readonly text: string; readonly toolCall?: ToolCall }
  | { readonly by: 'tool'; readonly id: string; readonly result: unknown };

/** A model: how its client calls it, and the shape of its requests and answers. */
export interface Model {
  readonly name: string;
  readonly op: string;
  /** How long it thinks at least, and for each token that it writes, in ms. */
  readonly ms: { readonly base: number; readonly perToken: number };
  readonly inputs: (system: string, messages: readonly Message[]) => object;
  readonly output: (text: string, toolCall: ToolCall | undefined) => object;
}

const tools = ['find_order', 'search_manual', 'create_return', 'make_invoice', 'find_parts'];

const openaiMessage = (message: Message): object => {
  switch (message.by) {
    case 'user':
      return { role: 'user', content: message.text };
    case 'tool':
      return { role: 'tool', tool_call_id: message.id, content: JSON.stringify(message.result) };
    case 'assistant':
      return openaiAnswer(message.text, message.toolCall);
  }
};

const openaiAnswer = (text: string, toolCall: ToolCall | undefined): object => ({
  role: 'assistant',
  content: text || null,
  ...(toolCall && {
    tool_calls: [
      {
        id: toolCall.id,
        type: 'function',
        function: { name: toolCall.tool, arguments: JSON.stringify(toolCall.args) },
      },
    ],
  }),
});

const openai: Model = {
  name: 'gpt-4o-mini',
  op: 'openai.chat.completions.create',
  ms: { base: 260, perToken: 9 },
  inputs: (system, messages) => ({
    model: 'gpt-4o-mini',
    temperature: 0.2,
    messages: [{ role: 'system', content: system }, ...messages.map(openaiMessage)],
    tools: tools.map((name) => ({ type: 'function', function: { name } })),
  }),
  output: (text, toolCall) => ({
    object: 'chat.completion',
    model: 'gpt-4o-mini',
    choices: [
      { index: 0, message: openaiAnswer(text, toolCall), finish_reason: toolCall ? 'tool_calls' : 'stop' },
    ],
  }),
};

const anthropicContent = (text: string, toolCall: ToolCall | undefined): object[] => [
  ...(text ? [{ type: 'text', text }] : []),
  ...(toolCall ? [{ type: 'tool_use', id: toolCall.id, name: toolCall.tool, input: toolCall.args }] : []),
];

const anthropicMessage = (message: Message): object => {
  switch (message.by) {
    case 'user': {
      const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: photo } };
      return {
        role: 'user',
        content: [...(message.photo ? [image] : []), { type: 'text', text: message.text }],
      };
    }
    case 'tool': {
      const content = JSON.stringify(message.result);
      return { role: 'user', content: [{ type: 'tool_result', tool_use_id: message.id, content }] };
    }
    case 'assistant':
      return { role: 'assistant', content: anthropicContent(message.text, message.toolCall) };
  }
};

const anthropic: Model = {
  name: 'claude-haiku-4-5',
  op: 'anthropic.messages.create',
  ms: { base: 420, perToken: 14 },
  inputs: (system, messages) => ({
    model: 'claude-haiku-4-5',
    max_tokens: 1024,
    system,
    messages: messages.map(anthropicMessage),
    tools: tools.map((name) => ({ name, input_schema: { type: 'object' } })),
  }),
  output: (text, toolCall) => ({
    type: 'message',
    role: 'assistant',
    model: 'claude-haiku-4-5',
    content: anthropicContent(text, toolCall),
    stop_reason: toolCall ? 'tool_use' : 'end_turn',
  }),
};

/** Which model each assistant asks. */
export const models: Readonly<Record<Assistant, Model>> = { support: openai, advisor: anthropic };

/** The embedding of a text, in the shape of OpenAI's. */
export const embedding = (text: string) => {
  const tokens = tokensIn(text);
  const vector = Array.from({ length: 8 }, (_, at) => Number(Math.sin(tokens + at).toFixed(4)));
  const model = 'text-embedding-3-small';
  return {
    op: 'openai.embeddings.create',
    inputs: { model, input: text },
    output: { object: 'list', model, data: [{ object: 'embedding', index: 0, embedding: vector }] },
    summary: toUsage(model, tokens, 0),
  };
};

/** What the agent does within a turn, before it answers. */
export type Step =
  | { readonly tool: string; readonly args: object; readonly result: unknown }
  | { readonly tool: string; readonly args: object; readonly error: string }
  | { readonly search: string; readonly hits: readonly string[] };

/** A turn: what the customer writes, what the agent does, and what it answers. */
export interface Turn {
  readonly user: string;
  /** A photo that comes with it. @default false */
  readonly photo?: boolean;
  readonly steps?: readonly Step[];
  /** What it also does since the newest release, before it answers. */
  readonly newSteps?: readonly Step[];
  /** Markdown, as models write it. */
  readonly answer: string;
  /** What the model failed with instead of answering. */
  readonly fails?: string;
}

/** Those who answer. */
export type Assistant = 'support' | 'advisor';

/** A conversation with one of the assistants. */
export interface Conversation {
  readonly topic: string;
  readonly assistant: Assistant;
  readonly turns: readonly Turn[];
}

const order = (id: string, status: string, arrives: string) => ({
  tool: 'find_order',
  args: { order: id },
  result: { order: id, status, carrier: 'DHL', arrives, items: [{ sku: 'TUBE-28', count: 2 }] },
});

/** The conversations of a bicycle shop, which the demo repeats over a day. */
export const conversations: readonly Conversation[] = [
  {
    topic: 'parcel',
    assistant: 'support',
    turns: [
      {
        user: 'Hello, where is my parcel?',
        answer: 'Happy to look. **What is your order number?** It begins with a W.',
      },
      {
        user: 'It is W1001.',
        steps: [order('W1001', 'in transit', 'Thursday')],
        answer:
          'Your order **W1001** is on its way:\n\n| | |\n| --- | --- |\n| Carrier | DHL |\n| Status | in transit |\n| Arrives | Thursday |\n\nDo you want a message when it is delivered?',
      },
      {
        user: 'Yes. And W9999, for my brother?',
        steps: [{ tool: 'find_order', args: { order: 'W9999' }, error: 'OrderNotFound: no order W9999' }],
        answer: 'I will write to you on Thursday. I find no order **W9999**. Could a digit be wrong?',
      },
    ],
  },
  {
    topic: 'return',
    assistant: 'support',
    turns: [
      {
        user: 'The helmet from W1044 is too small. Can I send it back?',
        steps: [
          order('W1044', 'delivered', 'last Monday'),
          {
            search: 'return a helmet that does not fit',
            hits: [
              'Returns: 30 days, unused, with its box.',
              'Helmets: size M is 55–59 cm, size L is 58–62 cm.',
            ],
          },
        ],
        answer:
          'Yes, within **30 days**:\n\n1. Put the helmet into its box, unused.\n2. Print the label that I send you.\n3. Bring it to any DHL shop.\n\nSize L is for 58–62 cm. Shall I exchange it?',
      },
      {
        user: 'Please do.',
        steps: [
          {
            tool: 'create_return',
            args: { order: 'W1044', exchange: 'HELMET-L' },
            result: { return: 'R-2207', label: 'sent' },
          },
        ],
        answer: 'Done: return **R-2207**. The label is in your mail, and size L leaves tomorrow.',
      },
    ],
  },
  {
    topic: 'chain',
    assistant: 'advisor',
    turns: [
      {
        user: 'My chain looks like this after the winter. Does it need replacing?',
        photo: true,
        steps: [
          {
            search: 'worn chain, when to replace',
            hits: ['Chains: replace at 0.75 % of wear; 0.5 % with 11 or more gears.'],
          },
        ],
        answer:
          'That is **surface rust**, not wear. Clean and oil it first:\n\n- brush it with degreaser and let it dry\n- one drop of oil on each roller\n- wipe off what is left\n\nThen measure it. With 11 gears or more, replace it at `0.5 %`.',
      },
      {
        user: 'It measures 0.8. Which one fits a Shimano 105 R7000?',
        steps: [
          {
            tool: 'find_parts',
            args: { fits: 'Shimano 105 R7000', kind: 'chain' },
            result: [
              { sku: 'CN-HG601-11', price: 24.9, stock: 12 },
              { sku: 'CN-HG701-11', price: 29.9, stock: 0 },
            ],
          },
        ],
        answer:
          'Two fit its 11 gears:\n\n| chain | price | in stock |\n| --- | ---: | --- |\n| CN-HG601-11 | € 24.90 | yes |\n| CN-HG701-11 | € 29.90 | next week |\n\nAt 0.8 % the cassette is often worn, too. Check it with the new chain.',
      },
      { user: 'Thank you!', answer: 'You are welcome. Enjoy the ride!' },
    ],
  },
  {
    topic: 'gears',
    assistant: 'advisor',
    turns: [
      {
        user: 'How do I stop the rear gears from skipping?',
        steps: [
          {
            search: 'rear gears skip, adjust the derailleur',
            hits: ['Indexing: turn the barrel adjuster a quarter turn at a time.'],
          },
        ],
        // It finds nothing, and looks again: a loop.
        newSteps: Array.from({ length: 3 }, () => ({
          tool: 'find_parts',
          args: { fits: 'Shimano Deore M6100', kind: 'derailleur hanger' },
          result: [],
        })),
        answer:
          'Mostly it is the **cable tension**:\n\n1. Shift to the smallest cog.\n2. Turn the barrel adjuster a *quarter turn* outwards.\n3. Pedal, shift one up, and listen.\n\n> If it skips under load only, look at the chain instead.',
      },
    ],
  },
  {
    topic: 'invoice',
    assistant: 'support',
    turns: [
      {
        user: 'I need the invoice of W1077 with our VAT number.',
        steps: [
          order('W1077', 'delivered', 'in October'),
          {
            tool: 'make_invoice',
            args: { order: 'W1077', vat: 'DE811907980' },
            result: { invoice: 'I-5512', pages: 1 },
          },
        ],
        answer: 'Invoice **I-5512** with the number `DE811907980` is in your mail.',
      },
      {
        user: 'Can you also send it to our accounting?',
        answer: '',
        fails:
          'RateLimitError: 429 the model is overloaded, try again in 2 s\n    at ChatCompletions.create (openai/client.js:512:15)\n    at async answer (support/agent.ts:88:18)\n    at async turn (support/agent.ts:41:20)',
      },
    ],
  },
];
