/** Calls as spans of OpenInference, in protobuf. */
import { createHash } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { ExportTraceServiceRequestSchema } from '../../core/doors/otel/proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import { parseTime } from '../../core/foundations/wire/index.ts';
import type { Call } from './calls.ts';

const idOf = (text: unknown, bytes: number): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHash('sha256').update(String(text)).digest().subarray(0, bytes));

const nanosOf = (time: unknown): bigint => BigInt(parseTime(String(time)) ?? 0) * 1000n;

const text = (key: string, value: string) => ({
  key,
  value: { value: { case: 'stringValue' as const, value } },
});

const attributesOf = ({ start, end }: Call, inThread: boolean) => [
  text('openinference.span.kind', start.parent_id === null ? 'AGENT' : 'CHAIN'),
  text('input.value', JSON.stringify(start.inputs)),
  text('input.mime_type', 'application/json'),
  text('output.value', JSON.stringify(end.output)),
  text('output.mime_type', 'application/json'),
  text('metadata', JSON.stringify(start.attributes)),
  ...(inThread ? [text('session.id', String(start.thread_id))] : []),
];

const spanOf = (call: Call, inThread: boolean) => {
  const { trace_id, id, parent_id, op_name, started_at } = call.start;
  return {
    traceId: idOf(trace_id, 16),
    spanId: idOf(id, 8),
    ...(parent_id !== null && { parentSpanId: idOf(parent_id, 8) }),
    name: String(op_name),
    kind: 1,
    startTimeUnixNano: nanosOf(started_at),
    endTimeUnixNano: nanosOf(call.end.ended_at),
    attributes: attributesOf(call, inThread),
  };
};

const resource = {
  attributes: [
    text('svc.project_id', 'acme/shop'),
    text('service.name', 'shop'),
    text('telemetry.sdk.language', 'python'),
    text('telemetry.sdk.name', 'opentelemetry'),
    text('telemetry.sdk.version', '1.39.0'),
  ],
};

/** An export of calls as spans of one resource. */
export const exportOf = (calls: readonly Call[], inThread: boolean): Uint8Array => {
  const spans = calls.map((call) => spanOf(call, inThread));
  const scope = { name: 'openinference.instrumentation.openai', version: '0.1.30' };
  const resourceSpans = [{ resource, scopeSpans: [{ scope, spans }] }];
  return toBinary(
    ExportTraceServiceRequestSchema,
    create(ExportTraceServiceRequestSchema, { resourceSpans }),
  );
};

/** Whole batches of calls as exports. What is left of the calls is left out. */
export const exportsOf = (calls: readonly Call[], size: number, inThread: boolean): Uint8Array[] => {
  const exports: Uint8Array[] = [];
  for (let i = 0; i + size <= calls.length; i += size)
    exports.push(exportOf(calls.slice(i, i + size), inThread));
  return exports;
};

/** Calls whose span has about so many bytes. */
export const callsOfBytes = (calls: readonly Call[], bytes: number): Call[] =>
  calls.map(({ start, end }, i) => {
    const question = createHash('sha512')
      .update(`${i}`)
      .digest('hex')
      .repeat(Math.ceil(bytes / 128));
    const inputs = { question: question.slice(0, Math.max(0, bytes - 450)) };
    return { start: { ...start, attributes: {}, inputs }, end: { ...end, output: 'done' } };
  });
