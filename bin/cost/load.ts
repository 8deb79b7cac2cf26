import benchFigures from '../../bench/figures.json' with { type: 'json' };

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
  /** Hours that are not rolled up yet, or are stale, when statistics are asked for. */
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

/** The figures of the bench by `<group>: <name>`, each with its unit. */
export type Figures = Readonly<Record<string, readonly [value: number, unit: string]>>;

/** The measured figures that a bill depends on, in units and bytes per call. */
export interface Measured {
  /** Write units of a call's items and index rows, without the payload. */
  readonly headerUnits: ByReporting;
  /** Read units of reporting a call. */
  readonly reportReads: ByReporting;
  /** Billed bytes of a call's items and index rows, without the payload. */
  readonly headerBytes: ByReporting;
  /** The share of these bytes in the table itself. Only it is billed for point-in-time recovery. */
  readonly itemBytes: ByReporting;
  /** The factor by which compressed payloads grow when starts and ends are reported apart. */
  readonly apartPayload: number;
  /** Read units of the newest 100 calls, and of a trace. */
  readonly newest: number;
  readonly trace: number;
  /** Read units of the newest 100 roots in longer traces. */
  readonly list: number;
  /** Read units of the usage of 100 roots. */
  readonly usage: number;
  /** Read units of the rollups of a month of 100,000 calls. */
  readonly rollups: number;
  /** Calls that a search through headers reads per read unit. */
  readonly scannedPerUnit: number;
  /** Read units of the events, and of the rows, of a call whose start and end come apart. */
  readonly eventReads: number;
  readonly rowReads: number;
  /** Compressed payloads as a share of the JSON, by calls per request, ascending. */
  readonly compressed: readonly (readonly [batch: number, share: number])[];
  /** The usual layout: write units and billed bytes of a call with `bytes` of JSON. */
  readonly usual: {
    readonly bytes: number;
    readonly together: number;
    readonly apart: number;
    readonly billed: number;
  };
}

/**
 * A figure by how calls are reported: start and end together or apart, with or without a thread.
 */
export interface ByReporting {
  readonly together: number;
  readonly apart: number;
  readonly togetherInThreads: number;
  readonly apartInThreads: number;
}

const rowOverhead = 100;

/**
 * Selects the measured figures of a bill from those of the bench.
 *
 * @throws Error if one is missing
 */
export const measuredOf = (figures: Figures): Measured => {
  const figure = (name: string): number => {
    const found = figures[name];
    if (!found) throw new Error(`bench/figures.json has no figure "${name}"`);
    return found[0];
  };
  const byReporting = (of: (variant: string) => number): ByReporting => ({
    together: of('writes: together'),
    apart: of('writes: apart'),
    togetherInThreads: of('writes: together, in threads'),
    apartInThreads: of('writes: apart, in threads'),
  });
  const segments = (variant: string) => figure(`${variant}: bytes stored, each, segments`);
  const items = (variant: string) => figure(`${variant}: bytes stored, each, items`);
  return {
    headerUnits: byReporting(
      (variant) => figure(`${variant}: write units`) - figure(`${variant}: write units of segments`),
    ),
    reportReads: byReporting((variant) => figure(`${variant}: read units`)),
    headerBytes: byReporting((variant) => figure(`${variant}: bytes billed`) - segments(variant)),
    itemBytes: byReporting((variant) => items(variant) + (variant.includes('apart') ? 2 : 1) * rowOverhead),
    apartPayload: segments('writes: apart') / segments('writes: together'),
    newest: figure('queries: newest 100, all columns (together): read units'),
    trace: figure('queries: one trace (together): read units'),
    list: figure('lists: newest 100 roots, all columns, of 5000 (apart): read units'),
    usage: figure('statistics: usage of 100 roots of 20 calls, of known traces: read units'),
    rollups: figure('rollups: 100000 calls, by the hour, warm: read units'),
    scannedPerUnit: figure('queries: slower than 5 s, headers (together): looked at'),
    eventReads: figure('streams: events, apart: read units'),
    rowReads: figure('streams: analytics, apart: read units'),
    compressed: compressedOf(figures),
    usual: {
      bytes: figure('payloads: JSON'),
      together: figure('payloads: usual layout, together: write units'),
      apart: figure('payloads: usual layout, apart: write units'),
      billed: figure('payloads: usual layout, bytes billed'),
    },
  };
};

const compressedOf = (figures: Figures): Measured['compressed'] =>
  Object.entries(figures)
    .flatMap(([name, [share]]) => {
      const size = /^payloads: compressed in (\d+)s$/.exec(name)?.[1];
      return size === undefined ? [] : [[Number(size), share] as const];
    })
    .sort(([a], [b]) => a - b);

/** The figures in bench/figures.json. */
export const measured = (): Measured => measuredOf(benchFigures as unknown as Figures);
