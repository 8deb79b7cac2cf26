/** What a span stands for, as `attributes.kind` has it. */
export type Kind = 'agent' | 'model' | 'tool' | 'embedding' | 'retriever' | 'other';

/**
 * Tokens and requests of one model, under the names of `summary.usage`. Whole numbers of at least 0.
 * A count that the span does not say is left out.
 */
export interface Usage {
  readonly requests: number;
  /** All tokens of the prompt, those read from or written to a cache included. */
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly total_tokens?: number;
  readonly cache_read_input_tokens?: number;
  readonly cache_creation_input_tokens?: number;
  readonly reasoning_tokens?: number;
}

/** What a span's attributes and events say, whatever the convention they follow. Pure JSON. */
export interface Translation {
  readonly kind: Kind;
  /** `{}` when nothing is said. */
  readonly inputs: Record<string, unknown>;
  /** null when nothing is said. */
  readonly output: unknown;
  /** By model; undefined unless this span is the request to the model. */
  readonly usage: Record<string, Usage> | undefined;
  readonly threadId: string | undefined;
  readonly userId: string | undefined;
  /** An error that a convention tells elsewhere than in the span's status. */
  readonly exception?: string;
  /** Keys of attributes that went to `inputs`, `output` or `usage`. */
  readonly usedKeys: ReadonlySet<string>;
  /** Indices of span events that became messages. */
  readonly usedEvents: ReadonlySet<number>;
}
