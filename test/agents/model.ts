import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/*
 * A scripted stand-in for model providers: OpenAI's Chat Completions and Responses, Anthropic's
 * Messages, each at once or as a stream. It works through a script, and counts what it answered.
 */

type Json = Readonly<Record<string, unknown>>;

/** A tool that the model asks for, if the request offers it. */
export interface Step {
  /** What the system prompt has. @default - any */
  readonly system?: string;
  readonly tool: RegExp;
  readonly arguments: Json;
}

/** What the model says in the end, to those whose system prompt has a text. */
export interface Saying {
  readonly system?: string;
  readonly text: string;
}

export interface Script {
  readonly steps: readonly Step[];
  /** The first that fits is said when no step is left. */
  readonly sayings: readonly Saying[];
}

/** What a provider would bill. */
export interface Truth {
  requests: number;
  /** Cached ones included. */
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
}

/** What a request says, whatever the API. */
interface Asked {
  readonly system: string;
  readonly tools: readonly string[];
  /** The tools that were called before, in their order. */
  readonly called: readonly string[];
  /** How many results of tools it has. */
  readonly results: number;
  readonly messages: number;
}

type Reply =
  | { readonly text: string }
  | { readonly tool: string; readonly arguments: string; readonly id: string };

interface Usage {
  readonly prompt: number;
  readonly cached: number;
  readonly completion: number;
}

/** One API: how to read its requests, and how to answer at once or in events. */
interface Api {
  ask(body: Json): Asked;
  complete(model: string, id: string, reply: Reply, usage: Usage): Json;
  stream(model: string, id: string, reply: Reply, usage: Usage): readonly string[];
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;
const list = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** All texts of a value, whatever its form. */
const collectTexts = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(collectTexts).join('\n');
  return isObject(value) ? collectTexts(value.text ?? value.content ?? '') : '';
};

const isInstruction = ({ role }: Json): boolean => role === 'system' || role === 'developer';
const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const event = (value: Json): string => `event: ${String(value.type)}\n${data(value)}`;

const chat: Api = {
  ask: (body) => {
    const messages = list(body.messages);
    return {
      system: collectTexts(messages.filter(isInstruction)),
      tools: list(body.tools).map((tool) => String(isObject(tool.function) ? tool.function.name : '')),
      called: messages
        .flatMap((message) => list(message.tool_calls))
        .map((call) => String(isObject(call.function) ? call.function.name : '')),
      results: messages.filter(({ role }) => role === 'tool').length,
      messages: messages.length,
    };
  },
  complete: (model, id, reply, usage) => ({
    id: `chatcmpl-${id}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model,
    choices: [
      {
        index: 0,
        message: chatMessage(reply),
        finish_reason: 'text' in reply ? 'stop' : 'tool_calls',
      },
    ],
    usage: chatUsage(usage),
  }),
  stream: (model, id, reply, usage) => {
    const chunk = (choices: readonly Json[], rest: Json = {}) =>
      data({
        id: `chatcmpl-${id}`,
        object: 'chat.completion.chunk',
        created: Math.floor(Date.now() / 1000),
        model,
        choices,
        ...rest,
      });
    const { tool_calls: calls, ...message } = chatMessage(reply);
    const delta = calls ? { ...message, tool_calls: calls.map((call) => ({ index: 0, ...call })) } : message;
    return [
      chunk([{ index: 0, delta, finish_reason: null }]),
      chunk([{ index: 0, delta: {}, finish_reason: 'text' in reply ? 'stop' : 'tool_calls' }]),
      chunk([], { usage: chatUsage(usage) }),
      'data: [DONE]\n\n',
    ];
  },
};

const chatMessage = (reply: Reply) => {
  if ('text' in reply) return { role: 'assistant', content: reply.text };
  const called = { name: reply.tool, arguments: reply.arguments };
  return {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: `call_${reply.id}`, type: 'function', function: called }],
  };
};

const chatUsage = ({ prompt, cached, completion }: Usage) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  prompt_tokens_details: { cached_tokens: cached },
});

const responses: Api = {
  ask: (body) => {
    const input = list(body.input);
    return {
      system: `${collectTexts(body.instructions)}\n${collectTexts(input.filter(isInstruction))}`,
      tools: list(body.tools).map(({ name, type }) => String(name ?? type)),
      called: input.filter(({ type }) => type === 'function_call').map(({ name }) => String(name)),
      results: input.filter(({ type }) => type === 'function_call_output').length,
      messages: input.length,
    };
  },
  complete: (model, id, reply, usage) => ({
    ...emptyResponse(model, id),
    status: 'completed',
    output: [responseItem(id, reply)],
    usage: {
      input_tokens: usage.prompt,
      input_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: 0 },
      output_tokens: usage.completion,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.prompt + usage.completion,
    },
  }),
  stream: (model, id, reply, usage) => {
    const response = { ...emptyResponse(model, id), status: 'in_progress', output: [], usage: null };
    const item = responseItem(id, reply);
    const place = { item_id: item.id, output_index: 0 };
    const part = { type: 'output_text', text: 'text' in reply ? reply.text : '', annotations: [] };
    const pieces: Json[] =
      'text' in reply
        ? [
            {
              type: 'response.output_item.added',
              output_index: 0,
              item: { ...item, status: 'in_progress', content: [] },
            },
            {
              type: 'response.content_part.added',
              ...place,
              content_index: 0,
              part: { ...part, text: '' },
            },
            { type: 'response.output_text.delta', ...place, content_index: 0, delta: reply.text },
            { type: 'response.output_text.done', ...place, content_index: 0, text: reply.text },
            { type: 'response.content_part.done', ...place, content_index: 0, part },
          ]
        : [
            {
              type: 'response.output_item.added',
              output_index: 0,
              item: { ...item, status: 'in_progress', arguments: '' },
            },
            { type: 'response.function_call_arguments.delta', ...place, delta: reply.arguments },
            { type: 'response.function_call_arguments.done', ...place, arguments: reply.arguments },
          ];
    return [
      { type: 'response.created', response },
      ...pieces,
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: responses.complete(model, id, reply, usage) },
    ].map((item, i) => event({ ...item, sequence_number: i }));
  },
};

const emptyResponse = (model: string, id: string) => ({
  id: `resp_${id}`,
  object: 'response',
  created_at: Math.floor(Date.now() / 1000),
  model,
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  parallel_tool_calls: true,
  temperature: 1,
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
});

const responseItem = (id: string, reply: Reply) =>
  'text' in reply
    ? {
        type: 'message',
        id: `msg_${id}`,
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: reply.text, annotations: [] }],
      }
    : {
        type: 'function_call',
        id: `fc_${id}`,
        status: 'completed',
        call_id: `call_${reply.id}`,
        name: reply.tool,
        arguments: reply.arguments,
      };

const anthropic: Api = {
  ask: (body) => {
    const messages = list(body.messages);
    const parts = messages.flatMap(({ content }) => list(content));
    return {
      system: collectTexts(body.system),
      tools: list(body.tools).map(({ name }) => String(name)),
      called: parts.filter(({ type }) => type === 'tool_use').map(({ name }) => String(name)),
      results: parts.filter(({ type }) => type === 'tool_result').length,
      messages: messages.length,
    };
  },
  complete: (model, id, reply, usage) => ({
    ...emptyMessage(model, id),
    content: [anthropicBlock(reply)],
    stop_reason: stopReason(reply),
    usage: anthropicUsage(usage),
  }),
  stream: (model, id, reply, usage) => {
    const place = { index: 0 };
    const [block, delta] =
      'text' in reply
        ? [
            { type: 'text', text: '' },
            { type: 'text_delta', text: reply.text },
          ]
        : [
            { ...anthropicBlock(reply), input: {} },
            { type: 'input_json_delta', partial_json: reply.arguments },
          ];
    const sum = anthropicUsage(usage);
    return [
      {
        type: 'message_start',
        message: { ...emptyMessage(model, id), usage: { ...sum, output_tokens: 1 } },
      },
      { type: 'content_block_start', ...place, content_block: block },
      { type: 'content_block_delta', ...place, delta },
      { type: 'content_block_stop', ...place },
      {
        type: 'message_delta',
        delta: { stop_reason: stopReason(reply), stop_sequence: null },
        usage: { output_tokens: sum.output_tokens },
      },
      { type: 'message_stop' },
    ].map(event);
  },
};

const emptyMessage = (model: string, id: string) => ({
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  model,
  content: [],
  stop_reason: null,
  stop_sequence: null,
});

const stopReason = (reply: Reply): string => ('text' in reply ? 'end_turn' : 'tool_use');

const anthropicBlock = (reply: Reply) =>
  'text' in reply
    ? { type: 'text', text: reply.text }
    : {
        type: 'tool_use',
        id: `toolu_${reply.id}`,
        name: reply.tool,
        input: JSON.parse(reply.arguments) as Json,
      };

/** Anthropic's prompt tokens do not include those that were read from the cache. */
const anthropicUsage = ({ prompt, cached, completion }: Usage) => ({
  input_tokens: prompt - cached,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: cached,
  output_tokens: completion,
});

const apis: readonly [string, Api][] = [
  ['/chat/completions', chat],
  ['/responses', responses],
  ['/messages', anthropic],
];

/** The first step that was not taken yet and whose tool is offered: some tools are offered later than others. */
const nextStep = (steps: readonly Step[], { called, tools }: Asked) => {
  const taken = [...called];
  for (const step of steps) {
    const at = taken.findIndex((name) => step.tool.test(name));
    if (at >= 0) taken.splice(at, 1);
    const tool = at >= 0 ? undefined : tools.find((name) => step.tool.test(name));
    if (tool !== undefined) return { tool, arguments: JSON.stringify(step.arguments) };
  }
  return undefined;
};

const answerTo = ({ steps, sayings }: Script, asked: Asked, id: string): Reply => {
  const isMeant = ({ system }: { readonly system?: string }) =>
    system === undefined || asked.system.includes(system);
  const step = nextStep(steps.filter(isMeant), asked);
  return step ? { ...step, id } : { text: sayings.find(isMeant)?.text ?? 'There is nothing to say.' };
};

const readJson = async (request: IncomingMessage): Promise<Json> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}');
  return isObject(value) ? value : {};
};

export interface ScriptedModel {
  /** Without `/v1` and a trailing slash. */
  readonly url: string;
  readonly truth: Truth;
  stop(): Promise<void>;
}

/** Starts the model on a free port of loopback. */
export const startScriptedModel = async (script: Script): Promise<ScriptedModel> => {
  const truth: Truth = { requests: 0, promptTokens: 0, cachedTokens: 0, completionTokens: 0 };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const api = apis.find(([end]) => path.endsWith(end))?.[1];
    const send = (status: number, value: Json) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    if (path.endsWith('/count_tokens')) return send(200, { input_tokens: 100 });
    if (!api || request.method !== 'POST')
      return send(404, { error: { message: `the scripted model has no ${path}`, type: 'not_found' } });
    const body = await readJson(request);
    const asked = api.ask(body);
    truth.requests += 1;
    const id = `scripted${truth.requests}`;
    const reply = answerTo(script, asked, id);
    const usage = {
      prompt: 200 + 10 * asked.messages,
      cached: asked.results > 0 ? 128 : 0,
      completion: 'text' in reply ? reply.text.split(' ').length + 2 : 17,
    };
    truth.promptTokens += usage.prompt;
    truth.cachedTokens += usage.cached;
    truth.completionTokens += usage.completion;
    const model = String(body.model);
    // A request that takes no time at all could not be told from one whose duration is lost.
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (body.stream !== true) return send(200, api.complete(model, id, reply, usage));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const piece of api.stream(model, id, reply, usage)) response.write(piece);
    response.end();
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    truth,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
