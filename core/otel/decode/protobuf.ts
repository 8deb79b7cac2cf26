import { fromBinary } from '@bufbuild/protobuf';
import type { Attributes, Scope } from '../span.ts';
import { badBody } from './bad-body.ts';
import { SpanGathering } from './gather.ts';
import type { ReceivedExport } from './received.ts';
import {
  type ExportTraceServiceRequest,
  ExportTraceServiceRequestSchema,
  recursionLimit,
} from './schemas.ts';
import { toSpan } from './span.ts';
import { attributesOf } from './values.ts';

const noAttributes: Attributes = new Map();

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
  const gathering = new SpanGathering();
  for (const { resource, scopeSpans } of parse(bytes).resourceSpans) {
    const resourceAttributes = resource ? attributesOf(resource.attributes) : noAttributes;
    for (const { scope, spans } of scopeSpans) {
      const spanScope: Scope = {
        name: scope?.name ?? '',
        version: scope?.version ?? '',
        attributes: scope ? attributesOf(scope.attributes) : noAttributes,
      };
      for (const span of spans) gathering.take(span.name, () => toSpan(span, resourceAttributes, spanScope));
    }
  }
  return gathering.all();
};
