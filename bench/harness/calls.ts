/**
 * The calls that are measured: where they come from, what their payloads compress to, and the same calls
 * as spans.
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { constants, gunzipSync, zstdCompressSync } from 'node:zlib';
import { create, toBinary } from '@bufbuild/protobuf';
import { UsageError } from '../../bin/common.ts';
import { agentTraces } from '../../examples/agent-traces.ts';
import { formatTime, isJsonObject, type Micros, parseTime } from '../../foundations/wire/index.ts';
import { ExportTraceServiceRequestSchema } from '../../test/support/otel/proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';

/** A finished call as a client reports it. */
export interface Call {
  readonly start: Readonly<Record<string, unknown>>;
  readonly end: Readonly<Record<string, unknown>>;
}

const readText = (file: string): string => {
  try {
    const bytes = readFileSync(file);
    return (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  } catch (error) {
    throw new UsageError(
      `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      {
        cause: error,
      },
    );
  }
};

const isCall = (value: unknown): value is Call =>
  isJsonObject(value) && isJsonObject(value.start) && isJsonObject(value.end);

const parseCall = (line: string, location: string): Call => {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // The error below names the line.
  }
  if (isCall(value)) return value;
  throw new UsageError(`${location} should be a call, {"start": …, "end": …}`);
};

/**
 * Reads a file of calls: one `{"start": …, "end": …}` per line, of one project and in order of
 * their starts. A file whose name ends in `.gz` is unpacked.
 *
 * @throws UsageError if the file is missing or has another form
 */
export const readCalls = (file: string): Call[] =>
  readText(file)
    .trimEnd()
    .split('\n')
    .map((line, i) => parseCall(line, `${file}, line ${i + 1}`));

/** The calls of the example's generator, the same every time. */
export const generatedCalls = (conversations: number): Call[] => [
  ...agentTraces({ projectId: 'acme/shop', conversations }),
];

/** The size of calls as JSON, in bytes. */
export const jsonBytes = (calls: Iterable<Call>): number => {
  let bytes = 0;
  for (const { start, end } of calls)
    bytes += Buffer.byteLength(JSON.stringify(start)) + Buffer.byteLength(JSON.stringify(end));
  return bytes;
};

/** The same calls without threads. */
export const withoutThreads = (calls: readonly Call[]): Call[] =>
  calls.map(({ start, end }) => ({ start: { ...start, thread_id: null, turn_id: null }, end }));

const dayMicros = 86_400_000_000;

/** Derives an id for a round: the same for the same round, and in the form of the original. */
const idInRound = (id: unknown, round: number): unknown => {
  if (typeof id !== 'string' || round === 0) return id;
  const hex = createHash('sha256').update(`${round} ${id}`).digest('hex');
  return /^[0-9a-f-]{36}$/.test(id) ? `${id.slice(0, 24)}${hex.slice(0, 12)}` : `${id}-${round}`;
};

const timeInRound = (time: unknown, round: number): string =>
  formatTime((parseTime(String(time)) ?? 0) + round * dayMicros);

/**
 * Yields `count` calls: the given ones, then copies of them with other ids, a day later in each
 * round.
 */
export function* repeatCalls(calls: readonly Call[], count: number): Generator<Call> {
  for (let i = 0; i < count; i++) {
    const round = Math.floor(i / calls.length);
    const call = calls[i % calls.length];
    if (!call) return;
    const id = idInRound(call.start.id, round);
    const ids = Object.fromEntries(
      ['trace_id', 'parent_id', 'thread_id', 'turn_id'].map((name) => [
        name,
        idInRound(call.start[name], round),
      ]),
    );
    yield {
      start: { ...call.start, ...ids, id, started_at: timeInRound(call.start.started_at, round) },
      end: { ...call.end, id, ended_at: timeInRound(call.end.ended_at, round) },
    };
  }
}

/** A month of 30 days: its begin, and its hours. */
export const monthBegin: Micros = Date.UTC(2026, 8, 1) * 1000;
const hour = 3_600_000_000;
export const monthHours = 720;
export const monthEnd: Micros = monthBegin + monthHours * hour;

/** When the call of this number starts, if so many are spread evenly over the month. */
export const startOfNth = (i: number, count: number): Micros =>
  monthBegin + Math.floor((i * monthHours * hour) / count);

/** The same calls, spread evenly over the month. */
export function* overMonth(calls: readonly Call[], count: number): Generator<Call> {
  let i = 0;
  for (const call of repeatCalls(calls, count)) {
    const startedAt = startOfNth(i++, count);
    const lasted =
      (parseTime(String(call.end.ended_at)) ?? 0) - (parseTime(String(call.start.started_at)) ?? 0);
    yield {
      start: { ...call.start, started_at: formatTime(startedAt) },
      end: { ...call.end, ended_at: formatTime(startedAt + lasted) },
    };
  }
}

/** A call's payload as a segment stores it. */
export const toPayload = ({ start, end }: Call): string =>
  [start.attributes, start.inputs, end.output, end.summary, end.exception]
    .map((value) => `${JSON.stringify(value)}\n`)
    .join('');

/** zstd's settings: those of segments (foundations/encoding/packing.ts). */
export const zstdParams: Readonly<Record<number, number>> = {
  [constants.ZSTD_c_compressionLevel]: 3,
  [constants.ZSTD_c_enableLongDistanceMatching]: 1,
  [constants.ZSTD_c_windowLog]: 23,
};

/** Compressed payload bytes per call, in batches as segments are. */
export const compressedBytes = (calls: readonly Call[], perBatch: number): number => {
  let bytes = 0;
  for (let i = 0; i < calls.length; i += perBatch) {
    const payloads = Buffer.from(
      calls
        .slice(i, i + perBatch)
        .map(toPayload)
        .join(''),
    );
    bytes += zstdCompressSync(payloads, { params: zstdParams, pledgedSrcSize: payloads.length }).length;
  }
  return bytes / calls.length;
};

// Calls as spans of OpenInference, in protobuf.

const hashId = (text: unknown, bytes: number): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHash('sha256').update(String(text)).digest().subarray(0, bytes));

const toNanos = (time: unknown): bigint => BigInt(parseTime(String(time)) ?? 0) * 1000n;

const text = (key: string, value: string) => ({
  key,
  value: { value: { case: 'stringValue' as const, value } },
});

const toAttributes = ({ start, end }: Call, inThread: boolean) => [
  text('openinference.span.kind', start.parent_id === null ? 'AGENT' : 'CHAIN'),
  text('input.value', JSON.stringify(start.inputs)),
  text('input.mime_type', 'application/json'),
  text('output.value', JSON.stringify(end.output)),
  text('output.mime_type', 'application/json'),
  text('metadata', JSON.stringify(start.attributes)),
  ...(inThread ? [text('session.id', String(start.thread_id))] : []),
];

const toSpan = (call: Call, inThread: boolean) => {
  const { trace_id, id, parent_id, op_name, started_at } = call.start;
  return {
    traceId: hashId(trace_id, 16),
    spanId: hashId(id, 8),
    ...(parent_id !== null && { parentSpanId: hashId(parent_id, 8) }),
    name: String(op_name),
    kind: 1,
    startTimeUnixNano: toNanos(started_at),
    endTimeUnixNano: toNanos(call.end.ended_at),
    attributes: toAttributes(call, inThread),
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
const toExport = (calls: readonly Call[], inThread: boolean): Uint8Array => {
  const spans = calls.map((call) => toSpan(call, inThread));
  const scope = { name: 'openinference.instrumentation.openai', version: '0.1.30' };
  const resourceSpans = [{ resource, scopeSpans: [{ scope, spans }] }];
  return toBinary(
    ExportTraceServiceRequestSchema,
    create(ExportTraceServiceRequestSchema, { resourceSpans }),
  );
};

/** Whole batches of calls as exports. What is left of the calls is left out. */
export const toExports = (calls: readonly Call[], size: number, inThread: boolean): Uint8Array[] => {
  const exports: Uint8Array[] = [];
  for (let i = 0; i + size <= calls.length; i += size)
    exports.push(toExport(calls.slice(i, i + size), inThread));
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
