/**
 * A month's load, with assumptions where nothing could be measured. Every field is an option of the
 * command.
 */
export interface Load {
  /** Calls reported. */
  readonly calls: number;
  /** Bytes of a call's JSON, start and end. */
  readonly bytes: number;
  /** Calls per request. */
  readonly batch: number;
  /** The share of calls whose end is reported in another request than their start, 0 to 1. */
  readonly apart: number;
  /** The share of calls in a thread, 0 to 1. */
  readonly inThreads: number;
  /** Queries for the newest 100 calls with all columns. */
  readonly queries: number;
  /** Traces opened. */
  readonly traces: number;
  /** Lists of the newest 100 roots or errors with all columns, which the page opens with. */
  readonly lists: number;
  /** Times that usage with all below was asked for of 100 roots. */
  readonly usages: number;
  /** Statistics of a month by the hour. */
  readonly statistics: number;
  /** The share of reports that change an hour which is finished, 0 to 1. */
  readonly late: number;
  /** Searches through headers. */
  readonly scans: number;
  /** Calls that one such search reads. */
  readonly scanned: number;
  /** Visits to the page: each may wake functions. */
  readonly visits: number;
  /** Retention in months. */
  readonly months: number;
  /** Payloads too big for an item. */
  readonly objects: number;
  /** Kilobytes of each of them, compressed. */
  readonly objectKb: number;
  /** Milliseconds of a full vCPU for reporting a call. */
  readonly cpuMs: number;
  /** Milliseconds of a full vCPU for a query. */
  readonly queryCpuMs: number;
  /** Milliseconds that a request waits for DynamoDB. */
  readonly latencyMs: number;
  /** Milliseconds that a query waits for DynamoDB. */
  readonly queryLatencyMs: number;
  /** Hours that are not rolled up yet, or marked, when statistics are asked for. */
  readonly openHours: number;
  /** Write units of storing the rollups of a day's hours. */
  readonly pageUnits: number;
  /** Milliseconds that the authorizer takes. */
  readonly authorizerMs: number;
  /** The share of requests whose authorization API Gateway has cached, 0 to 1. */
  readonly remembered: number;
  /** Memory of the functions, in MB. */
  readonly memoryMb: number;
  /** Functions that a visit wakes. */
  readonly woken: number;
  /** Milliseconds that a function takes to start. */
  readonly coldMs: number;
  /** Bytes logged for a request, by the gateway and the functions. */
  readonly logBytes: number;
  /** The share of requests that X-Ray samples, 0 to 1. */
  readonly traced: number;
  /** The compressed size of an answer as a share of it, 0 to 1. */
  readonly gzip: number;
  readonly alarms: number;
  readonly dashboards: number;
}

export interface LoadOption {
  /** Its name on the command line. */
  readonly flag: string;
  readonly field: keyof Load;
  readonly fallback: number;
  readonly about: string;
  /** Which numbers it accepts. */
  readonly kind: 'count' | 'positive' | 'share';
}

const option = (
  flag: string,
  field: keyof Load,
  fallback: number,
  kind: LoadOption['kind'],
  about: string,
): LoadOption => ({ flag, field, fallback, kind, about });

/** The options of the load. */
export const loadOptions: readonly LoadOption[] = [
  option('calls', 'calls', 1_000_000, 'positive', 'calls reported in a month'),
  option('bytes', 'bytes', 7500, 'positive', 'bytes of JSON of a call, start and end'),
  option('batch', 'batch', 100, 'positive', 'calls per request'),
  option(
    'apart',
    'apart',
    0,
    'share',
    'share of calls whose end is reported in another request than their start',
  ),
  option('in-threads', 'inThreads', 1, 'share', 'share of calls in a thread'),
  option('queries', 'queries', 10_000, 'count', 'queries for the newest 100 calls, all columns'),
  option('traces', 'traces', 10_000, 'count', 'traces opened'),
  option('lists', 'lists', 10_000, 'count', 'lists of the newest 100 roots or errors, all columns'),
  option('usages', 'usages', 10_000, 'count', 'requests for the usage of 100 roots and all below'),
  option('statistics', 'statistics', 1000, 'count', 'requests for statistics of a month by the hour'),
  option('late', 'late', 0.01, 'share', 'share of requests that change a finished hour'),
  option('scans', 'scans', 100, 'count', 'searches through headers, e.g. for errors'),
  option('scanned', 'scanned', 100_000, 'count', 'calls that one such search reads'),
  option('visits', 'visits', 0, 'count', 'visits to the page, each of which wakes functions'),
  option('months', 'months', 3, 'positive', 'retention in months'),
  option('objects', 'objects', 0, 'count', 'payloads too big for an item, stored in S3'),
  option('object-kb', 'objectKb', 500, 'positive', 'kilobytes of each of them, compressed'),
];

/** The options of the assumptions. */
export const assumptionOptions: readonly LoadOption[] = [
  option('cpu-ms', 'cpuMs', 0.5, 'positive', 'CPU time to report a call, ms'),
  option('query-cpu-ms', 'queryCpuMs', 40, 'positive', 'CPU time of a query, ms'),
  option('latency-ms', 'latencyMs', 30, 'count', 'time that a request waits for DynamoDB, ms'),
  option('query-latency-ms', 'queryLatencyMs', 60, 'count', 'time that a query waits for DynamoDB, ms'),
  option('open-hours', 'openHours', 1.5, 'count', 'hours whose headers statistics read each time'),
  option('page-units', 'pageUnits', 6, 'count', 'write units to store the rollups of a day'),
  option('authorizer-ms', 'authorizerMs', 15, 'count', 'time of the authorizer, ms'),
  option('remembered', 'remembered', 0.95, 'share', 'share of requests whose authorization is cached'),
  option('memory-mb', 'memoryMb', 1024, 'positive', 'memory of the functions, MB'),
  option('woken', 'woken', 4, 'count', 'functions that a visit wakes'),
  option('cold-ms', 'coldMs', 1000, 'count', 'time that a function takes to start, ms'),
  option('log-bytes', 'logBytes', 1500, 'count', 'bytes logged for a request'),
  option('traced', 'traced', 0.05, 'share', 'share of requests that X-Ray samples'),
  option('gzip', 'gzip', 0.1, 'share', 'compressed size of an answer as a share of it'),
  option('alarms', 'alarms', 7, 'count', 'metrics of CloudWatch alarms'),
  option('dashboards', 'dashboards', 1, 'count', 'CloudWatch dashboards'),
];

const allOptions = [...loadOptions, ...assumptionOptions];

/** A load with the default for every missing field. */
export const loadOf = (fields: Partial<Load> = {}): Load => ({
  ...(Object.fromEntries(allOptions.map(({ field, fallback }) => [field, fallback])) as unknown as Load),
  ...fields,
});
