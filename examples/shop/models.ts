import { tokensIn, usageOf } from './calls.ts';
import type { Assistant } from './conversations.ts';
import { photo } from './photo.ts';

/** A tool that the model asks for. */
export interface Wanted {
  readonly id: string;
  readonly tool: string;
  readonly args: object;
}

/** What was said so far, whoever the model is from. */
export type Said =
  | { readonly by: 'user'; readonly text: string; readonly photo: boolean }
  | { readonly by: 'assistant'; readonly text: string; readonly wanted?: Wanted }
  | { readonly by: 'tool'; readonly id: string; readonly result: unknown };

/** A model: how its client calls it, and the shape of its requests and answers. */
export interface Model {
  readonly name: string;
  readonly op: string;
  /** How long it thinks at least, and for each token that it writes, in ms. */
  readonly ms: { readonly base: number; readonly perToken: number };
  readonly inputs: (system: string, said: readonly Said[]) => object;
  readonly output: (text: string, wanted: Wanted | undefined) => object;
}

const tools = ['find_order', 'search_manual', 'create_return', 'make_invoice', 'find_parts'];

const openaiMessage = (said: Said): object => {
  switch (said.by) {
    case 'user':
      return { role: 'user', content: said.text };
    case 'tool':
      return { role: 'tool', tool_call_id: said.id, content: JSON.stringify(said.result) };
    case 'assistant':
      return openaiAnswer(said.text, said.wanted);
  }
};

const openaiAnswer = (text: string, wanted: Wanted | undefined): object => ({
  role: 'assistant',
  content: text || null,
  ...(wanted && {
    tool_calls: [
      {
        id: wanted.id,
        type: 'function',
        function: { name: wanted.tool, arguments: JSON.stringify(wanted.args) },
      },
    ],
  }),
});

const openai: Model = {
  name: 'gpt-4o-mini',
  op: 'openai.chat.completions.create',
  ms: { base: 260, perToken: 9 },
  inputs: (system, said) => ({
    model: 'gpt-4o-mini',
    temperature: 0.2,
    messages: [{ role: 'system', content: system }, ...said.map(openaiMessage)],
    tools: tools.map((name) => ({ type: 'function', function: { name } })),
  }),
  output: (text, wanted) => ({
    object: 'chat.completion',
    model: 'gpt-4o-mini',
    choices: [
      { index: 0, message: openaiAnswer(text, wanted), finish_reason: wanted ? 'tool_calls' : 'stop' },
    ],
  }),
};

const anthropicContent = (text: string, wanted: Wanted | undefined): object[] => [
  ...(text ? [{ type: 'text', text }] : []),
  ...(wanted ? [{ type: 'tool_use', id: wanted.id, name: wanted.tool, input: wanted.args }] : []),
];

const anthropicMessage = (said: Said): object => {
  switch (said.by) {
    case 'user': {
      const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: photo } };
      return { role: 'user', content: [...(said.photo ? [image] : []), { type: 'text', text: said.text }] };
    }
    case 'tool': {
      const content = JSON.stringify(said.result);
      return { role: 'user', content: [{ type: 'tool_result', tool_use_id: said.id, content }] };
    }
    case 'assistant':
      return { role: 'assistant', content: anthropicContent(said.text, said.wanted) };
  }
};

const anthropic: Model = {
  name: 'claude-haiku-4-5',
  op: 'anthropic.messages.create',
  ms: { base: 420, perToken: 14 },
  inputs: (system, said) => ({
    model: 'claude-haiku-4-5',
    max_tokens: 1024,
    system,
    messages: said.map(anthropicMessage),
    tools: tools.map((name) => ({ name, input_schema: { type: 'object' } })),
  }),
  output: (text, wanted) => ({
    type: 'message',
    role: 'assistant',
    model: 'claude-haiku-4-5',
    content: anthropicContent(text, wanted),
    stop_reason: wanted ? 'tool_use' : 'end_turn',
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
    summary: usageOf(model, tokens, 0),
  };
};
