import { fillPrompt, type PromptContent, variablesIn } from '../../../api/shared/prompt-variables.ts';

/*
 * Prompts as a program has them: what the service answered, or what the program falls back to.
 */

/** A message of a prompt, as chat models take it. */
export type PromptMessage = Readonly<Record<string, unknown>>;

/** Values of variables: texts, or anything else, which stands in the prompt as JSON. */
export type PromptValues = Readonly<Record<string, unknown>>;

/** What goes with a prompt: `model`, `parameters`, `tools`, `response_schema`, and whatever else it has. */
export type PromptConfig = Readonly<Record<string, unknown>>;

/** What every prompt says of itself. */
export interface PromptFacts {
  readonly name: string;
  /** 0, 1, 2, … in the order in which the versions were made; null of a fallback. */
  readonly versionIndex: number | null;
  /** The digest of this version; null of a fallback. */
  readonly digest: string | null;
  /** The labels of this version when it was read, but for `latest`. */
  readonly labels: readonly string[];
  /** The names of the variables, in the order in which they come. */
  readonly variables: readonly string[];
  readonly config: PromptConfig;
}

/** A prompt of messages. */
export interface MessagesPrompt extends PromptFacts {
  readonly kind: 'messages';
  readonly messages: readonly PromptMessage[];
  /**
   * The messages with values in the place of variables. Values without a variable are left out.
   *
   * `Message` is the type that your model's client takes. It is not checked.
   *
   * @throws PromptError that names the variables without a value
   */
  compile<Message = PromptMessage>(values?: PromptValues): Message[];
}

/** A prompt that is one text. */
export interface TextPrompt extends PromptFacts {
  readonly kind: 'text';
  readonly text: string;
  /**
   * The text with values in the place of variables. Values without a variable are left out.
   *
   * @throws PromptError that names the variables without a value
   */
  compile(values?: PromptValues): string;
}

export type Prompt = MessagesPrompt | TextPrompt;

/** What a program uses until the service has answered: messages, perhaps with their `config`. */
export type MessagesFallback =
  | readonly PromptMessage[]
  | { readonly messages: readonly PromptMessage[]; readonly config?: PromptConfig };

/** What a program uses until the service has answered: a text, perhaps with its `config`. */
export type TextFallback = string | { readonly text: string; readonly config?: PromptConfig };

/** What is wrong with a prompt, its variables, or the settings of the client. */
export class PromptError extends Error {
  override readonly name = 'PromptError';
}

/** What marks the calls of a compiled prompt; see opentelemetry.ts. */
export type Mark = Pick<PromptFacts, 'name' | 'versionIndex'>;

/** Where a mark is put, if there is a place: by this symbol, as bundlers may have two copies of this module. */
export const marking = Symbol.for('pennytrace.prompt.marking');

export type MarkingPlace = { [marking]?: { mark(prompt: Mark): void } };

const compiled = (facts: PromptFacts, content: PromptContent, values: PromptValues): PromptContent => {
  // The caller may change what it gets, and what lies deeper is not copied while it is filled in.
  const { filled, missing } = fillPrompt(structuredClone(content), values);
  if (missing.length > 0) {
    const version = facts.versionIndex === null ? 'its fallback' : `version ${facts.versionIndex}`;
    const lacking = missing.map((name) => `{${name}}`).join(', ');
    throw new PromptError(`the prompt ${facts.name} (${version}) needs a value for ${lacking}`);
  }
  (globalThis as MarkingPlace)[marking]?.mark(facts);
  return filled;
};

const makePrompt = (own: Omit<PromptFacts, 'variables'>, content: PromptContent): Prompt => {
  const facts = { ...own, variables: variablesIn(content) };
  const fill = (values: PromptValues = {}): PromptContent => compiled(facts, content, values);
  return 'text' in content
    ? { kind: 'text', ...facts, ...content, compile: (values) => (fill(values) as { text: string }).text }
    : {
        kind: 'messages',
        ...facts,
        ...content,
        compile: <Message>(values?: PromptValues) =>
          (fill(values) as { messages: readonly PromptMessage[] }).messages as Message[],
      };
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isMessages = (value: unknown): value is PromptMessage[] =>
  Array.isArray(value) && value.every(isObject);

/**
 * The prompt that an answer of `GET /prompt/read` is.
 *
 * @throws Error if it is none, such as the page of a proxy
 */
export const parsePrompt = (answer: string): Prompt => {
  const parsed: unknown = JSON.parse(answer);
  const { name, version_index, digest, labels, config, messages, text } = isObject(parsed) ? parsed : {};
  const content = isMessages(messages) ? { messages } : typeof text === 'string' ? { text } : undefined;
  if (
    typeof name !== 'string' ||
    !Number.isSafeInteger(version_index) ||
    typeof digest !== 'string' ||
    !content
  )
    throw new Error('it is no prompt');
  const facts = {
    name,
    versionIndex: version_index as number,
    digest,
    labels: Array.isArray(labels) ? labels.map(String) : [],
    config: isObject(config) ? config : {},
  };
  return makePrompt(facts, content);
};

/** The prompt that a program falls back to. */
export const fallbackPrompt = (name: string, fallback: MessagesFallback | TextFallback): Prompt => {
  const { config = {}, ...content } =
    typeof fallback === 'string'
      ? { text: fallback }
      : 'text' in fallback || 'messages' in fallback
        ? fallback
        : { messages: fallback };
  return makePrompt({ name, versionIndex: null, digest: null, labels: [], config }, content);
};
