import { isJsonObject, type JsonObject } from '../../../../foundations/wire/index.ts';
import type { Attributes, AttributeValue, Scope } from '../span.ts';
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
  UnusableSpan,
} from './spans.ts';

/*
 * Fields of messages by proto3's JSON mapping (https://protobuf.dev/programming-guides/json/): a
 * field that is null or missing has its default, and integers may be texts.
 */

/** How deep a value may nest, in lists and objects. Protobuf's messages may nest about as deep. */
const maxLevels = 200;

const field = (json: JsonObject, name: string): unknown =>
  (Object.hasOwn(json, name) ? json[name] : null) ?? null;

const wrong = (name: string, what: string): UnusableSpan => new UnusableSpan(`${name} should be ${what}`);

/** A text; empty by default. */
const textIn = (json: JsonObject, name: string): string => {
  const value = field(json, name) ?? '';
  if (typeof value !== 'string') throw wrong(name, 'a string');
  return value;
};

const integerText = /^-?\d{1,20}$/;

const toInteger = (name: string, value: unknown): bigint => {
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
  if (typeof value === 'string' && integerText.test(value)) return BigInt(value);
  throw wrong(name, 'an integer, as a number or a string');
};

/** A 64-bit integer of at least 0; zero by default. */
const longIn = (json: JsonObject, name: string): bigint => {
  const value = toInteger(name, field(json, name) ?? 0);
  if (value < 0n || value >= 2n ** 64n) throw wrong(name, 'an integer of 64 bits from 0 up');
  return value;
};

/** A small integer of at least 0; zero by default. */
const countIn = (json: JsonObject, name: string): number => {
  const value = toInteger(name, field(json, name) ?? 0);
  if (value < 0n || value >= 2n ** 32n) throw wrong(name, 'an integer of 32 bits from 0 up');
  return Number(value);
};

/** A value of an enumeration: its number, or its name among those in order. */
const enumIn = (json: JsonObject, name: string, names: readonly string[]): number => {
  const index = names.indexOf(field(json, name) as string);
  return index < 0 ? countIn(json, name) : index;
};

/** A list of objects; empty by default. */
const objectsIn = (json: JsonObject, name: string): JsonObject[] => {
  const list = field(json, name) ?? [];
  if (Array.isArray(list) && list.every(isJsonObject)) return list;
  throw wrong(name, 'a list of objects');
};

/** An object; undefined by default. */
const objectIn = (json: JsonObject, name: string): JsonObject | undefined => {
  const value = field(json, name);
  if (value === null) return undefined;
  if (!isJsonObject(value)) throw wrong(name, 'an object');
  return value;
};

const hex = /^(?:[0-9a-fA-F]{2})*$/;

/** Bytes in hex, as OTLP has ids and proto3 has not; none by default. */
const hexIn = (json: JsonObject, name: string): Uint8Array => {
  const text = textIn(json, name);
  if (!hex.test(text)) throw wrong(name, 'hex digits');
  return Buffer.from(text, 'hex');
};

const toNumber = (name: string, value: unknown): number => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && (!Number.isNaN(number) || value === 'NaN')) return number;
  throw wrong(name, 'a number, or NaN, Infinity or -Infinity as a string');
};

const safeInteger = (value: bigint): number | bigint =>
  Number.isSafeInteger(Number(value)) ? Number(value) : value;

/** A value has one of these fields. Fields that are not known are passed over. */
const kinds: ReadonlySet<string> = new Set([
  'stringValue',
  'boolValue',
  'intValue',
  'doubleValue',
  'bytesValue',
  'arrayValue',
  'kvlistValue',
]);

const readAnyValue = (value: JsonObject, levels: number): AttributeValue => {
  if (levels <= 0) throw wrong('attributes', `nested at most ${maxLevels} levels`);
  const [name, content] =
    Object.entries(value).find(([kind, content]) => content !== null && kinds.has(kind)) ?? [];
  switch (name) {
    case 'stringValue':
      return textIn(value, name);
    case 'boolValue':
      if (typeof content !== 'boolean') throw wrong(name, 'true or false');
      return content;
    case 'intValue':
      return safeInteger(toInteger(name, content));
    case 'doubleValue':
      return toDouble(toNumber(name, content));
    case 'bytesValue':
      return Buffer.from(textIn(value, name), 'base64');
    case 'arrayValue':
      return objectsIn(objectIn(value, name) ?? {}, 'values').map((item) => readAnyValue(item, levels - 1));
    case 'kvlistValue':
      return kvlist(objectIn(value, name) ?? {}, levels - 1);
    default:
      return null;
  }
};

/** Without a prototype, so that any key is a field of its own. */
const kvlist = (json: JsonObject, levels: number): { readonly [key: string]: AttributeValue } => {
  const object: Record<string, AttributeValue> = Object.create(null);
  for (const pair of objectsIn(json, 'values')) object[textIn(pair, 'key')] = valueIn(pair, levels);
  return object;
};

const valueIn = (pair: JsonObject, levels: number): AttributeValue =>
  readAnyValue(objectIn(pair, 'value') ?? {}, levels);

/** The `attributes` of a message, by key. The last of duplicate keys counts. */
const attributesIn = (json: JsonObject): Attributes =>
  new Map(objectsIn(json, 'attributes').map((pair) => [textIn(pair, 'key'), valueIn(pair, maxLevels)]));

/*
 * OTLP's JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). It is read by
 * hand: the library's mapping takes 26 KB of the bundle, wants ids in base64 where OTLP has hex, and
 * rejects a whole export for one wrong field.
 */

/** A number of so many digits may be beyond the integers that a double keeps. */
const longNumber = /[:[,]\s*-?\d{16}/;

/** Keeps integers that no double has as their text, which a field of 64 bits takes too. */
const exactly = (_: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
    ? context?.source
    : value;

/** @throws ServiceError 400 if the text is no JSON of an object */
const parse = (text: string): JsonObject => {
  let body: unknown;
  try {
    body = longNumber.test(text) ? JSON.parse(text, exactly) : JSON.parse(text);
  } catch (error) {
    throw badBody(`is not JSON: ${String((error as Error).message)}`, error);
  }
  if (!isJsonObject(body)) throw badBody('is JSON, but no object');
  return body;
};

const spanKinds = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'];
const spanKindNames = spanKinds.map((name) => `SPAN_KIND_${name}`);
const statusNames = ['UNSET', 'OK', 'ERROR'].map((name) => `STATUS_CODE_${name}`);

const dropped = 'droppedAttributesCount';

/** @throws UnusableSpan if a field is not of its type */
const spanFields = (json: JsonObject): SpanFields => {
  const status = objectIn(json, 'status') ?? {};
  return {
    traceId: hexIn(json, 'traceId'),
    spanId: hexIn(json, 'spanId'),
    parentSpanId: hexIn(json, 'parentSpanId'),
    traceState: textIn(json, 'traceState'),
    flags: countIn(json, 'flags'),
    name: textIn(json, 'name'),
    kind: enumIn(json, 'kind', spanKindNames),
    startTimeUnixNano: longIn(json, 'startTimeUnixNano'),
    endTimeUnixNano: longIn(json, 'endTimeUnixNano'),
    attributes: attributesIn(json),
    events: objectsIn(json, 'events').map((event) => ({
      name: textIn(event, 'name'),
      timeUnixNano: longIn(event, 'timeUnixNano'),
      attributes: attributesIn(event),
      droppedAttributesCount: countIn(event, dropped),
    })),
    links: objectsIn(json, 'links').map((link) => ({
      traceId: toHex(hexIn(link, 'traceId')),
      spanId: toHex(hexIn(link, 'spanId')),
      traceState: textIn(link, 'traceState'),
      attributes: attributesIn(link),
      droppedAttributesCount: countIn(link, dropped),
    })),
    status: { code: enumIn(status, 'code', statusNames), message: textIn(status, 'message') },
    droppedAttributesCount: countIn(json, dropped),
    droppedEventsCount: countIn(json, 'droppedEventsCount'),
    droppedLinksCount: countIn(json, 'droppedLinksCount'),
  };
};

/**
 * Reads what is around the spans. What is wrong there is wrong for all of them.
 *
 * @throws ServiceError 400
 */
const frame = <T>(read: () => T): T => {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UnusableSpan)) throw error;
    throw badBody(`is not an export: ${error.message}`, error);
  }
};

const resourceIn = (json: JsonObject): Attributes => attributesIn(objectIn(json, 'resource') ?? {});

const scopeIn = (json: JsonObject): Scope => {
  const scope = objectIn(json, 'scope') ?? {};
  return { name: textIn(scope, 'name'), version: textIn(scope, 'version'), attributes: attributesIn(scope) };
};

/**
 * The messages of an export, each with its resource and scope.
 *
 * @param names the fields that list what is of a resource, of a scope, and the messages
 * @throws ServiceError 400, while they are iterated, if it is none
 */
function* messagesIn(
  text: string,
  names: readonly [ofResources: string, ofScopes: string, messages: string],
): Generator<[message: JsonObject, Attributes, Scope]> {
  const [ofResources, ofScopes, messages] = names;
  const body = parse(text);
  for (const ofResource of frame(() => objectsIn(body, ofResources))) {
    const resource = frame(() => resourceIn(ofResource));
    for (const ofScope of frame(() => objectsIn(ofResource, ofScopes))) {
      const scope = frame(() => scopeIn(ofScope));
      for (const message of frame(() => objectsIn(ofScope, messages))) yield [message, resource, scope];
    }
  }
}

/**
 * Decodes an `ExportTraceServiceRequest` in OTLP's JSON: ids in hex, names in lowerCamelCase,
 * 64-bit integers as texts or numbers. Unknown fields are passed over.
 *
 * @throws ServiceError 400 if it is none
 */
export const decodeJson = (text: string): ReceivedExport => {
  const collector = spanCollector();
  for (const [span, resource, scope] of messagesIn(text, ['resourceSpans', 'scopeSpans', 'spans']))
    collector.take(span.name, () => spanFields(span), resource, scope);
  return { spans: collector.made, rejected: collector.rejected };
};

/** @throws UnusableSpan if a field is not of its type */
const logFields = (json: JsonObject): LogFields => ({
  traceId: hexIn(json, 'traceId'),
  spanId: hexIn(json, 'spanId'),
  timeUnixNano: longIn(json, 'timeUnixNano'),
  observedTimeUnixNano: longIn(json, 'observedTimeUnixNano'),
  severityNumber: enumIn(json, 'severityNumber', []),
  body: readAnyValue(objectIn(json, 'body') ?? {}, maxLevels),
  eventName: textIn(json, 'eventName'),
  attributes: attributesIn(json),
});

/**
 * Decodes an `ExportLogsServiceRequest` in OTLP's JSON, likewise.
 *
 * @throws ServiceError 400 if it is none
 */
export const decodeJsonLogs = (text: string): ReceivedLogs => {
  const collector = logCollector();
  for (const [record, resource, scope] of messagesIn(text, ['resourceLogs', 'scopeLogs', 'logRecords']))
    collector.take(record.eventName, () => logFields(record), resource, scope);
  return { records: collector.made, rejected: collector.rejected };
};

const kindsOfData = ['gauge', 'sum', 'histogram', 'exponentialHistogram', 'summary'] as const;

/**
 * Counts what an `ExportMetricsServiceRequest` in OTLP's JSON has.
 *
 * @throws ServiceError 400 if it is none
 */
export const decodeJsonMetrics = (text: string): ReceivedMetrics => {
  const body = parse(text);
  return frame(() => {
    const ofResources = objectsIn(body, 'resourceMetrics');
    const metrics = ofResources
      .flatMap((resource) => objectsIn(resource, 'scopeMetrics'))
      .flatMap((scope) => objectsIn(scope, 'metrics'));
    const points = metrics.flatMap((metric) =>
      kindsOfData.map((kind) => objectsIn(objectIn(metric, kind) ?? {}, 'dataPoints').length),
    );
    return {
      resources: ofResources.map(resourceIn),
      points: points.reduce((sum, count) => sum + count, 0),
    };
  });
};
