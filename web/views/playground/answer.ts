import { isFields } from '../trace/messages/message.ts';

/** An answer as far as it came. */
export interface Answer {
  readonly text: string;
  /** What the model thought before, if it says so. */
  readonly thinking: string;
  /** Calls of tools, in OpenAI's shape. */
  readonly toolCalls: readonly ToolCall[];
  readonly finish: string | undefined;
  readonly tokens: { readonly input: number; readonly output: number } | undefined;
  /** What the provider says went wrong. */
  readonly error: string | undefined;
}

interface ToolCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

export const noAnswer: Answer = {
  text: '',
  thinking: '',
  toolCalls: [],
  finish: undefined,
  tokens: undefined,
  error: undefined,
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** Puts a piece of a tool call to the call that it belongs to. */
const withPiece = (calls: readonly ToolCall[], piece: unknown): readonly ToolCall[] => {
  if (!isFields(piece)) return calls;
  const at = typeof piece.index === 'number' ? piece.index : calls.length;
  // Providers count from 0; anything else would make a list with holes.
  if (at < 0 || at > calls.length) return calls;
  const { name, arguments: written } = isFields(piece.function) ? piece.function : {};
  const before = calls[at];
  const call: ToolCall = {
    id: before?.id || textOf(piece.id),
    function: {
      name: before?.function.name || textOf(name),
      arguments: (before?.function.arguments ?? '') + textOf(written),
    },
  };
  return [...calls.slice(0, at), call, ...calls.slice(at + 1)];
};

const messageOf = (error: unknown): string =>
  isFields(error) ? textOf(error.message) || JSON.stringify(error) : textOf(error) || 'an unknown error';

/**
 * Adds a chunk of a streamed chat to an answer, or takes a whole answer as one chunk. Only the
 * first choice is shown.
 */
export const withChunk = (answer: Answer, chunk: unknown): Answer => {
  if (!isFields(chunk)) return answer;
  const { choices, usage, error } = chunk;
  const [choice] = Array.isArray(choices) ? (choices as unknown[]) : [];
  const of = isFields(choice) ? choice : {};
  const delta = isFields(of.delta) ? of.delta : isFields(of.message) ? of.message : {};
  const pieces = Array.isArray(delta.tool_calls) ? (delta.tool_calls as unknown[]) : [];
  return {
    text: answer.text + textOf(delta.content) + textOf(delta.refusal),
    thinking: answer.thinking + (textOf(delta.reasoning_content) || textOf(delta.reasoning)),
    toolCalls: pieces.reduce<readonly ToolCall[]>(withPiece, answer.toolCalls),
    finish: textOf(of.finish_reason) || answer.finish,
    tokens: isFields(usage)
      ? { input: numberOf(usage.prompt_tokens), output: numberOf(usage.completion_tokens) }
      : answer.tokens,
    error: error === undefined || error === null ? answer.error : messageOf(error),
  };
};
