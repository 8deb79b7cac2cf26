import type { ExactNumber, JsonObject, JsonValue } from '../../../../foundations/wire/index.ts';
import type { Place, Refusals, Said } from './refusals.ts';

/*
 * A request between the APIs: what any of them can say, with the places where the client said it. Each
 * API has one file that reads it or writes it.
 */

export type Numeral = number | ExactNumber;

/** How long a prefix of the prompt is to be cached. @default - as long as the provider thinks */
export type CacheTtl = '5m' | '1h' | undefined;

interface PartBase {
  readonly at: Place;
  /** Whether the prompt up to here is to be cached. */
  readonly cache?: { readonly ttl: CacheTtl } | undefined;
}

export interface TextPart extends PartBase {
  readonly kind: 'text';
  readonly text: string;
}

export interface ImagePart extends PartBase {
  readonly kind: 'image';
  /** Base64 with its media type, or a URL. */
  readonly source: { readonly data: string; readonly mediaType: string } | { readonly url: string };
}

export interface DocumentPart extends PartBase {
  readonly kind: 'document';
  /** Base64 with its media type, a text, several texts, or a URL. */
  readonly source:
    | { readonly data: string; readonly mediaType: string }
    | { readonly text: string }
    | { readonly texts: readonly string[] }
    | { readonly url: string };
  readonly title?: string | undefined;
  readonly context?: Said<string> | undefined;
  /** Whether the answer is to cite it. */
  readonly citations?: Said<boolean> | undefined;
}

export interface AudioPart extends PartBase {
  readonly kind: 'audio';
  /** Base64. */
  readonly data: string;
  readonly format: string;
}

export interface SearchPart extends PartBase {
  readonly kind: 'search';
  readonly source: string;
  readonly title: string;
  readonly texts: readonly string[];
  readonly citations?: Said<boolean> | undefined;
}

/** A call of a tool by the model. */
export interface ToolCallPart extends PartBase {
  readonly kind: 'call';
  readonly id: string;
  readonly name: string;
  readonly input: JsonValue;
}

/** What a tool gave. */
export interface ToolResultPart extends PartBase {
  readonly kind: 'result';
  readonly id: string;
  readonly parts: readonly ContentPart[];
  readonly isError: boolean;
}

export interface ThinkingPart extends PartBase {
  readonly kind: 'thinking';
  readonly text: string;
  /** The model's proof that the text is its own; '' for none. */
  readonly signature: string;
}

export interface RedactedPart extends PartBase {
  readonly kind: 'redacted';
  readonly data: string;
}

export type ContentPart =
  | TextPart
  | ImagePart
  | DocumentPart
  | AudioPart
  | SearchPart
  | ToolCallPart
  | ToolResultPart
  | ThinkingPart
  | RedactedPart;

export interface Turn {
  readonly role: 'system' | 'user' | 'assistant';
  readonly at: Place;
  readonly parts: readonly ContentPart[];
}

export interface Tool extends PartBase {
  readonly name: string;
  readonly description?: string | undefined;
  readonly schema: JsonObject;
  readonly strict?: Said<boolean> | undefined;
}

export type ToolChoice =
  | { readonly kind: 'auto' | 'any' | 'none' }
  | { readonly kind: 'tool'; readonly name: string };

/** How much a model reasons. OpenAI's `none` is no thinking. */
export type Effort = 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

export const efforts: readonly Effort[] = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

export const isEffort = (text: string): text is Effort => efforts.some((effort) => effort === text);

export type Thinking =
  /** As much as the effort says, in the way that the model knows. */
  | { readonly type: 'asked' }
  | { readonly type: 'enabled'; readonly budget: Numeral; readonly display?: string | undefined }
  | { readonly type: 'adaptive'; readonly display?: string | undefined }
  | { readonly type: 'disabled' }
  | { readonly type: 'between_tools' };

export interface Format {
  readonly schema: JsonObject;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
}

export interface Prompt {
  readonly model: string;
  /** The system prompt at the beginning. */
  readonly system: readonly TextPart[];
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly toolChoice?: Said<ToolChoice> | undefined;
  /** Whether at most one tool may be called at a time. */
  readonly serial?: Said<true> | undefined;
  readonly maxTokens?: Said<Numeral> | undefined;
  readonly temperature?: Said<Numeral> | undefined;
  readonly topP?: Said<Numeral> | undefined;
  readonly topK?: Said<Numeral> | undefined;
  readonly stops?: Said<readonly string[]> | undefined;
  readonly format?: Said<Format> | undefined;
  readonly effort?: Said<Effort> | undefined;
  readonly thinking?: Said<Thinking> | undefined;
  /** An id of the end user. */
  readonly user?: string | undefined;
  /** The class of service, by OpenAI's names. */
  readonly tier?: Said<string> | undefined;
  /** Whether the whole prompt is to be cached. */
  readonly cache?: { readonly ttl: CacheTtl } | undefined;
  readonly streams: boolean;
  /** Whether a streamed chat is to end with its usage. */
  readonly includesUsage: boolean;
}

/** The texts among parts. All else is refused. */
export const onlyText = (parts: readonly ContentPart[], refusals: Refusals): TextPart[] =>
  parts.flatMap((part) => {
    if (part.kind === 'text') return [part];
    refusals.refuse(part.at, 'only text can stand here');
    return [];
  });

/** The names of all tools that were called, in order of their first call. */
export const calledTools = ({ turns }: Prompt): string[] => [
  ...new Set(
    turns.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'call' ? [part.name] : []))),
  ),
];

/** Whether a tool was called or has given something. */
export const hasToolParts = ({ turns }: Prompt): boolean =>
  turns.some(({ parts }) => parts.some(({ kind }) => kind === 'call' || kind === 'result'));

/** Puts turns of one role that follow each other into one. */
export const joinTurns = (turns: readonly Turn[]): Turn[] => {
  const joined: Turn[] = [];
  for (const turn of turns) {
    const last = joined.at(-1);
    if (last?.role === turn.role)
      joined[joined.length - 1] = { ...last, parts: [...last.parts, ...turn.parts] };
    else joined.push(turn);
  }
  return joined;
};
