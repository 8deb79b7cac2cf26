import { isJsonObject, type JsonObject } from '../../../foundations/wire/index.ts';
import type { Attributes, Scope } from '../span.ts';
import { badBody } from './bad-body.ts';
import { attributesIn, countIn, enumIn, hexIn, longIn, objectIn, objectsIn, textIn } from './json-fields.ts';
import { type ReceivedExport, UnusableSpan } from './received.ts';
import { hexOf, type SpanFields } from './span.ts';
import { SpanCollector } from './span-collector.ts';

/*
 * OTLP's JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). It is read by
 * hand: docs/decisions/0152 says why.
 */

/** A number of so many digits may be beyond the integers that a double keeps. */
const longNumber = /[:[,]\s*-?\d{16}/;

/** Keeps integers that no double has as their text, which a field of 64 bits takes too. */
const exactly = (_: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
    ? context?.source
    : value;

const parse = (text: string): unknown => {
  try {
    return longNumber.test(text) ? JSON.parse(text, exactly) : JSON.parse(text);
  } catch (error) {
    throw badBody(`is not JSON: ${String((error as Error).message)}`, error);
  }
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
      traceId: hexOf(hexIn(link, 'traceId')),
      spanId: hexOf(hexIn(link, 'spanId')),
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
    throw badBody(`is no ExportTraceServiceRequest: ${error.message}`, error);
  }
};

const resourceIn = (json: JsonObject): Attributes => attributesIn(objectIn(json, 'resource') ?? {});

const scopeIn = (json: JsonObject): Scope => {
  const scope = objectIn(json, 'scope') ?? {};
  return { name: textIn(scope, 'name'), version: textIn(scope, 'version'), attributes: attributesIn(scope) };
};

/**
 * Decodes an `ExportTraceServiceRequest` in OTLP's JSON: ids in hex, names in lowerCamelCase,
 * 64-bit integers as texts or numbers. Unknown fields are passed over.
 *
 * @throws ServiceError 400 if it is none
 */
export const decodeJson = (text: string): ReceivedExport => {
  const body = parse(text);
  if (!isJsonObject(body)) throw badBody('is JSON, but no object');
  const collector = new SpanCollector();
  for (const ofResource of frame(() => objectsIn(body, 'resourceSpans'))) {
    const resource = frame(() => resourceIn(ofResource));
    for (const ofScope of frame(() => objectsIn(ofResource, 'scopeSpans'))) {
      const scope = frame(() => scopeIn(ofScope));
      for (const span of frame(() => objectsIn(ofScope, 'spans')))
        collector.take(span.name, () => spanFields(span), resource, scope);
    }
  }
  return collector.all();
};
