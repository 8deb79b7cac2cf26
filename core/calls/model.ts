import type { JsonObject, JsonValue, Micros, ProjectId } from '../wire/index.ts';

/**
 * The start of a call as a client reports it, checked; `id` and `traceId` are null where the server
 * is to make them.
 */
export interface CallStart {
  readonly projectId: ProjectId;
  readonly id: string | null;
  readonly opName: string;
  readonly displayName: string | null;
  readonly traceId: string | null;
  readonly parentId: string | null;
  readonly threadId: string | null;
  readonly turnId: string | null;
  readonly startedAt: Micros;
  readonly attributes: JsonObject;
  readonly inputs: JsonObject;
  readonly runId: string | null;
  readonly runStep: number | null;
  /** Bytes of it as compact JSON, without those of the values of attributes and inputs. */
  readonly envelopeBytes: number;
}

/** The end of a call as a client reports it, checked. */
export interface CallEnd {
  readonly projectId: ProjectId;
  readonly id: string;
  readonly endedAt: Micros;
  readonly output: JsonValue;
  readonly exception: string | null;
  readonly summary: JsonObject;
  readonly runStepEnd: number | null;
  /** Bytes of it as compact JSON, without those of the values of output, summary and exception. */
  readonly envelopeBytes: number;
}

/** One item of a batch. */
export type CallReport =
  | { readonly kind: 'start'; readonly start: CallStart }
  | { readonly kind: 'end'; readonly end: CallEnd };

/** What is answered to a start; an end is answered with nothing. */
export interface StartAnswer {
  readonly id: string;
  readonly traceId: string;
}

/**
 * Where a block of payload lies: `length` bytes from `offset` of an unpacked segment, or, where
 * `segment` is null, of the unpacked payload in the header's own item. Segments are named by hex
 * digits.
 */
export interface PayloadPointer {
  readonly segment: string | null;
  readonly offset: number;
  readonly length: number;
}

/** What an index row holds of a call's start. */
export interface StartHeader {
  readonly opName: string;
  readonly displayName: string | null;
  readonly traceId: string;
  readonly parentId: string | null;
  readonly threadId: string | null;
  readonly turnId: string | null;
  readonly startedAt: Micros;
  /** Whose key reported it. */
  readonly userId: string;
  readonly runId: string | null;
  readonly runStep: number | null;
  /** Bytes of the start as compact JSON, as it was received but for white space and escapes. */
  readonly bytes: number;
  readonly payload: PayloadPointer;
}

/** How a finished call ended; without an end it is `running`. */
export type EndStatus = 'success' | 'error' | 'descendant_error';

/** What an index row holds of a call's end. */
export interface EndHeader {
  readonly endedAt: Micros;
  readonly status: EndStatus;
  readonly runStepEnd: number | null;
  /**
   * `summary.usage`, where it is small enough to ride along; true where it is to be looked for in
   * the payload; null where there is none.
   */
  readonly usage: JsonObject | true | null;
  /** Bytes of the end as compact JSON, as it was received but for white space and escapes. */
  readonly bytes: number;
  readonly payload: PayloadPointer;
}

/** A call without its payloads: the fold of its start and, once it has one, its end. */
export interface CallHeader {
  readonly projectId: ProjectId;
  readonly id: string;
  readonly start: StartHeader;
  readonly end: EndHeader | null;
  /**
   * The part in whose item the end lies: beside the start, where both were reported together, or
   * alone, which is where it is looked for while there is none.
   */
  readonly endPart: 'S' | 'E';
}
