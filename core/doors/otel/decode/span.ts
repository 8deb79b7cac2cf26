import type { Attributes, Scope, Span } from '../span.ts';
import { type ReceivedSpan, UnusableSpan } from './received.ts';

/** Bits of `Span.flags` (`trace.proto`): whether it is known where the parent is, and where. */
const knowsParent = 0x100;
const parentIsRemote = 0x200;

const traceIdBytes = 16;
const spanIdBytes = 8;

/** A span's fields as an encoding has them. Nothing of them is checked but their types. */
export interface SpanFields extends Omit<Span, 'traceId' | 'spanId' | 'parentSpanId' | 'scope' | 'resource'> {
  readonly traceId: Uint8Array;
  readonly spanId: Uint8Array;
  readonly parentSpanId: Uint8Array;
  readonly flags: number;
}

/** Bytes as lower-case hex digits. */
export const hexOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');

const isSet = (bytes: Uint8Array): boolean => bytes.some((byte) => byte !== 0);

/** @throws UnusableSpan if the id is of another length, or all zeros */
const requiredId = (name: string, bytes: Uint8Array, length: number): string => {
  if (bytes.length === length && isSet(bytes)) return hexOf(bytes);
  throw new UnusableSpan(`${name} should be ${length} bytes that are not all zero`);
};

/** The parent of a span; undefined for a root, which some exporters mark by zeros. */
const parentOf = ({ parentSpanId, spanId }: SpanFields): string | undefined => {
  if (!isSet(parentSpanId)) return undefined;
  const parent = requiredId('parent_span_id', parentSpanId, spanIdBytes);
  return parent === hexOf(spanId) ? undefined : parent;
};

/** Start and end. One that is zero, which means unknown, is taken from the other. */
const timesOf = ({ startTimeUnixNano: start, endTimeUnixNano: end }: SpanFields) => {
  if (start === 0n && end === 0n)
    throw new UnusableSpan('start_time_unix_nano and end_time_unix_nano are both zero; one should be set');
  return { startTimeUnixNano: start || end, endTimeUnixNano: end || start };
};

/**
 * Makes a span of its fields.
 *
 * @throws UnusableSpan if its ids or times are none
 */
export const toSpan = (fields: SpanFields, resource: Attributes, scope: Scope): ReceivedSpan => {
  const { flags, ...rest } = fields;
  const span: Span = {
    ...rest,
    traceId: requiredId('trace_id', fields.traceId, traceIdBytes),
    spanId: requiredId('span_id', fields.spanId, spanIdBytes),
    parentSpanId: parentOf(fields),
    ...timesOf(fields),
    scope,
    resource,
  };
  const remote = knowsParent | parentIsRemote;
  return { span, hasRemoteParent: (flags & remote) === remote };
};
