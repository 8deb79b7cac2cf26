import { ExactNumber, ServiceError, tooLarge } from '../../../../foundations/wire/index.ts';
import type { Attributes, LogRecord, Scope, Span } from '../span.ts';

const maxMessage = 500;

/** 400: the body is no export. OTLP has it in the place of a 422. */
export const badBody = (problem: string, cause?: unknown): ServiceError =>
  new ServiceError(
    400,
    [{ loc: ['body'], msg: `the body ${problem.slice(0, maxMessage)}`, type: 'value_error' }],
    { cause },
  );

/** A span as it was received. */
export interface ReceivedSpan {
  readonly span: Span;
  /**
   * Whether its parent is in another process, as its flags say. Exporters that don't set the flags
   * leave it false.
   */
  readonly hasRemoteParent: boolean;
}

/** Spans or log records that cannot be taken, and why: a sentence that says what to change. */
export interface Rejection {
  readonly count: number;
  readonly reason: string;
  /** Whether nobody is to change anything: it is left out by design. @default false */
  readonly isMeant?: boolean;
}

/** A decoded request of metrics, of which nothing is kept. */
export interface ReceivedMetrics {
  readonly resources: readonly Attributes[];
  /** How many data points it has. */
  readonly points: number;
}

/** A decoded request. */
export interface ReceivedExport {
  readonly spans: readonly ReceivedSpan[];
  readonly rejected: readonly Rejection[];
}

/** A decoded request of logs. */
export interface ReceivedLogs {
  readonly records: readonly LogRecord[];
  readonly rejected: readonly Rejection[];
}

/** A span cannot be taken. The others of its request can. */
export class UnusableSpan extends Error {
  override readonly name = 'UnusableSpan';
}

/** Bits of `Span.flags` (`trace.proto`): whether it is known where the parent is, and where. */
const knowsParent = 0x100;
const parentIsRemote = 0x200;

const traceIdBytes = 16;
const spanIdBytes = 8;

/** A span's fields as an encoding has them. Nothing of them is checked but their types. */
export interface SpanFields extends Omit<Span, 'traceId' | 'spanId' | 'parentSpanId' | 'scope' | 'resource'> {
  readonly traceId: Uint8Array;
  readonly spanId: Uint8Array;
  readonly parentSpanId: Uint8Array;
  readonly flags: number;
}

const longestDecimal = 1e16;

/** A double, which keeps what tells it from an integer: `1.0` and `-0.0`. */
export const toDouble = (value: number): number | ExactNumber => {
  if (!Number.isInteger(value)) return value;
  if (Math.abs(value) >= longestDecimal) return new ExactNumber(value.toExponential());
  return new ExactNumber(`${Object.is(value, -0) ? '-0' : value}.0`);
};

/** Bytes as lower-case hex digits. */
export const toHex = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');

const isSet = (bytes: Uint8Array): boolean => bytes.some((byte) => byte !== 0);

/** @throws UnusableSpan if the id is of another length, or all zeros */
const requiredId = (name: string, bytes: Uint8Array, length: number): string => {
  if (bytes.length === length && isSet(bytes)) return toHex(bytes);
  throw new UnusableSpan(`${name} should be ${length} bytes that are not all zero`);
};

/** The parent of a span; undefined for a root, which some exporters mark by zeros. */
const getParent = ({ parentSpanId, spanId }: SpanFields): string | undefined => {
  if (!isSet(parentSpanId)) return undefined;
  const parent = requiredId('parent_span_id', parentSpanId, spanIdBytes);
  return parent === toHex(spanId) ? undefined : parent;
};

/** Start and end. One that is zero, which means unknown, is taken from the other. */
const getTimes = ({ startTimeUnixNano: start, endTimeUnixNano: end }: SpanFields) => {
  if (start === 0n && end === 0n)
    throw new UnusableSpan('start_time_unix_nano and end_time_unix_nano are both zero; one should be set');
  return { startTimeUnixNano: start || end, endTimeUnixNano: end || start };
};

/**
 * Makes a span of its fields.
 *
 * @throws UnusableSpan if its ids or times are none
 */
const toSpan = (fields: SpanFields, resource: Attributes, scope: Scope): ReceivedSpan => {
  const { flags, ...rest } = fields;
  const span: Span = {
    ...rest,
    traceId: requiredId('trace_id', fields.traceId, traceIdBytes),
    spanId: requiredId('span_id', fields.spanId, spanIdBytes),
    parentSpanId: getParent(fields),
    ...getTimes(fields),
    scope,
    resource,
  };
  const remote = knowsParent | parentIsRemote;
  return { span, hasRemoteParent: (flags & remote) === remote };
};

/** A log record's fields as an encoding has them. Nothing of them is checked but their types. */
export interface LogFields
  extends Omit<LogRecord, 'traceId' | 'spanId' | 'timeUnixNano' | 'scope' | 'resource'> {
  readonly traceId: Uint8Array;
  readonly spanId: Uint8Array;
  readonly timeUnixNano: bigint;
  readonly observedTimeUnixNano: bigint;
}

/** The time that agents write as an attribute of their records; 0 if there is none. */
const readTimestamp = (attributes: Attributes): bigint => {
  const text = attributes.get('event.timestamp');
  const milliseconds = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  return Number.isNaN(milliseconds) ? 0n : BigInt(milliseconds) * 1_000_000n;
};

/** @throws UnusableSpan if its ids or times are none */
const toRecord = (fields: LogFields, resource: Attributes, scope: Scope): LogRecord => {
  const { observedTimeUnixNano, ...rest } = fields;
  const optionalId = (name: string, bytes: Uint8Array, length: number) =>
    isSet(bytes) ? requiredId(name, bytes, length) : undefined;
  const timeUnixNano = fields.timeUnixNano || observedTimeUnixNano || readTimestamp(fields.attributes);
  if (timeUnixNano === 0n)
    throw new UnusableSpan('time_unix_nano and observed_time_unix_nano are both zero; one should be set');
  return {
    ...rest,
    traceId: optionalId('trace_id', fields.traceId, traceIdBytes),
    spanId: optionalId('span_id', fields.spanId, spanIdBytes),
    timeUnixNano,
    scope,
    resource,
  };
};

/** More calls than one request can store in its time. */
const maxSpans = 50_000;

const maxName = 60;

/** A span's name for a message. Names can be as long as the request. */
const shortName = (name: unknown): string => {
  if (typeof name !== 'string' || name === '') return 'without a name';
  return `"${name.length > maxName ? `${name.slice(0, maxName)}…` : name}"`;
};

/** Collects the spans or log records of a request, and sets those apart that cannot be taken. */
class Collector<Fields, Made> {
  readonly #make: (fields: Fields, resource: Attributes, scope: Scope) => Made;
  readonly #what: string;
  readonly made: Made[] = [];
  readonly rejected: Rejection[] = [];

  constructor(what: string, make: (fields: Fields, resource: Attributes, scope: Scope) => Made) {
    this.#what = what;
    this.#make = make;
  }

  /**
   * Takes one.
   *
   * @param name its name, for a message
   * @param fields throws UnusableSpan if it cannot be taken
   * @throws ServiceError 413 when there are too many of them
   */
  take(name: unknown, fields: () => Fields, resource: Attributes, scope: Scope): void {
    if (this.made.length + this.rejected.length >= maxSpans) {
      const msg = `should have at most ${maxSpans} ${this.#what}s: lower OTEL_BSP_MAX_EXPORT_BATCH_SIZE or OTEL_BLRP_MAX_EXPORT_BATCH_SIZE, or send_batch_max_size of a collector`;
      throw tooLarge({ loc: ['body'], msg, type: 'too_large' });
    }
    try {
      this.made.push(this.#make(fields(), resource, scope));
    } catch (error) {
      if (!(error instanceof UnusableSpan)) throw error;
      this.rejected.push({ count: 1, reason: `${this.#what} ${shortName(name)}: ${error.message}` });
    }
  }
}

export const spanCollector = () => new Collector('span', toSpan);
export const logCollector = () => new Collector('log record', toRecord);
