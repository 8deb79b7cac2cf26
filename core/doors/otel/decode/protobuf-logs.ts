import { fromBinary } from '@bufbuild/protobuf';
import { ExportLogsServiceRequestSchema } from '../proto/opentelemetry/proto/collector/logs/v1/logs_service_pb.js';
import {
  type LogRecord as LogMessage,
  LogRecordSchema,
} from '../proto/opentelemetry/proto/logs/v1/logs_pb.js';
import {
  attributesOf,
  noAttributes,
  plainValue,
  recursionLimit,
  scopeOf,
  tolerateBadUtf8,
} from './protobuf.ts';
import { badBody, type LogFields, logCollector, type ReceivedLogs } from './spans.ts';

tolerateBadUtf8(LogRecordSchema);

const fieldsOf = (message: LogMessage): LogFields => ({
  traceId: message.traceId,
  spanId: message.spanId,
  timeUnixNano: message.timeUnixNano,
  observedTimeUnixNano: message.observedTimeUnixNano,
  severityNumber: message.severityNumber,
  body: plainValue(message.body),
  eventName: message.eventName,
  attributes: attributesOf(message.attributes),
});

const parse = (bytes: Uint8Array) => {
  try {
    return fromBinary(ExportLogsServiceRequestSchema, bytes, { readUnknownFields: false, recursionLimit });
  } catch (error) {
    throw badBody(`is no ExportLogsServiceRequest in protobuf: ${String((error as Error).message)}`, error);
  }
};

/**
 * Decodes an `ExportLogsServiceRequest` in protobuf. Unknown fields are passed over.
 *
 * @throws ServiceError 400 if it is none
 */
export const decodeProtobufLogs = (bytes: Uint8Array): ReceivedLogs => {
  const collector = logCollector();
  for (const { resource, scopeLogs } of parse(bytes).resourceLogs) {
    const resourceAttributes = resource ? attributesOf(resource.attributes) : noAttributes;
    for (const { scope, logRecords } of scopeLogs) {
      const logScope = scopeOf(scope);
      for (const record of logRecords)
        collector.take(record.eventName, () => fieldsOf(record), resourceAttributes, logScope);
    }
  }
  return { records: collector.made, rejected: collector.rejected };
};
