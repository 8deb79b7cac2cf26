import type { CallEnd, CallReport, CallStart, SpanRole } from '../../../api/calls.ts';
import type { HeaderAttribute } from '../../../api/shared/header-fields.ts';
import type { JsonObject, Micros, ProjectId } from '../../../foundations/wire/index.ts';

export type { CallEnd, CallReport, CallStart, SpanRole };

/** The answer to a start. Ends are answered with null. */
export interface StartAnswer {
  readonly id: string;
  readonly traceId: string;
}

/** A call part: the start or the end of a call, which an item holds. */
export type CallPart = 'S' | 'E';

/**
 * The location of a payload block: `length` bytes from `offset` of an unpacked segment. If
 * `segment` is null, it is the unpacked payload in the header's own item. Segments are named by hex
 * digits.
 */
export interface PayloadPointer {
  readonly segment: string | null;
  readonly offset: number;
  readonly length: number;
}

/**
 * Fields of a start's attributes: a short text, or null where the client says null; true for any
 * other value, which is in the payload alone. A field that is missing has no value.
 */
export interface StartAttributes extends Readonly<Partial<Record<HeaderAttribute, string | true | null>>> {
  /** The fields whose key has a dot: `user.id` itself, and not `id` in `user`. @default - none */
  readonly dotted?: readonly HeaderAttribute[];
}

/** The start of a call as index rows hold it. */
export interface StartHeader {
  readonly opName: string;
  readonly displayName: string | null;
  readonly traceId: string;
  readonly parentId: string | null;
  readonly threadId: string | null;
  readonly turnId: string | null;
  readonly startedAt: Micros;
  /** The user of the reporting key. */
  readonly userId: string;
  readonly runId: string | null;
  readonly runStep: number | null;
  readonly attributes: StartAttributes;
  /**
   * Whether a judge of this service made it. No client can say so. @default false
   */
  readonly isJudges?: true;
  /** What the span is that it was made of. @default - it was made of none */
  readonly span?: SpanRole;
  /**
   * Bytes of the start as compact JSON, so without the white space and escapes that were received.
   */
  readonly bytes: number;
  readonly payload: PayloadPointer;
}

/** How a call ended. A call without an end is `running`. */
export type EndStatus = 'success' | 'error' | 'descendant_error';

/** The end of a call as index rows hold it. */
export interface EndHeader {
  readonly endedAt: Micros;
  readonly status: EndStatus;
  readonly runStepEnd: number | null;
  /**
   * `summary.usage` if it is small enough for the header; true if it is in the payload; null if
   * there is none.
   */
  readonly usage: JsonObject | true | null;
  /**
   * Milliseconds that it waited for a person; true if it waits, or waited for an unknown time; null if it did
   * not.
   */
  readonly waited: number | true | null;
  /**
   * Bytes of the end as compact JSON, so without the white space and escapes that were received.
   */
  readonly bytes: number;
  readonly payload: PayloadPointer;
}

/** A call without its payloads: the fold of its start and its end, if it has one. */
export interface CallHeader {
  readonly projectId: ProjectId;
  readonly id: string;
  readonly start: StartHeader;
  readonly end: EndHeader | null;
  /**
   * The part whose item holds the end: `S` if it was reported with the start, otherwise `E`.
   * Without an end it is the part where one would be looked up.
   */
  readonly endPart: 'S' | 'E';
  /**
   * The packed payloads that were read with the header, by the part whose item holds them.
   *
   * @default - none
   */
  readonly inline?: ReadonlyMap<'S' | 'E', Uint8Array>;
  /**
   * The traces, other than its own, of calls below it or of its turn. They were reported before it
   * without a trace, or a repeated start took them apart from it.
   *
   * @default - none
   */
  readonly earlyTraces?: readonly string[];
}
