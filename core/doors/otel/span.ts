import type { ExactNumber } from '../../../foundations/wire/index.ts';

/**
 * A value of an attribute as OTLP has it. Integers beyond 2^53 are bigints. Doubles without a
 * fraction are exact numbers: `1.0` is not `1`.
 */
export type AttributeValue =
  | string
  | number
  | ExactNumber
  | bigint
  | boolean
  | null
  | Uint8Array
  | readonly AttributeValue[]
  | { readonly [key: string]: AttributeValue };

/** Attributes by their keys as sent (`gen_ai.request.model`). The last of duplicate keys counts. */
export type Attributes = ReadonlyMap<string, AttributeValue>;

/** Something that happened during a span. */
export interface SpanEvent {
  readonly name: string;
  /** Nanoseconds since 1970. */
  readonly timeUnixNano: bigint;
  readonly attributes: Attributes;
  readonly droppedAttributesCount: number;
}

/** A reference from a span to another, perhaps of another trace. */
export interface SpanLink {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** 16 lower-case hex digits. */
  readonly spanId: string;
  readonly traceState: string;
  readonly attributes: Attributes;
  readonly droppedAttributesCount: number;
}

/** The library that made a span. */
export interface Scope {
  readonly name: string;
  readonly version: string;
  readonly attributes: Attributes;
}

/**
 * A decoded span, with its resource and scope, independent of protobuf or JSON.
 * Source: opentelemetry-proto, `trace.proto`.
 */
export interface Span {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** 16 lower-case hex digits. */
  readonly spanId: string;
  /** 16 lower-case hex digits; undefined for a root. */
  readonly parentSpanId: string | undefined;
  readonly traceState: string;
  readonly name: string;
  /** 0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  /** Nanoseconds since 1970. */
  readonly startTimeUnixNano: bigint;
  /** Nanoseconds since 1970. */
  readonly endTimeUnixNano: bigint;
  readonly attributes: Attributes;
  readonly events: readonly SpanEvent[];
  readonly links: readonly SpanLink[];
  /** Code 0 unset, 1 ok, 2 error. */
  readonly status: { readonly code: number; readonly message: string };
  readonly droppedAttributesCount: number;
  readonly droppedEventsCount: number;
  readonly droppedLinksCount: number;
  readonly scope: Scope;
  readonly resource: Attributes;
}

/**
 * A decoded log record, with its resource and scope, independent of protobuf or JSON.
 * Source: opentelemetry-proto, `logs.proto`.
 */
export interface LogRecord {
  /** 32 lower-case hex digits; undefined if it names no trace. */
  readonly traceId: string | undefined;
  /** 16 lower-case hex digits; undefined if it names no span. */
  readonly spanId: string | undefined;
  /** Nanoseconds since 1970: when it happened, else when it was observed. */
  readonly timeUnixNano: bigint;
  readonly severityNumber: number;
  readonly body: AttributeValue;
  /** Empty if it is not an event. */
  readonly eventName: string;
  readonly attributes: Attributes;
  readonly scope: Scope;
  readonly resource: Attributes;
}

/**
 * The id of a span's call: the last 16 hex digits of its trace id, then its own 16. Whoever has a
 * span can name its call, and spans of two traces that share an id by chance stay apart.
 */
export const toCallId = (traceId: string, spanId: string): string => `${traceId.slice(16)}${spanId}`;
