import { type Dict, get, isDict } from '../values.ts';
import { type Message, toMessages } from './message.ts';
import { className, fromRepr } from './python.ts';

/** LlamaIndex has a class of the same name, with other fields. */
const isMessage = (value: unknown): value is Dict =>
  isDict(value) && value[className] === 'ChatMessage' && Array.isArray(value._content);

/** A part of a message, as the messages' reader knows it. */
const toPart = (part: unknown): unknown => {
  switch (get(part, className)) {
    case 'TextContent':
      return { type: 'text', text: get(part, 'text') };
    case 'ToolCall':
      return {
        type: 'tool_call',
        name: get(part, 'tool_name'),
        arguments: get(part, 'arguments'),
        id: get(part, 'id'),
      };
    case 'ToolCallResult': {
      const origin = get(part, 'origin');
      return {
        type: 'tool_call_response',
        response: get(part, 'result'),
        id: get(origin, 'id'),
        name: get(origin, 'tool_name'),
      };
    }
    case 'ReasoningContent':
      return { type: 'reasoning', text: get(part, 'reasoning_text') };
    default:
      return part;
  }
};

/** Haystack's messages as Python writes them; undefined if a list holds anything else. */
export const haystackMessages = (list: unknown): readonly Dict[] | undefined => {
  if (!Array.isArray(list) || list.length === 0) return undefined;
  const read = list.map((item: unknown) =>
    typeof item === 'string' && item.startsWith('ChatMessage(') ? fromRepr(item) : undefined,
  );
  return read.every(isMessage) ? read : undefined;
};

/**
 * The messages of a generator. Each has its role, its texts, and the tools that it calls or whose
 * result it is.
 */
export const messagesOfHaystack = (list: readonly Dict[], role: string): readonly Message[] =>
  list.flatMap((message) => {
    const { _role, _content, _name, _meta } = message;
    const content = Array.isArray(_content) ? _content.map(toPart) : null;
    return toMessages(
      { role: _role, content, name: _name, finish_reason: get(_meta, 'finish_reason') },
      role,
    );
  });
