import type { Span_Link, Span as SpanMessage } from '../proto/opentelemetry/proto/trace/v1/trace_pb.js';
import type { Attributes, Scope, Span, SpanEvent, SpanLink } from '../span.ts';
import { type ReceivedSpan, UnusableSpan } from './received.ts';
import { attributesOf } from './values.ts';

/** Bits of `Span.flags` (`trace.proto`): whether it is known where the parent is, and where. */
const knowsParent = 0x100;
const parentIsRemote = 0x200;

const traceIdBytes = 16;
const spanIdBytes = 8;

const hexOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');

const isSet = (bytes: Uint8Array): boolean => bytes.some((byte) => byte !== 0);

/** @throws UnusableSpan if the id is of another length, or all zeros */
const requiredId = (name: string, bytes: Uint8Array, length: number): string => {
  if (bytes.length === length && isSet(bytes)) return hexOf(bytes);
  throw new UnusableSpan(`${name} should be ${length} bytes that are not all zero`);
};

/** The parent of a span; undefined for a root, which some exporters mark by zeros. */
const parentOf = ({ parentSpanId, spanId }: SpanMessage): string | undefined => {
  if (!isSet(parentSpanId)) return undefined;
  const parent = requiredId('parent_span_id', parentSpanId, spanIdBytes);
  return parent === hexOf(spanId) ? undefined : parent;
};

const linkOf = (link: Span_Link): SpanLink => ({
  traceId: hexOf(link.traceId),
  spanId: hexOf(link.spanId),
  traceState: link.traceState,
  attributes: attributesOf(link.attributes),
  droppedAttributesCount: link.droppedAttributesCount,
});

const eventsOf = ({ events }: SpanMessage): SpanEvent[] =>
  events.map((event) => ({
    name: event.name,
    timeUnixNano: event.timeUnixNano,
    attributes: attributesOf(event.attributes),
    droppedAttributesCount: event.droppedAttributesCount,
  }));

/** Start and end. One that is zero, which means unknown, is taken from the other. */
const timesOf = ({ startTimeUnixNano: start, endTimeUnixNano: end }: SpanMessage) => {
  if (start === 0n && end === 0n)
    throw new UnusableSpan('start_time_unix_nano and end_time_unix_nano are both zero; one should be set');
  return { startTimeUnixNano: start || end, endTimeUnixNano: end || start };
};

/**
 * Makes a span of its message.
 *
 * @throws UnusableSpan if its ids or times are none
 */
export const toSpan = (message: SpanMessage, resource: Attributes, scope: Scope): ReceivedSpan => {
  const span: Span = {
    traceId: requiredId('trace_id', message.traceId, traceIdBytes),
    spanId: requiredId('span_id', message.spanId, spanIdBytes),
    parentSpanId: parentOf(message),
    traceState: message.traceState,
    name: message.name,
    kind: message.kind,
    ...timesOf(message),
    attributes: attributesOf(message.attributes),
    events: eventsOf(message),
    links: message.links.map(linkOf),
    status: { code: message.status?.code ?? 0, message: message.status?.message ?? '' },
    droppedAttributesCount: message.droppedAttributesCount,
    droppedEventsCount: message.droppedEventsCount,
    droppedLinksCount: message.droppedLinksCount,
    scope,
    resource,
  };
  const remote = knowsParent | parentIsRemote;
  return { span, hasRemoteParent: (message.flags & remote) === remote };
};
