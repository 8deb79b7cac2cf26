import type { Span } from '../span.ts';

/** A span as it was received. */
export interface ReceivedSpan {
  readonly span: Span;
  /**
   * Whether its parent is in another process, as its flags say. Exporters that don't set the flags
   * leave it false.
   */
  readonly hasRemoteParent: boolean;
}

/** Spans that cannot be taken, and why: a sentence that says what to change. */
export interface Rejection {
  readonly spans: number;
  readonly reason: string;
}

/** A decoded request. */
export interface ReceivedExport {
  readonly spans: readonly ReceivedSpan[];
  readonly rejected: readonly Rejection[];
}

/** A span cannot be taken. The others of its request can. */
export class UnusableSpan extends Error {
  override readonly name = 'UnusableSpan';
}
