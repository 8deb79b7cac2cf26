import type { Attributes, AttributeValue, Scope } from './span.ts';

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
