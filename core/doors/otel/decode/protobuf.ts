import { fromBinary } from '@bufbuild/protobuf';
import type { Span as SpanMessage } from '../proto/opentelemetry/proto/trace/v1/trace_pb.js';
import type { Attributes, Scope } from '../span.ts';
import { badBody } from './bad-body.ts';
import type { ReceivedExport } from './received.ts';
import {
  type ExportTraceServiceRequest,
  ExportTraceServiceRequestSchema,
  recursionLimit,
} from './schemas.ts';
import { hexOf, type SpanFields } from './span.ts';
import { SpanCollector } from './span-collector.ts';
import { attributesOf } from './values.ts';

const noAttributes: Attributes = new Map();

const fieldsOf = (message: SpanMessage): SpanFields => ({
  traceId: message.traceId,
  spanId: message.spanId,
  parentSpanId: message.parentSpanId,
  traceState: message.traceState,
  flags: message.flags,
  name: message.name,
  kind: message.kind,
  startTimeUnixNano: message.startTimeUnixNano,
  endTimeUnixNano: message.endTimeUnixNano,
  attributes: attributesOf(message.attributes),
  events: message.events.map((event) => ({
    name: event.name,
    timeUnixNano: event.timeUnixNano,
    attributes: attributesOf(event.attributes),
    droppedAttributesCount: event.droppedAttributesCount,
  })),
  links: message.links.map((link) => ({
    traceId: hexOf(link.traceId),
    spanId: hexOf(link.spanId),
    traceState: link.traceState,
    attributes: attributesOf(link.attributes),
    droppedAttributesCount: link.droppedAttributesCount,
  })),
  status: { code: message.status?.code ?? 0, message: message.status?.message ?? '' },
  droppedAttributesCount: message.droppedAttributesCount,
  droppedEventsCount: message.droppedEventsCount,
  droppedLinksCount: message.droppedLinksCount,
});

/** @throws ServiceError 400 if the bytes are no such message */
const parse = (bytes: Uint8Array): ExportTraceServiceRequest => {
  try {
    return fromBinary(ExportTraceServiceRequestSchema, bytes, { readUnknownFields: false, recursionLimit });
  } catch (error) {
    throw badBody(`is no ExportTraceServiceRequest in protobuf: ${String((error as Error).message)}`, error);
  }
};

/**
 * Decodes an `ExportTraceServiceRequest` in protobuf. Unknown fields are passed over.
 *
 * @throws ServiceError 400 if it is none
 */
export const decodeProtobuf = (bytes: Uint8Array): ReceivedExport => {
  const collector = new SpanCollector();
  for (const { resource, scopeSpans } of parse(bytes).resourceSpans) {
    const resourceAttributes = resource ? attributesOf(resource.attributes) : noAttributes;
    for (const { scope, spans } of scopeSpans) {
      const spanScope: Scope = {
        name: scope?.name ?? '',
        version: scope?.version ?? '',
        attributes: scope ? attributesOf(scope.attributes) : noAttributes,
      };
      for (const span of spans)
        collector.take(span.name, () => fieldsOf(span), resourceAttributes, spanScope);
    }
  }
  return collector.all();
};
