import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { isJsonObject, type JsonObject } from '../../wire/index.ts';
import type { Attributes, Scope } from '../span.ts';
import { badBody } from './bad-body.ts';
import { SpanGathering } from './gather.ts';
import { type ReceivedExport, type ReceivedSpan, UnusableSpan } from './received.ts';
import { InstrumentationScopeSchema, ResourceSchema, recursionLimit, SpanSchema } from './schemas.ts';
import { toSpan } from './span.ts';
import { attributesOf } from './values.ts';

/*
 * OTLP's JSON is proto3's but for the ids, which are hex and not base64
 * (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).
 */

const options = { ignoreUnknownFields: true, recursionLimit };

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

/**
 * The objects of a list in the frame around the spans. A missing list is empty.
 *
 * @throws ServiceError 400
 */
const objectsOf = (parent: JsonObject, name: string): JsonObject[] => {
  const list = (Object.hasOwn(parent, name) ? parent[name] : null) ?? [];
  if (Array.isArray(list) && list.every(isJsonObject)) return list;
  throw badBody(`has ${name} that are no list of objects`);
};

/** @throws ServiceError 400 */
const frame = <T>(name: string, convert: () => T): T => {
  try {
    return convert();
  } catch (error) {
    throw badBody(`has a ${name} that is none: ${String((error as Error).message)}`, error);
  }
};

const hex = /^(?:[0-9a-fA-F]{2})*$/;

const bytesOf = (name: string, text: unknown): Uint8Array<ArrayBuffer> => {
  if (text === undefined || text === null) return new Uint8Array();
  if (typeof text === 'string' && hex.test(text)) return new Uint8Array(Buffer.from(text, 'hex'));
  throw new UnusableSpan(`${name} should be hex digits`);
};

const base64Of = (name: string, text: unknown): string => Buffer.from(bytesOf(name, text)).toString('base64');

const withBase64Ids = (link: unknown): JsonValue => {
  if (!isJsonObject(link)) return link as JsonValue;
  const { traceId, spanId, ...rest } = link;
  return {
    ...rest,
    traceId: base64Of("a link's trace_id", traceId),
    spanId: base64Of("a link's span_id", spanId),
  };
};

/** @throws UnusableSpan if a field is not of its type */
const spanOf = (json: JsonObject, resource: Attributes, scope: Scope): ReceivedSpan => {
  const { traceId, spanId, parentSpanId, links, ...rest } = json;
  const withLinks = Array.isArray(links) ? { ...rest, links: links.map(withBase64Ids) } : rest;
  const ids = {
    traceId: bytesOf('trace_id', traceId),
    spanId: bytesOf('span_id', spanId),
    parentSpanId: bytesOf('parent_span_id', parentSpanId),
  };
  let message: ReturnType<typeof fromJson<typeof SpanSchema>>;
  try {
    message = fromJson(SpanSchema, withLinks as JsonValue, options);
  } catch (error) {
    throw new UnusableSpan(String((error as Error).message).slice(0, 300));
  }
  return toSpan(Object.assign(message, ids), resource, scope);
};

const attributesIn = (json: unknown): Attributes => {
  if (json === undefined || json === null) return new Map();
  return frame('resource', () =>
    attributesOf(fromJson(ResourceSchema, json as JsonValue, options).attributes),
  );
};

const scopeIn = (json: unknown): Scope => {
  if (json === undefined || json === null) return { name: '', version: '', attributes: new Map() };
  const scope = frame('scope', () => fromJson(InstrumentationScopeSchema, json as JsonValue, options));
  return { name: scope.name, version: scope.version, attributes: attributesOf(scope.attributes) };
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
  const gathering = new SpanGathering();
  for (const resourceSpans of objectsOf(body, 'resourceSpans')) {
    const resource = attributesIn(resourceSpans.resource);
    for (const scopeSpans of objectsOf(resourceSpans, 'scopeSpans')) {
      const scope = scopeIn(scopeSpans.scope);
      for (const span of objectsOf(scopeSpans, 'spans'))
        gathering.take(span.name, () => spanOf(span, resource, scope));
    }
  }
  return gathering.all();
};
