import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { isNumber, type JsonObject, type JsonValue } from '../../../foundations/wire/index.ts';
import { StatusSchema } from './proto/google/rpc/status_pb.js';
import {
  ExportTraceServiceRequestSchema,
  ExportTraceServiceResponseSchema,
} from './proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import type { SpanSchema } from './proto/opentelemetry/proto/trace/v1/trace_pb.js';

/** Ids as OTLP's JSON has them. */
export const traceId = '5b8efff798038103d269b633813fc60c';
export const spanId = 'eee19b7ec3c1b174';
/** The id of the call of that span. */
export const callId = 'd269b633813fc60ceee19b7ec3c1b174';

/** 2026-10-01T00:00:00.123456789Z */
export const startNanos = 1790812800123456789n;

const oneValue = (value: JsonValue): JsonObject => {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(oneValue) } };
  if (isNumber(value))
    return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: Number(value) };
  return value === null ? {} : { kvlistValue: { values: attributes(value) } };
};

/** Attributes as OTLP's JSON has them. */
export const attributes = (values: JsonObject): JsonObject[] =>
  Object.entries(values).map(([key, value]) => ({ key, value: oneValue(value) }));

/** A span in OTLP's JSON. */
export const spanJson = (fields: JsonObject = {}): JsonObject => ({
  traceId,
  spanId,
  name: 'find_order',
  kind: 3,
  startTimeUnixNano: String(startNanos),
  endTimeUnixNano: String(startNanos + 1_500_000_000n),
  ...fields,
});

/** An export of spans of one resource, in OTLP's JSON. */
export const exportJson = (resource: JsonObject, spans: readonly JsonObject[]): JsonObject => ({
  resourceSpans: [
    {
      resource: { attributes: attributes(resource) },
      scopeSpans: [{ scope: { name: 'shop', version: '1.2' }, spans: [...spans] }],
    },
  ],
});

/** An export of one span to a project. */
export const spanExport = (project: string, values: JsonObject = { text: 'good' }): JsonObject =>
  exportJson({ 'svc.project_id': project }, [spanJson({ attributes: attributes(values) })]);

/** A log record in OTLP's JSON. Its span is that of {@link spanJson}. */
export const recordJson = (event: string, values: JsonObject, fields: JsonObject = {}): JsonObject => ({
  traceId,
  spanId,
  timeUnixNano: String(startNanos),
  eventName: event,
  attributes: attributes(values),
  ...fields,
});

/** An export of log records of one project, in OTLP's JSON. */
export const logsJson = (project: string, ...logRecords: JsonObject[]): JsonObject => ({
  resourceLogs: [
    {
      resource: { attributes: attributes({ 'svc.project_id': project }) },
      scopeLogs: [{ scope: { name: 'shop' }, logRecords }],
    },
  ],
});

/** A record of a coding agent, which names no span. */
export const agentJson = (event: string, values: JsonObject): JsonObject =>
  recordJson(event, { 'session.id': 'session', ...values }, { traceId: '', spanId: '' });

/** A span's message; what is not given is zero. */
export type SpanInit = MessageInitShape<typeof SpanSchema>;

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));

/** A span as a message, with the ids and times of {@link spanJson}. */
export const spanMessage = (fields: SpanInit = {}): SpanInit => ({
  traceId: bytes(traceId),
  spanId: bytes(spanId),
  name: 'find_order',
  startTimeUnixNano: startNanos,
  endTimeUnixNano: startNanos + 1_500_000_000n,
  ...fields,
});

/** A text attribute as a message. */
export const textAttribute = (key: string, value: string) => ({
  key,
  value: { value: { case: 'stringValue' as const, value } },
});

/** An export of spans to a project, in protobuf. */
export const exportBytes = (project: string | null, spans: readonly SpanInit[]): Uint8Array<ArrayBuffer> => {
  const resource = project === null ? [] : [textAttribute('svc.project_id', project)];
  const scopeSpans = [{ scope: { name: 'shop' }, spans: [...spans] as SpanInit[] }];
  const resourceSpans = [{ resource: { attributes: resource }, scopeSpans }];
  return toBinary(
    ExportTraceServiceRequestSchema,
    create(ExportTraceServiceRequestSchema, { resourceSpans } as never),
  );
};

/** What an answer in protobuf says: how many spans were not taken, and why. */
export const decodeAnswer = (answer: Uint8Array): { rejected: number; message: string } => {
  const { partialSuccess } = fromBinary(ExportTraceServiceResponseSchema, answer);
  return {
    rejected: Number(partialSuccess?.rejectedSpans ?? 0n),
    message: partialSuccess?.errorMessage ?? '',
  };
};

/** What an error in protobuf says. */
export const decodeStatus = (answer: Uint8Array): { code: number; message: string } => {
  const { code, message } = fromBinary(StatusSchema, answer);
  return { code, message };
};
