import type { Message } from '../messages/message.ts';
import { type Dict, first, get, isDict, present, structured, unquoted } from '../plain.ts';
import type { Kind } from './convention.ts';

/** Looks a name up, whatever its case; undefined for names that the table lacks. */
export const kindIn = (table: Readonly<Record<string, Kind>>, name: string | undefined): Kind | undefined => {
  const key = name?.toLowerCase();
  return key !== undefined && Object.hasOwn(table, key) ? table[key] : undefined;
};

/** Whether the call is a request to a model. */
export const isRequest = (kind: Kind): boolean => kind === 'model' || kind === 'embedding';

/** Messages as a field of `inputs` or as `output`; undefined for none. */
export const asMessages = (messages: readonly Message[] | undefined): Dict | undefined =>
  messages && messages.length > 0 ? { messages } : undefined;

/** Whether a message says anything at all. */
export const says = ({ content, tool_calls }: Message): boolean =>
  tool_calls !== undefined ||
  (content !== null && content !== '' && !(Array.isArray(content) && content.length === 0));

/** Texts of messages: what an embedding model was given. */
export const textsOf = (messages: readonly Message[] | undefined): readonly unknown[] | undefined =>
  messages?.map(({ content }) => content);

/** Where decorators write arguments, and a flag that smolagents adds to each of its calls. */
const wrapping: ReadonlySet<string> = new Set(['args', 'kwargs', 'sanitize_inputs_outputs']);

/**
 * The arguments of a function as decorators write them. `{args: [], kwargs: {…}}` is nothing but
 * named arguments.
 */
export const namedArguments = (value: unknown): unknown => {
  const named = get(value, 'kwargs');
  const positional = get(value, 'args');
  const others = isDict(value) ? Object.keys(value).some((key) => !wrapping.has(key)) : true;
  const none = positional === undefined || (Array.isArray(positional) && positional.length === 0);
  return !others && none && isDict(named) ? named : value;
};

/** The content of LangChain's message of a tool; anything else as it is. */
const toolContent = (value: unknown): unknown => {
  const serialized = get(value, 'id');
  if (Array.isArray(serialized) && serialized.at(-1) === 'ToolMessage')
    return first(get(value, 'kwargs'), 'content') ?? value;
  if (get(value, 'type') === 'tool')
    return first(get(value, 'data'), 'content') ?? first(value, 'content') ?? value;
  return value;
};

/**
 * A result that is wrapped: in an object of one field, or in LangChain's message of a tool. The
 * arguments of LangChain's callback may stand beside it (`{output, kwargs}`).
 */
export const unwrappedResult = (value: unknown): unknown => {
  if (!isDict(value) || !Object.hasOwn(value, 'output')) return toolContent(value);
  const beside = Object.keys(value).filter((key) => key !== 'output');
  const isWrapper = beside.length === 0 || (beside.length === 1 && isDict(get(value, 'kwargs')));
  return isWrapper ? toolContent(value.output) : toolContent(value);
};

/** Tools that a request offers. Some libraries write each as JSON text. */
export const toolsOf = (value: unknown): readonly unknown[] | undefined => {
  const list = structured(value);
  return Array.isArray(list) && list.length > 0 ? list.map(unquoted) : undefined;
};

/** A field of `inputs`, or undefined when it has no value. */
export const field = (name: string, value: unknown): Dict | undefined => present({ [name]: value });
