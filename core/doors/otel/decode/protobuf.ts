/**
 * Exports in protobuf. The tables below have the numbers and types of `opentelemetry-proto` for the fields
 * that are used. They are read with the library's reader alone: with the whole definitions a function took
 * 10 ms longer to start (docs/decisions/0140).
 */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { ServiceError, tooLarge } from '../../../../foundations/wire/index.ts';
import type { AttributeValue, Scope, SpanEvent, SpanLink } from '../span.ts';
import {
  badBody,
  type LogFields,
  logCollector,
  type ReceivedExport,
  type ReceivedLogs,
  type ReceivedMetrics,
  type SpanFields,
  spanCollector,
  toDouble,
  toHex,
} from './spans.ts';

/**
 * How deep messages may nest. A list in a list takes two levels, a `kvlist` in a `kvlist` three, so
 * values nest less deep than a call's fields may.
 */
const recursionLimit = 600;

/** The most of an export that is kept: spans or log records, events, links, lists and objects. */
const maxKept = 500_000;

/**
 * Reads an export. An empty message takes two bytes of it, and some hundred of memory, so a small body
 * could unfold to more than a function has.
 */
class ExportReader extends BinaryReader {
  #kept = 0;

  /** @throws ServiceError 413 if that is too much */
  keep<Message>(message: Message): Message {
    if (++this.#kept <= maxKept) return message;
    const msg = `should have at most ${maxKept} spans, events, links and lists together: lower OTEL_BSP_MAX_EXPORT_BATCH_SIZE`;
    throw tooLarge({ loc: ['body'], msg, type: 'too_large' });
  }
}

/** Reads a field's value into its message. `left` says how many levels deeper messages may nest. */
type Read<Message> = (message: Message, reader: ExportReader, left: number) => void;

/** A message's fields by number, each with its type on the wire. */
type Fields<Message> = Readonly<Record<number, readonly [WireType, Read<Message>]>>;

/** Reads fields up to a place. Unknown ones, and known ones of another type, are passed over. */
const readFields = <Message>(
  message: Message,
  fields: Fields<Message>,
  reader: ExportReader,
  end: number,
  left: number,
): Message => {
  while (reader.pos < end) {
    const [number, type] = reader.tag();
    const field = fields[number];
    if (field?.[0] === type) field[1](message, reader, left);
    else reader.skip(type, number);
  }
  if (reader.pos !== end) throw new RangeError('a field is longer than its message');
  return message;
};

/** Reads a message in a field: its length, and its fields. */
const readMessage = <Message>(
  message: Message,
  fields: Fields<Message>,
  reader: ExportReader,
  left: number,
): Message => {
  if (left === 0) throw new RangeError(`messages nest more than ${recursionLimit} levels deep`);
  const length = reader.uint32();
  return readFields(message, fields, reader, reader.pos + length, left - 1);
};

/** Text and bytes, lists of numbers, and messages. */
const delimited = WireType.LengthDelimited;

const { MAX_SAFE_INTEGER } = Number;

const toNumber = (value: bigint): number | bigint =>
  value >= -MAX_SAFE_INTEGER && value <= MAX_SAFE_INTEGER ? Number(value) : value;

/** A value without its protobuf wrapping. One that is not set is null. */
interface Holder {
  value: AttributeValue;
}

interface Pair extends Holder {
  key: string;
}

const readValue = (reader: ExportReader, left: number): AttributeValue =>
  readMessage<Holder>({ value: null }, anyValue, reader, left).value;

const readPair = (reader: ExportReader, left: number): Pair =>
  readMessage<Pair>({ key: '', value: null }, keyValue, reader, left);

const keyValue: Fields<Pair> = {
  1: [delimited, (pair, reader) => (pair.key = reader.string())],
  2: [delimited, (pair, reader, left) => (pair.value = readValue(reader, left))],
};

const arrayValue: Fields<AttributeValue[]> = {
  1: [delimited, (values, reader, left) => values.push(readValue(reader, left))],
};

const keyValueList: Fields<Record<string, AttributeValue>> = {
  1: [
    delimited,
    (object, reader, left) => {
      const { key, value } = readPair(reader, left);
      object[key] = value;
    },
  ],
};

/**
 * Strings that are not UTF-8 have U+FFFD in the place of what is wrong. By proto3's rule one cut-off
 * attribute would cost the whole export.
 */
const anyValue: Fields<Holder> = {
  1: [delimited, (holder, reader) => (holder.value = reader.string())],
  2: [WireType.Varint, (holder, reader) => (holder.value = reader.bool())],
  3: [WireType.Varint, (holder, reader) => (holder.value = toNumber(BigInt(reader.int64())))],
  4: [WireType.Bit64, (holder, reader) => (holder.value = toDouble(reader.double()))],
  5: [
    delimited,
    (holder, reader, left) => (holder.value = readMessage(reader.keep([]), arrayValue, reader, left)),
  ],
  6: [
    delimited,
    (holder, reader, left) => {
      // Without a prototype, so that any key is a field of its own.
      holder.value = readMessage(reader.keep(Object.create(null)), keyValueList, reader, left);
    },
  ],
  7: [delimited, (holder, reader) => (holder.value = reader.bytes())],
};

/** A message with attributes by key, in order. The last of duplicate keys counts. */
interface WithAttributes {
  readonly attributes: Map<string, AttributeValue>;
}

const attribute: Fields<WithAttributes>[number] = [
  delimited,
  ({ attributes }, reader, left) => {
    const { key, value } = readPair(reader, left);
    attributes.set(key, value);
  },
];

type Mutable<T> = { -readonly [name in keyof T]: T[name] };

/** A message whose attributes are being read. */
type Draft<T> = Mutable<Omit<T, 'attributes'>> & WithAttributes;

const resource: Fields<WithAttributes> = { 1: attribute };

const newScope = (): Draft<Scope> => ({ name: '', version: '', attributes: new Map() });

const scope: Fields<Draft<Scope>> = {
  1: [delimited, (message, reader) => (message.name = reader.string())],
  2: [delimited, (message, reader) => (message.version = reader.string())],
  3: attribute,
};

const newEvent = (): Draft<SpanEvent> => ({
  name: '',
  timeUnixNano: 0n,
  attributes: new Map(),
  droppedAttributesCount: 0,
});

const event: Fields<Draft<SpanEvent>> = {
  1: [WireType.Bit64, (message, reader) => (message.timeUnixNano = BigInt(reader.fixed64()))],
  2: [delimited, (message, reader) => (message.name = reader.string())],
  3: attribute,
  4: [WireType.Varint, (message, reader) => (message.droppedAttributesCount = reader.uint32())],
};

const newLink = (): Draft<SpanLink> => ({
  traceId: '',
  spanId: '',
  traceState: '',
  attributes: new Map(),
  droppedAttributesCount: 0,
});

const link: Fields<Draft<SpanLink>> = {
  1: [delimited, (message, reader) => (message.traceId = toHex(reader.bytes()))],
  2: [delimited, (message, reader) => (message.spanId = toHex(reader.bytes()))],
  3: [delimited, (message, reader) => (message.traceState = reader.string())],
  4: attribute,
  5: [WireType.Varint, (message, reader) => (message.droppedAttributesCount = reader.uint32())],
};

const status: Fields<Mutable<SpanFields['status']>> = {
  2: [delimited, (message, reader) => (message.message = reader.string())],
  3: [WireType.Varint, (message, reader) => (message.code = reader.int32())],
};

type SpanDraft = Draft<SpanFields> & { readonly events: SpanEvent[]; readonly links: SpanLink[] };

const noBytes = new Uint8Array();

const newSpan = (): SpanDraft => ({
  traceId: noBytes,
  spanId: noBytes,
  parentSpanId: noBytes,
  traceState: '',
  flags: 0,
  name: '',
  kind: 0,
  startTimeUnixNano: 0n,
  endTimeUnixNano: 0n,
  attributes: new Map(),
  events: [],
  links: [],
  status: { code: 0, message: '' },
  droppedAttributesCount: 0,
  droppedEventsCount: 0,
  droppedLinksCount: 0,
});

const span: Fields<SpanDraft> = {
  1: [delimited, (message, reader) => (message.traceId = reader.bytes())],
  2: [delimited, (message, reader) => (message.spanId = reader.bytes())],
  3: [delimited, (message, reader) => (message.traceState = reader.string())],
  4: [delimited, (message, reader) => (message.parentSpanId = reader.bytes())],
  5: [delimited, (message, reader) => (message.name = reader.string())],
  6: [WireType.Varint, (message, reader) => (message.kind = reader.int32())],
  7: [WireType.Bit64, (message, reader) => (message.startTimeUnixNano = BigInt(reader.fixed64()))],
  8: [WireType.Bit64, (message, reader) => (message.endTimeUnixNano = BigInt(reader.fixed64()))],
  9: attribute,
  10: [WireType.Varint, (message, reader) => (message.droppedAttributesCount = reader.uint32())],
  11: [
    delimited,
    (message, reader, left) => message.events.push(readMessage(reader.keep(newEvent()), event, reader, left)),
  ],
  12: [WireType.Varint, (message, reader) => (message.droppedEventsCount = reader.uint32())],
  13: [
    delimited,
    (message, reader, left) => message.links.push(readMessage(reader.keep(newLink()), link, reader, left)),
  ],
  14: [WireType.Varint, (message, reader) => (message.droppedLinksCount = reader.uint32())],
  15: [delimited, (message, reader, left) => readMessage(message.status, status, reader, left)],
  16: [WireType.Bit32, (message, reader) => (message.flags = reader.fixed32())],
};

type LogDraft = Draft<LogFields>;

const newLogRecord = (): LogDraft => ({
  traceId: noBytes,
  spanId: noBytes,
  timeUnixNano: 0n,
  observedTimeUnixNano: 0n,
  severityNumber: 0,
  body: null,
  eventName: '',
  attributes: new Map(),
});

const logRecord: Fields<LogDraft> = {
  1: [WireType.Bit64, (message, reader) => (message.timeUnixNano = BigInt(reader.fixed64()))],
  2: [WireType.Varint, (message, reader) => (message.severityNumber = reader.int32())],
  5: [delimited, (message, reader, left) => (message.body = readValue(reader, left))],
  6: attribute,
  9: [delimited, (message, reader) => (message.traceId = reader.bytes())],
  10: [delimited, (message, reader) => (message.spanId = reader.bytes())],
  11: [WireType.Bit64, (message, reader) => (message.observedTimeUnixNano = BigInt(reader.fixed64()))],
  12: [delimited, (message, reader) => (message.eventName = reader.string())],
};

/** Spans or log records of one scope. */
interface OfScope<Message> {
  readonly scope: Draft<Scope>;
  readonly messages: Message[];
}

/** What one resource reported, and the resource's attributes. */
interface OfResource<Message> extends WithAttributes {
  readonly scopes: OfScope<Message>[];
}

/**
 * Reads an export, which has the same shape for spans, log records and metrics: resources, their scopes,
 * and what those reported.
 *
 * @param kind the name of the message, for an error
 * @throws ServiceError 400 if the bytes are no such message, 413 if it is too large
 */
const readExport = <Message>(
  bytes: Uint8Array,
  kind: string,
  newMessage: () => Message,
  message: Fields<Message>,
): OfResource<Message>[] => {
  const scopeFields: Fields<OfScope<Message>> = {
    1: [delimited, (group, reader, left) => readMessage(group.scope, scope, reader, left)],
    2: [
      delimited,
      (group, reader, left) =>
        group.messages.push(readMessage(reader.keep(newMessage()), message, reader, left)),
    ],
  };
  const resourceFields: Fields<OfResource<Message>> = {
    1: [delimited, (group, reader, left) => readMessage(group, resource, reader, left)],
    2: [
      delimited,
      (group, reader, left) =>
        group.scopes.push(
          readMessage(reader.keep({ scope: newScope(), messages: [] }), scopeFields, reader, left),
        ),
    ],
  };
  const request: Fields<OfResource<Message>[]> = {
    1: [
      delimited,
      (list, reader, left) =>
        list.push(
          readMessage(reader.keep({ attributes: new Map(), scopes: [] }), resourceFields, reader, left),
        ),
    ],
  };
  try {
    return readFields([], request, new ExportReader(bytes), bytes.length, recursionLimit);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw badBody(`is no ${kind} in protobuf: ${String((error as Error).message)}`, error);
  }
};

/**
 * Decodes an `ExportTraceServiceRequest` in protobuf. Unknown fields are passed over.
 *
 * @throws ServiceError 400 if it is none
 */
export const decodeProtobuf = (bytes: Uint8Array): ReceivedExport => {
  const collector = spanCollector();
  for (const { attributes, scopes } of readExport(bytes, 'ExportTraceServiceRequest', newSpan, span))
    for (const { scope, messages } of scopes)
      for (const fields of messages) collector.take(fields.name, () => fields, attributes, scope);
  return { spans: collector.made, rejected: collector.rejected };
};

/**
 * Decodes an `ExportLogsServiceRequest` in protobuf. Unknown fields are passed over.
 *
 * @throws ServiceError 400 if it is none
 */
export const decodeProtobufLogs = (bytes: Uint8Array): ReceivedLogs => {
  const collector = logCollector();
  const read = readExport(bytes, 'ExportLogsServiceRequest', newLogRecord, logRecord);
  for (const { attributes, scopes } of read)
    for (const { scope, messages } of scopes)
      for (const fields of messages) collector.take(fields.eventName, () => fields, attributes, scope);
  return { records: collector.made, rejected: collector.rejected };
};

interface Points {
  count: number;
}

/** A gauge, a sum, a histogram or a summary: all list their data points in the field 1. */
const data: Fields<Points> = {
  1: [
    delimited,
    (points, reader, left) => {
      points.count += 1;
      readMessage({}, {}, reader, left);
    },
  ],
};

const ofData: Fields<Points>[number] = [
  delimited,
  (points, reader, left) => {
    readMessage(points, data, reader, left);
  },
];

/** Source: opentelemetry-proto, `metrics.proto`. */
const metric: Fields<Points> = { 5: ofData, 7: ofData, 9: ofData, 10: ofData, 11: ofData };

/**
 * Counts what an `ExportMetricsServiceRequest` in protobuf has.
 *
 * @throws ServiceError 400 if it is none
 */
export const decodeProtobufMetrics = (bytes: Uint8Array): ReceivedMetrics => {
  const read = readExport(bytes, 'ExportMetricsServiceRequest', (): Points => ({ count: 0 }), metric);
  const metrics = read.flatMap(({ scopes }) => scopes.flatMap(({ messages }) => messages));
  return {
    resources: read.map(({ attributes }) => attributes),
    points: metrics.reduce((sum, { count }) => sum + count, 0),
  };
};
