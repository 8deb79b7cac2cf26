import { type DescMessage, fromBinary } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import {
  type ExportTraceServiceRequest,
  ExportTraceServiceRequestSchema,
} from '../proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import {
  type AnyValue,
  AnyValueSchema,
  type InstrumentationScope,
  type KeyValue,
} from '../proto/opentelemetry/proto/common/v1/common_pb.js';
import { ResourceSchema } from '../proto/opentelemetry/proto/resource/v1/resource_pb.js';
import { type Span as SpanMessage, SpanSchema } from '../proto/opentelemetry/proto/trace/v1/trace_pb.js';
import type { Attributes, AttributeValue, Scope } from '../span.ts';
import { badBody, doubleOf, hexOf, type ReceivedExport, type SpanFields, spanCollector } from './spans.ts';

/**
 * Has strings that are not UTF-8 decoded with U+FFFD in the place of what is wrong. By proto3's
 * rule one cut-off attribute would cost the whole export.
 */
export const tolerateBadUtf8 = ({ file }: DescMessage): void => {
  const visit = (message: DescMessage): void => {
    for (const field of message.fields) Object.assign(field, { utf8Validation: false });
    message.nestedMessages.forEach(visit);
  };
  file.messages.forEach(visit);
};

for (const schema of [SpanSchema, ResourceSchema, AnyValueSchema]) tolerateBadUtf8(schema);

export { type ExportTraceServiceRequest, ExportTraceServiceRequestSchema };

/**
 * How deep messages may nest. A list in a list takes two levels, a `kvlist` in a `kvlist` three, so
 * values nest less deep than a call's fields may.
 */
export const recursionLimit = 600;

const { MAX_SAFE_INTEGER } = Number;

const toNumber = (value: bigint): number | bigint =>
  value >= -MAX_SAFE_INTEGER && value <= MAX_SAFE_INTEGER ? Number(value) : value;

/** An attribute's value without its protobuf wrapping. A value that is not set is null. */
export const plainValue = (wrapped: AnyValue | undefined): AttributeValue => {
  const { case: kind, value } = wrapped?.value ?? { case: undefined };
  switch (kind) {
    case 'intValue':
      return toNumber(value);
    case 'arrayValue':
      return value.values.map(plainValue);
    case 'kvlistValue':
      return objectOf(value.values);
    case 'doubleValue':
      return doubleOf(value);
    case 'stringValue':
    case 'boolValue':
    case 'bytesValue':
      return value;
    default:
      return null;
  }
};

/** Without a prototype, so that any key is a field of its own. */
const objectOf = (pairs: readonly KeyValue[]): { readonly [key: string]: AttributeValue } => {
  const object: Record<string, AttributeValue> = Object.create(null);
  for (const { key, value } of pairs) object[key] = plainValue(value);
  return object;
};

/** Attributes by key, in order. The last of duplicate keys counts. */
export const attributesOf = (pairs: readonly KeyValue[]): Attributes =>
  new Map(pairs.map(({ key, value }) => [key, plainValue(value)]));

export const noAttributes: Attributes = new Map();

export const scopeOf = (scope: InstrumentationScope | undefined): Scope => ({
  name: scope?.name ?? '',
  version: scope?.version ?? '',
  attributes: scope ? attributesOf(scope.attributes) : noAttributes,
});

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

/** The bytes of a message's field of messages, one each. All else is passed over. */
const messagesIn = (bytes: Uint8Array, field: number): Uint8Array[] => {
  const reader = new BinaryReader(bytes);
  const found: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (number === field && type === WireType.LengthDelimited) found.push(reader.bytes());
    else reader.skip(type, number);
  }
  return found;
};

/**
 * The resources of an export of any kind: the first field of each message in its first field.
 *
 * @throws ServiceError 400 if it is none
 */
export const resourcesOfProtobuf = (bytes: Uint8Array): Attributes[] => {
  try {
    return messagesIn(bytes, 1).map((each) => {
      const [resource] = messagesIn(each, 1);
      return resource
        ? attributesOf(fromBinary(ResourceSchema, resource, { recursionLimit }).attributes)
        : noAttributes;
    });
  } catch (error) {
    throw badBody(`is no export in protobuf: ${String((error as Error).message)}`, error);
  }
};

/**
 * Decodes an `ExportTraceServiceRequest` in protobuf. Unknown fields are passed over.
 *
 * @throws ServiceError 400 if it is none
 */
export const decodeProtobuf = (bytes: Uint8Array): ReceivedExport => {
  const collector = spanCollector();
  for (const { resource, scopeSpans } of parse(bytes).resourceSpans) {
    const resourceAttributes = resource ? attributesOf(resource.attributes) : noAttributes;
    for (const { scope, spans } of scopeSpans) {
      const spanScope = scopeOf(scope);
      for (const span of spans)
        collector.take(span.name, () => fieldsOf(span), resourceAttributes, spanScope);
    }
  }
  return { spans: collector.made, rejected: collector.rejected };
};
