/**
 * A month's load, and what is assumed where nothing could be measured. Every field is an option of
 * the command.
 */
export interface Load {
  /** Calls reported. */
  readonly calls: number;
  /** Bytes of JSON of a call, start and end. */
  readonly bytes: number;
  /** Calls in a request. */
  readonly batch: number;
  /** The share of calls whose end comes in another request than their start, from 0 to 1. */
  readonly apart: number;
  /** The share of calls that are in a thread, from 0 to 1. */
  readonly inThreads: number;
  /** Queries for the newest 100 calls with all columns. */
  readonly queries: number;
  /** Traces that are opened. */
  readonly traces: number;
  /** Searches through headers alone. */
  readonly scans: number;
  /** Calls that one such search looks at. */
  readonly scanned: number;
  /** Months that calls are kept for. */
  readonly months: number;
  /** Payloads that are too big for an item. */
  readonly objects: number;
  /** Kilobytes of each of them, compressed. */
  readonly objectKb: number;
  /** Milliseconds of CPU that reporting a call takes, on a whole vCPU. */
  readonly cpuMs: number;
  /** Milliseconds of CPU that a query takes. */
  readonly queryCpuMs: number;
  /** Milliseconds that a request waits for DynamoDB. */
  readonly latencyMs: number;
  /** Milliseconds that a query waits for DynamoDB. */
  readonly queryLatencyMs: number;
  /** Milliseconds that the authorizer takes. */
  readonly authorizerMs: number;
  /** The share of requests whose authorization API Gateway remembers, from 0 to 1. */
  readonly remembered: number;
  /** Memory of the functions, in MB. */
  readonly memoryMb: number;
  /** Bytes that a request logs, the gateway's line and the functions' together. */
  readonly logBytes: number;
  /** The share of requests that X-Ray samples, from 0 to 1. */
  readonly traced: number;
  /** What an answer is compressed to, as a share of it, from 0 to 1. */
  readonly gzip: number;
  readonly alarms: number;
  readonly dashboards: number;
}

/** An option of the command. */
export interface LoadOption {
  /** Its name on the command line. */
  readonly flag: string;
  readonly field: keyof Load;
  readonly fallback: number;
  readonly about: string;
  /** What it may be. */
  readonly kind: 'count' | 'positive' | 'share';
}

const option = (
  flag: string,
  field: keyof Load,
  fallback: number,
  kind: LoadOption['kind'],
  about: string,
): LoadOption => ({ flag, field, fallback, kind, about });

/** What the load is. */
export const loadOptions: readonly LoadOption[] = [
  option('calls', 'calls', 1_000_000, 'positive', 'calls reported in a month'),
  option('bytes', 'bytes', 7500, 'positive', 'bytes of JSON of a call, start and end'),
  option('batch', 'batch', 100, 'positive', 'calls in a request'),
  option('apart', 'apart', 0, 'share', 'share of calls whose end comes in another request than their start'),
  option('in-threads', 'inThreads', 1, 'share', 'share of calls that are in a thread'),
  option('queries', 'queries', 10_000, 'count', 'queries for the newest 100 calls, all columns'),
  option('traces', 'traces', 10_000, 'count', 'traces opened'),
  option('scans', 'scans', 100, 'count', 'searches through headers, e.g. for errors'),
  option('scanned', 'scanned', 100_000, 'count', 'calls that one such search looks at'),
  option('months', 'months', 3, 'positive', 'months that calls are kept for'),
  option('objects', 'objects', 0, 'count', 'payloads too big for an item, which go to S3'),
  option('object-kb', 'objectKb', 500, 'positive', 'kilobytes of each of them, compressed'),
];

/** What is assumed. */
export const assumptionOptions: readonly LoadOption[] = [
  option('cpu-ms', 'cpuMs', 0.5, 'positive', 'CPU that reporting a call takes, ms'),
  option('query-cpu-ms', 'queryCpuMs', 40, 'positive', 'CPU that a query takes, ms'),
  option('latency-ms', 'latencyMs', 30, 'count', 'that a request waits for DynamoDB, ms'),
  option('query-latency-ms', 'queryLatencyMs', 60, 'count', 'that a query waits for DynamoDB, ms'),
  option('authorizer-ms', 'authorizerMs', 15, 'count', 'that the authorizer takes, ms'),
  option('remembered', 'remembered', 0.95, 'share', 'share of requests whose authorization is cached'),
  option('memory-mb', 'memoryMb', 1024, 'positive', 'memory of the functions'),
  option('log-bytes', 'logBytes', 1500, 'count', 'bytes that a request logs'),
  option('traced', 'traced', 0.05, 'share', 'share of requests that X-Ray samples'),
  option('gzip', 'gzip', 0.1, 'share', 'what an answer is compressed to'),
  option('alarms', 'alarms', 6, 'count', 'CloudWatch alarms'),
  option('dashboards', 'dashboards', 1, 'count', 'CloudWatch dashboards'),
];

const allOptions = [...loadOptions, ...assumptionOptions];

/** A load of which some is given. */
export const loadOf = (given: Partial<Load> = {}): Load => ({
  ...(Object.fromEntries(allOptions.map(({ field, fallback }) => [field, fallback])) as unknown as Load),
  ...given,
});
