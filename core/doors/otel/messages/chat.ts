import { asText, type Dict, first, get, isDict, present, structured } from '../values.ts';
import { type Message, toMessages } from './message.ts';

/** Messages of a value that holds a list of them, as a list or as JSON text; else undefined. */
export const messageList = (value: unknown, role: string): readonly Message[] | undefined => {
  const list = structured(value);
  if (list === undefined || list === null || list === '') return undefined;
  if (!Array.isArray(list)) return toMessages(list, role);
  // LangChain sends batches of one conversation.
  const [only] = list;
  const flat = list.length === 1 && Array.isArray(only) && typeof only[0] !== 'string' ? only : list;
  return flat.flatMap((item: unknown) => toMessages(item, role));
};

/** Instructions that are sent beside the messages, as a message before them. */
export const systemMessages = (value: unknown): readonly Message[] => {
  const system = structured(value);
  if (system === undefined || system === null || system === '') return [];
  if (typeof system === 'string') return [{ role: 'system', content: system }];
  const parts = Array.isArray(system) ? system : [system];
  return parts.flatMap((part) =>
    isDict(part) && (get(part, 'role') !== undefined || get(part, 'parts') !== undefined)
      ? toMessages({ ...part, role: 'system' }, 'system')
      : toMessages({ role: 'system', content: [part] }, 'system'),
  );
};

/** Names of the conversation in a request's body, by API. */
const conversation = ['messages', 'contents', 'input', 'prompt', 'prompts', 'chat_history'] as const;
const instructions = ['system', 'instructions', 'system_instruction', 'systemInstruction'] as const;
const configured = ['config', 'generation_config', 'generationConfig'] as const;

/** Marks inputs that have no conversation: their one message is all that was sent. */
export const madeUp = Symbol('made up');

/**
 * The inputs of a model call from the body of its request, whichever API it is for. The API is chat
 * completions, Responses, Messages, Gemini, Genkit or the AI SDK. A body may also be a plain text
 * or list. A body without a conversation becomes a message, and the inputs are marked as `madeUp`.
 */
export const chatInputs = (value: unknown): Dict | undefined => {
  const body = structured(value);
  if (body === undefined || body === null || body === '') return undefined;
  const key = conversation.find((name) => first(body, name) !== undefined);
  if (!isDict(body)) return { messages: messageList(body, 'user') };
  if (key === undefined)
    return first(body, 'role', 'content', 'kwargs') === undefined
      ? { messages: [{ role: 'user', content: asText(body) }], [madeUp]: true }
      : { messages: messageList(body, 'user') };
  const config = first(body, ...configured);
  const fields = isDict(config) ? config : {};
  const system = first(body, ...instructions) ?? first(fields, ...instructions);
  const drop = new Set<string>([key, ...instructions, ...configured]);
  const rest = Object.entries({ ...body, ...fields }).filter(([name]) => !drop.has(name));
  return {
    messages: [...systemMessages(system), ...(messageList(get(body, key), 'user') ?? [])],
    ...present(Object.fromEntries(rest)),
  };
};

/** Where an answer keeps its messages, by API. */
const answers = [
  'choices',
  'candidates',
  'generations',
  'output',
  'messages',
  'message',
  'content',
  'response',
] as const;

/** The messages of one generation of LangChain: the message, or its text. */
const generation = (value: unknown): unknown =>
  isDict(get(value, 'message')) ? value : (first(value, 'text') ?? value);

/** The AI SDK's and Mastra's result: text and tool calls beside each other. */
const sideBySide = (body: Dict): readonly Message[] | undefined => {
  const text = first(body, 'text');
  const calls = structured(first(body, 'toolCalls'));
  if (typeof text !== 'string' && !Array.isArray(calls)) return undefined;
  return toMessages({ role: 'assistant', content: text ?? null, toolCalls: calls }, 'assistant');
};

/** Whether an item of a list is an answer as an API gave it, and no message. */
const isWholeAnswer = (item: unknown): boolean =>
  first(item, 'role') === undefined &&
  [get(item, 'choices'), get(item, 'candidates'), get(item, 'output')].some(Array.isArray);

/** The messages of an answer, or of a list of answers, whichever API gave them. */
export const answerMessages = (value: unknown): readonly Message[] | undefined => {
  const body = structured(value);
  if (body === undefined || body === null || body === '') return undefined;
  if (Array.isArray(body) && body.length > 0 && body.every(isWholeAnswer))
    return body.flatMap((answer) => answerMessages(answer) ?? []);
  if (!isDict(body)) return messageList(Array.isArray(body) ? body : String(body), 'assistant');
  if (first(body, 'role', 'parts', 'kwargs') !== undefined) return toMessages(body, 'assistant');
  const direct = sideBySide(body);
  if (direct) return direct;
  for (const key of answers) {
    const found = structured(first(body, key));
    if (found === undefined) continue;
    if (key === 'choices' || key === 'candidates') return listed(found).flatMap((item) => choice(item));
    if (key === 'generations')
      return listed(found)
        .flat()
        .flatMap((item) => messageList(generation(item), 'assistant') ?? []);
    if (key === 'content' && Array.isArray(found))
      return toMessages({ ...body, role: 'assistant' }, 'assistant');
    return isDict(found) && first(found, 'role', 'content', 'parts') === undefined
      ? answerMessages(found)
      : messageList(found, 'assistant');
  }
  return [{ role: 'assistant', content: asText(body) }];
};

const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

/** One choice of an answer: `{message}`, Gemini's `{content: {parts}}`, or `{text}`. */
const choice = (item: unknown): readonly Message[] => {
  const content = get(item, 'content');
  return isDict(content)
    ? toMessages({ ...content, ...finish(item) }, 'assistant')
    : toMessages(item, 'assistant');
};

const finish = (item: unknown): Dict => {
  const reason = first(item, 'finish_reason', 'finishReason');
  return typeof reason === 'string' ? { finish_reason: reason } : {};
};
