import type { SpanReader } from './reader.ts';

/** What a span stands for, as `attributes.kind` has it. */
export type Kind = 'agent' | 'model' | 'tool' | 'embedding' | 'retriever' | 'other';

/**
 * Tokens and requests of one model, under the names of `summary.usage`: whole numbers from 0. What
 * the span does not say is left out, and so are cached tokens of 0.
 */
export interface Usage {
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

/** Tokens as a convention counts them, with the model that it names. */
export interface Counts {
  /** The model that answered, or was asked. */
  readonly model: string | undefined;
  readonly input?: number | undefined;
  readonly output?: number | undefined;
  readonly total?: number | undefined;
  /** Tokens of the prompt that were read from a cache. */
  readonly cacheRead?: number | undefined;
  /** Tokens of the prompt that were written to a cache. */
  readonly cacheWrite?: number | undefined;
  readonly reasoning?: number | undefined;
}

/** Fields of `inputs`. */
export type Fields = Record<string, unknown>;

/**
 * The names under which one instrumentation reports what a call is made of. Each method reads the
 * span through the reader, which notes what was used. undefined means that the span says nothing
 * of it by this convention; then the next one is asked.
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
  thread?(span: SpanReader): string | undefined;
  user?(span: SpanReader): string | undefined;
  /** An error that is told elsewhere than in the span's status. */
  exception?(span: SpanReader): string | undefined;
}

/** What a span's attributes and events say, whatever the convention they follow. Pure JSON. */
export interface Translation {
  readonly kind: Kind;
  /** `{}` when nothing is said. */
  readonly inputs: Fields;
  /** null when nothing is said. */
  readonly output: unknown;
  /** By model; undefined unless this span is the request to the model. */
  readonly usage: Readonly<Record<string, Usage>> | undefined;
  readonly threadId: string | undefined;
  /** The user of the traced program. */
  readonly userId: string | undefined;
  /** An error that is told elsewhere than in the span's status or its exception event. */
  readonly exception?: string;
  /** Keys of attributes that went to `inputs`, `output` or `usage`. */
  readonly usedKeys: ReadonlySet<string>;
  /** Indices of span events that became messages. */
  readonly usedEvents: ReadonlySet<number>;
}
