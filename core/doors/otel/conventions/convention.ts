import type { CallSource } from '../../../../api/shared/header-fields.ts';
import type { JsonObject, JsonValue } from '../../../../foundations/wire/index.ts';
import type { Message } from '../messages/message.ts';
import { type Dict, first, get, isDict, present, structured, unquoted } from '../values.ts';
import type { Counts, SpanReader } from './reader.ts';

/** What a span stands for, as `attributes.kind` has it. */
export type Kind =
  | 'agent'
  | 'workflow'
  | 'model'
  | 'tool'
  | 'embedding'
  | 'retriever'
  | 'plan'
  | 'memory'
  | 'guardrail'
  | 'evaluator'
  | 'other';

/** Something that a program names: an agent, or the prompt of a request. */
export interface Named {
  readonly name: string;
  readonly id?: string;
  readonly version?: string;
}

/** The keys of what is known of something that has a name, the best first. */
export interface NameKeys {
  readonly name: readonly string[];
  readonly id?: readonly string[];
  readonly version?: readonly string[];
}

/**
 * Tokens and requests of one model, under the names of `summary.usage`: whole numbers from 0. What
 * the span does not say is left out, and so are cached tokens of 0.
 */
export interface Usage extends JsonObject {
  readonly requests: number;
  /** All tokens of the prompt, those read from and written to a cache included. */
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly total_tokens?: number;
  readonly cache_read_input_tokens?: number;
  readonly cache_creation_input_tokens?: number;
  /** Says, as OpenAI does, that the cached tokens are among `input_tokens` and not beside them. */
  readonly input_tokens_details?: { readonly cached_tokens: number };
  readonly output_tokens_details?: { readonly reasoning_tokens: number };
}

export interface UsageByModel extends JsonObject {
  [model: string]: Usage;
}

/** Fields of `inputs`. */
export type Fields = Record<string, unknown>;

/** The keys of attributes that can hold an id, the best first, or how to find it. */
export type IdSource = readonly string[] | ((span: SpanReader) => string | undefined);

/**
 * The names under which one instrumentation reports what a call is made of. Each method reads the
 * span through the reader, which notes what was used. undefined means that this convention
 * does not know; then the next one is asked.
 */
export interface Convention {
  /** Whether the span holds names of this convention. The other methods are only asked then. */
  matches(span: SpanReader): boolean;
  kind?(span: SpanReader): Kind | undefined;
  /**
   * The sources of `inputs`. A model call takes each field from the first convention that has it.
   * Any other call takes all its inputs from the first convention that has one.
   */
  inputs?(span: SpanReader, kind: Kind): readonly (() => Fields | undefined)[];
  output?(span: SpanReader, kind: Kind): unknown;
  /** Asked of calls to a model or an embedding model only. */
  usage?(span: SpanReader): Counts | undefined;
  /** The conversation. */
  readonly thread?: IdSource;
  /** The user of the traced program. */
  readonly user?: IdSource;
  /** The keys of what the program says of itself, the best first; of resources as well. */
  readonly labels?: { readonly [name in keyof Labels]?: readonly string[] };
  /**
   * The agent whose run the span is, or that runs it.
   *
   * @param kind an agent's own run may be named by its span alone
   */
  agent?(span: SpanReader, kind: Kind): Named | undefined;
  /** The tool's own name, asked of calls of tools only; with its MCP server before it, if that is said. */
  tool?(span: SpanReader): string | undefined;
  /** The prompt that a request was made of. */
  prompt?(span: SpanReader): Named | undefined;
  /** What a reader calls the span, where its name is the same for many. */
  name?(span: SpanReader): string | undefined;
  /** An error that is reported elsewhere than in the span's status. */
  exception?(span: SpanReader): string | undefined;
  /** The question that ended the span, if it ended because a person is waited for. */
  wait?(span: SpanReader, kind: Kind): Wait | undefined;
  /** What a person said, if the span goes on after a wait. */
  resume?(span: SpanReader, kind: Kind): Resume | undefined;
}

/** A question to a person. */
export interface Wait {
  /** The names by which an answer refers to the question. Without one, any answer of the thread is meant. */
  readonly keys: readonly string[];
  /** Whether nobody else has these names, in whatever thread. @default false */
  readonly unique?: boolean;
  /** What was asked: the output, if the span reports none. */
  readonly asked?: JsonValue;
  /** Whether it is a question only if the agent's run has nothing behind it. @default false */
  readonly isLast?: boolean;
  /** Whether only an answer shows that somebody was asked. @default false */
  readonly maybe?: boolean;
}

/** A person's answer, by which a run goes on. */
export interface Resume {
  /** The names of the questions that it answers; none if it answers whatever was asked. */
  readonly keys: readonly string[];
  /** As of the question. */
  readonly unique?: boolean;
  /** What the person said: one value, or one by each of the keys. */
  readonly answer?: JsonValue;
  /** The same as inputs of the call; undefined if those stay. */
  readonly inputs?: JsonObject;
}

/** What a program says of itself: `attributes.environment` and so on. */
export interface Labels {
  /** Where it runs. */
  readonly environment?: string;
  /** Its version. */
  readonly release?: string;
  /** Who made it, if it is not production. */
  readonly source?: CallSource;
  readonly tags?: readonly string[];
}

/** What a span's attributes and events say, whatever the convention they follow. Pure JSON. */
export interface Translation {
  readonly kind: Kind;
  /** `{}` if the span reports none. */
  readonly inputs: JsonObject;
  /** null if the span reports none. */
  readonly output: JsonValue;
  /** By model; undefined unless this span is the request to the model. */
  readonly usage: UsageByModel | undefined;
  /** The provider's id of the answer, of a request that counts tokens. */
  readonly responseId?: string;
  /** Whether no convention knows the span, as one of a server: a session that it names gives way to others. */
  readonly isPlain?: boolean;
  /** Whether the span around it is an agent's run. */
  readonly isAgentStep?: boolean;
  readonly threadId: string | undefined;
  /** The user of the traced program. */
  readonly userId: string | undefined;
  /** The agent whose run the span is, or that runs it. */
  readonly agent?: Named;
  /** The canonical name of the tool that is called: `lookup`, or `orders.lookup` of an MCP server. */
  readonly tool?: string;
  /** The prompt that a request was made of. */
  readonly prompt?: Named;
  /** What a reader calls the span, if that is not its name. */
  readonly displayName?: string;
  /** An error that is reported elsewhere than in the span's status or its exception event. */
  readonly exception?: string;
  readonly wait?: Wait;
  readonly resume?: Resume;
  /** Keys of attributes that went to `inputs`, `output` or `usage`. */
  readonly usedKeys: ReadonlySet<string>;
  /** Indices of span events that became messages. */
  readonly usedEvents: ReadonlySet<number>;
}

/** The words by which frameworks name kinds of spans, in lower case. */
const kindWords: Readonly<Record<string, Kind>> = {
  llm: 'model',
  chat_model: 'model',
  generation: 'model',
  model: 'model',
  'background-model': 'model',
  embedding: 'embedding',
  embedder: 'embedding',
  agent: 'agent',
  tool: 'tool',
  'tool.v2': 'tool',
  retriever: 'retriever',
  reranker: 'retriever',
  workflow: 'workflow',
  plan: 'plan',
  memory: 'memory',
  guardrail: 'guardrail',
  evaluator: 'evaluator',
  chain: 'other',
  task: 'other',
  span: 'other',
  event: 'other',
  prompt: 'other',
  parser: 'other',
  unknown: 'other',
};

/** The kind that a word names, whatever its case; undefined for words that the table lacks. */
export const kindNamed = (word: string | undefined, table = kindWords): Kind | undefined => {
  const key = word?.toLowerCase();
  return key !== undefined && Object.hasOwn(table, key) ? table[key] : undefined;
};

/** Names of a conversation and of a user in the metadata that programs give to frameworks. */
export const sessionNames: readonly string[] = [
  'session_id',
  'thread_id',
  'conversation_id',
  'chat_id',
  'sessionId',
  'threadId',
  'conversationId',
  'chatId',
  'session.id',
];
export const userNames: readonly string[] = ['user_id', 'userId', 'user.id', 'user'];

/** Keys of labels in the metadata that programs give to frameworks. */
export const labelsIn = (prefix: string) => ({
  environment: [`${prefix}environment`],
  release: [`${prefix}release`],
  tags: [`${prefix}tags`],
});

/** Keys with a prefix before each name. */
export const prefixed = (prefix: string, names: readonly string[]): string[] =>
  names.map((name) => prefix + name);

/** Reads what is known of something by its keys; undefined without a name. */
export const namedBy =
  ({ name, id = [], version = [] }: NameKeys) =>
  (span: SpanReader): Named | undefined => {
    const found = span.id(...name);
    if (found === undefined) return undefined;
    const ownId = span.id(...id);
    const ownVersion = span.id(...version);
    return {
      name: found,
      ...(ownId !== undefined && { id: ownId }),
      ...(ownVersion !== undefined && { version: ownVersion }),
    };
  };

/** A name as something that has no more than it. */
export const asNamed = (name: string | undefined): Named | undefined =>
  name === undefined ? undefined : { name };

/** Whether the call is a request to a model. */
export const isRequest = (kind: Kind): boolean => kind === 'model' || kind === 'embedding';

/** Messages as a field of `inputs` or as `output`; undefined for none. */
export const asMessages = (messages: readonly Message[] | undefined): Dict | undefined =>
  messages && messages.length > 0 ? { messages } : undefined;

/** Whether a message has content or calls of tools. */
export const hasContent = ({ content, tool_calls }: Message): boolean =>
  tool_calls !== undefined ||
  (content !== null && content !== '' && !(Array.isArray(content) && content.length === 0));

/** Texts of messages: what an embedding model was given. */
export const getTexts = (messages: readonly Message[] | undefined): readonly unknown[] | undefined =>
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
export const parseTools = (value: unknown): readonly unknown[] | undefined => {
  const list = structured(value);
  return Array.isArray(list) && list.length > 0 ? list.map(unquoted) : undefined;
};

/** A field of `inputs`, or undefined when it has no value. */
export const field = (name: string, value: unknown): Dict | undefined => present({ [name]: value });
