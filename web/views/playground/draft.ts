import { type ContentPart, type Message, parseConversation } from '../../../api/shared/conversation.ts';
import { fillPrompt, type PromptMessage, variablesIn } from '../../../api/shared/prompt-variables.ts';
import type { Call } from '../../api/contract.ts';
import { valuesIn } from '../../calls/prompts/prompt.ts';
import { isObject, jsonIn } from '../../data/values.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What other providers call the parameters of OpenAI's chat. */
const names: Readonly<Record<string, string>> = {
  maxTokens: 'max_tokens',
  max_output_tokens: 'max_completion_tokens',
  topP: 'top_p',
  stop_sequences: 'stop',
  stopSequences: 'stop',
};

/** The parameters that OpenAI's chat takes. */
const known = new Set([
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'max_completion_tokens',
  'max_tokens',
  'n',
  'parallel_tool_calls',
  'presence_penalty',
  'reasoning_effort',
  'response_format',
  'seed',
  'stop',
  'temperature',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
]);

/** A tool in OpenAI's shape, from OpenAI's responses, Anthropic's or Bedrock's. */
const toTool = (tool: unknown): unknown => {
  if (!isObject(tool) || isObject(tool.function)) return tool;
  const spec = isObject(tool.toolSpec) ? tool.toolSpec : tool;
  const { name, description, input_schema, inputSchema, parameters } = spec;
  const schema = parameters ?? input_schema ?? (isObject(inputSchema) ? inputSchema.json : inputSchema);
  return {
    type: 'function',
    function: {
      name,
      ...(description !== undefined && { description }),
      ...(schema !== undefined && { parameters: schema }),
    },
  };
};

/** The parameters of a call as OpenAI's chat takes them. What it does not know is left out. */
const toParameters = (inputs: Fields): Fields => {
  const { inferenceConfig, toolConfig } = inputs;
  const all: Fields = {
    ...inputs,
    ...(isObject(inferenceConfig) && inferenceConfig),
    ...(isObject(toolConfig) && { tools: toolConfig.tools }),
  };
  const kept = Object.entries(all)
    .map(([name, value]): [string, unknown] => [names[name] ?? name, value])
    .filter(([name, value]) => known.has(name) && value !== null && value !== undefined)
    .map(([name, value]): [string, unknown] => [
      name,
      name === 'tools' && Array.isArray(value) ? value.map(toTool) : value,
    ]);
  // Anthropic and Bedrock write the choice of a tool in shapes of their own.
  return Object.fromEntries(kept.filter(([name, value]) => name !== 'tool_choice' || !isForeign(value)));
};

const isForeign = (choice: unknown): boolean => isObject(choice) && !isObject(choice.function);

/** A message as it is edited. */
export interface DraftMessage {
  /** Tells the messages of a draft apart. */
  readonly key: number;
  readonly role: string;
  readonly text: string;
  /** URLs of images. */
  readonly images: readonly string[];
  /** The other fields of the message as JSON, such as `tool_calls`; empty for none. */
  readonly extra: string;
}

/** A request as it is edited. */
export interface Draft {
  readonly model: string;
  readonly messages: readonly DraftMessage[];
  /** The other fields of the request, as JSON. */
  readonly parameters: string;
  /** The values of variables, if the messages are a prompt's. @default - the messages are as they stand */
  readonly values?: Readonly<Record<string, string>> | undefined;
}

let count = 0;

/** A message with nothing in it yet, or with what is given. */
export const draftMessage = (fields: Partial<Omit<DraftMessage, 'key'>> = {}): DraftMessage => ({
  role: 'user',
  text: '',
  images: [],
  extra: '',
  ...fields,
  key: ++count,
});

const toJson = (value: unknown): string => JSON.stringify(value, null, 2);

const isText = (value: unknown): value is string => typeof value === 'string';

const toToolCall = (part: ContentPart & { kind: 'call' }, at: number): object => ({
  id: part.id ?? `call_${at + 1}`,
  type: 'function',
  function: {
    name: part.name,
    arguments: isText(part.input) ? part.input : JSON.stringify(part.input ?? {}),
  },
});

/** A message in OpenAI's terms. Each result of a tool is a message of its own. */
export const toDraftMessages = ({ role, name, parts }: Message): DraftMessage[] => {
  const results = parts.flatMap((part) => (part.kind === 'result' ? [part] : []));
  const rest = parts.filter(({ kind }) => kind !== 'result' && kind !== 'thinking');
  const calls = rest.flatMap((part) => (part.kind === 'call' ? [part] : []));
  const texts = rest.flatMap((part) =>
    part.kind === 'text' ? [part.text] : part.kind === 'other' ? [toJson(part.value)] : [],
  );
  const extra = {
    ...(name !== undefined && { name }),
    ...(calls.length > 0 && { tool_calls: calls.map(toToolCall) }),
  };
  const own = draftMessage({
    role,
    text: texts.join('\n\n'),
    images: rest.flatMap((part) => (part.kind === 'image' ? [part.url] : [])),
    extra: Object.keys(extra).length > 0 ? toJson(extra) : '',
  });
  const answers = results.map(({ id, output }) =>
    draftMessage({
      role: 'tool',
      text: isText(output) ? output : JSON.stringify(output),
      extra: toJson({ tool_call_id: id ?? '' }),
    }),
  );
  return rest.length > 0 || parts.length === 0 ? [own, ...answers] : answers;
};

/**
 * The request of a recorded model call in the shape of OpenAI's chat, whichever shape it came in.
 *
 * @returns undefined if the call has no conversation, or is nested too deeply
 */
export const toDraft = (call: Pick<Call, 'inputs' | 'output'>): Draft | undefined => {
  try {
    const conversation = parseConversation(call);
    const inputs: Fields = isObject(call.inputs) ? call.inputs : {};
    if (!conversation) return undefined;
    return {
      model: isText(inputs.model) ? inputs.model : isText(inputs.modelId) ? inputs.modelId : '',
      messages: conversation.sent.flatMap(toDraftMessages),
      parameters: toJson(toParameters(inputs)),
    };
  } catch {
    return undefined;
  }
};

/** A conversation that has not begun. */
export const emptyDraft = (): Draft => ({ model: '', messages: [draftMessage()], parameters: '{}' });

/** The body of a request, or what is wrong with the draft. */
type DraftedRequest = { readonly body: Fields & { readonly model: string } } | { readonly problem: string };

/** An object in JSON; undefined if it is none. */
const objectIn = (text: string): Fields | undefined => {
  if (text.trim() === '') return {};
  const value = jsonIn(text);
  return isObject(value) ? value : undefined;
};

const toContent = ({ text, images }: DraftMessage, hasCalls: boolean): unknown => {
  if (images.length > 0)
    return [
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...images.map((url) => ({ type: 'image_url', image_url: { url } })),
    ];
  return text === '' && hasCalls ? null : text;
};

/** Messages as OpenAI's chat takes them, or what is wrong with one. */
export const toMessages = (
  messages: readonly DraftMessage[],
): { readonly messages: readonly Fields[] } | { readonly problem: string } => {
  if (messages.length === 0) return { problem: 'Write at least one message.' };
  const written: Fields[] = [];
  for (const [at, message] of messages.entries()) {
    const extra = objectIn(message.extra);
    if (!extra) return { problem: `The other fields of message ${at + 1} are not a JSON object.` };
    const content = toContent(message, extra.tool_calls !== undefined);
    written.push({ role: message.role, content, ...extra });
  }
  return { messages: written };
};

/** The parameters of a draft; undefined if they are not a JSON object. */
export const parametersIn = ({ parameters }: Pick<Draft, 'parameters'>): Fields | undefined =>
  objectIn(parameters);

/** A draft's parameters with one changed, or left out if it is undefined. */
export const withParameter = (draft: Draft, name: string, value: unknown): string => {
  const { [name]: _before, ...others } = parametersIn(draft) ?? {};
  return toJson(value === undefined ? others : { ...parametersIn(draft), [name]: value });
};

/** What a draft has of templates: texts, and the other fields of messages as far as they are JSON. */
const toTemplates = (messages: readonly DraftMessage[]): PromptMessage[] =>
  messages.map(({ role, text, extra }) => ({ ...objectIn(extra), role, content: text }));

/** The variables of a draft that has the messages of a prompt, in the order in which they come. */
export const variablesOf = ({ messages, values }: Draft): readonly string[] =>
  values ? variablesIn({ messages: toTemplates(messages) }) : [];

/** The values that the variables of a draft had in a recorded call, as far as they are found there. */
export const valuesOfCall = (draft: Draft, call: Pick<Call, 'inputs' | 'output'>) =>
  valuesIn(
    { messages: toTemplates(draft.messages) },
    variablesOf(draft),
    call.inputs,
    toTemplates(toDraft(call)?.messages ?? []),
  );

/** A draft with its variables filled in: what is sent. Those without a value stay as they are. */
export const fillDraft = ({ values, ...draft }: Draft): Draft => {
  if (!values) return draft;
  const fill = (message: PromptMessage): PromptMessage => {
    const { filled } = fillPrompt({ messages: [message] }, values);
    return ('messages' in filled ? filled.messages[0] : undefined) ?? message;
  };
  return {
    ...draft,
    messages: draft.messages.map((message) => {
      const others = objectIn(message.extra);
      return {
        ...message,
        text: String(fill({ content: message.text }).content),
        extra: message.extra === '' || !others ? message.extra : toJson(fill(others)),
      };
    }),
  };
};

/** The request that a draft means. It streams, and asks for its usage. */
export const toRequest = (draft: Draft): DraftedRequest => {
  const empty = variablesOf(draft).find((name) => !draft.values?.[name]);
  if (empty !== undefined) return { problem: `Enter a value for the variable ${empty}.` };
  const { model, messages, parameters } = fillDraft(draft);
  if (model.trim() === '') return { problem: 'Name a model.' };
  const others = objectIn(parameters);
  if (!others) return { problem: 'The parameters are not a JSON object.' };
  const written = toMessages(messages);
  if ('problem' in written) return written;
  const stream = { stream: true, stream_options: { include_usage: true } };
  return { body: { ...others, model: model.trim(), messages: written.messages, ...stream } };
};
