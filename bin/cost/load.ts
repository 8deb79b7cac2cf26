import benchFigures from '../../bench/figures.json' with { type: 'json' };

/** A number of the load, which is an option of the command, too. */
export interface LoadOption {
  readonly fallback: number;
  /** Which numbers it accepts. */
  readonly kind: 'count' | 'positive' | 'share';
  readonly about: string;
}

const option = (fallback: number, kind: LoadOption['kind'], about: string): LoadOption => ({
  fallback,
  kind,
  about,
});

/** A month's load. */
export const loadOptions = {
  calls: option(1_000_000, 'positive', 'calls reported in a month'),
  bytes: option(7500, 'positive', 'bytes of JSON of a call, start and end'),
  batch: option(100, 'positive', 'calls per request'),
  apart: option(0, 'share', 'share of calls whose end is reported in another request than their start'),
  inThreads: option(1, 'share', 'share of calls in a thread'),
  queries: option(10_000, 'count', 'queries for the newest 100 calls, all columns'),
  traces: option(10_000, 'count', 'traces opened'),
  lists: option(10_000, 'count', 'lists of the newest 100 roots or errors, all columns'),
  usages: option(10_000, 'count', 'requests for the usage of 100 roots and all below'),
  statistics: option(1000, 'count', 'requests for statistics of a month by the hour'),
  late: option(0.01, 'share', 'share of requests that change a finished hour'),
  scans: option(100, 'count', 'searches through headers, e.g. for errors'),
  scanned: option(100_000, 'count', 'calls that one such search reads'),
  visits: option(0, 'count', 'visits to the page, each of which wakes functions'),
  months: option(3, 'positive', 'retention in months'),
  objects: option(0, 'count', 'payloads too big for an item, stored in S3'),
  objectKb: option(500, 'positive', 'kilobytes of each of them, compressed'),
};

/** What could not be measured, and is assumed. Times are of a full vCPU, in ms. */
export const assumptionOptions = {
  cpuMs: option(0.5, 'positive', 'CPU time to report a call, ms'),
  queryCpuMs: option(40, 'positive', 'CPU time of a query, ms'),
  latencyMs: option(30, 'count', 'time that a request waits for DynamoDB, ms'),
  queryLatencyMs: option(60, 'count', 'time that a query waits for DynamoDB, ms'),
  openHours: option(1.5, 'count', 'hours whose headers statistics read each time'),
  pageUnits: option(6, 'count', 'write units to store the rollups of a day'),
  used: option(0.5, 'share', 'share of provisioned capacity that is used, with billing: provisioned'),
  minUnits: option(5, 'positive', 'least units of a table or index, with billing: provisioned'),
  authorizerMs: option(15, 'count', 'time of the authorizer, ms'),
  remembered: option(0.95, 'share', 'share of requests whose authorization is cached'),
  memoryMb: option(1024, 'positive', 'memory of the functions, MB'),
  woken: option(4, 'count', 'functions that a visit wakes'),
  coldMs: option(1000, 'count', 'time that a function takes to start, ms'),
  logBytes: option(1500, 'count', 'bytes logged for a request'),
  xray: option(0, 'share', '1 if the stack traces requests with X-Ray'),
  recoverable: option(1, 'share', '0 if the setting pointInTimeRecovery is false'),
  gzip: option(0.1, 'share', 'compressed size of an answer as a share of it'),
  alarms: option(7, 'count', 'metrics of CloudWatch alarms'),
  dashboards: option(1, 'count', 'CloudWatch dashboards'),
};

/** A month's load with all assumptions: a number for each option. */
export type Load = Readonly<Record<keyof typeof loadOptions | keyof typeof assumptionOptions, number>>;

const defaults = Object.fromEntries(
  Object.entries({ ...loadOptions, ...assumptionOptions }).map(([field, { fallback }]) => [field, fallback]),
) as Load;

/** A load with the default for every missing field. */
export const toLoad = (fields: Partial<Load> = {}): Load => ({ ...defaults, ...fields });

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
  /** Units of looking at a hundred alerts, a minute; and read units if none is due. */
  readonly alerts: { readonly reads: number; readonly writes: number; readonly idle: number };
  /** Read units of a prompt by its label, for a client that keeps it. */
  readonly prompt: number;
  /** Write units of entries of the audit trail, and read units of the newest 100. */
  readonly audit: {
    readonly member: number;
    readonly alert: number;
    readonly largest: number;
    readonly newest: number;
  };
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
export const toMeasured = (figures: Figures): Measured => {
  const figure = (name: string): number => {
    const found = figures[name];
    if (!found) throw new Error(`bench/figures.json has no figure "${name}"`);
    return found[0];
  };
  const byReporting = (read: (variant: string) => number): ByReporting => ({
    together: read('writes: together'),
    apart: read('writes: apart'),
    togetherInThreads: read('writes: together, in threads'),
    apartInThreads: read('writes: apart, in threads'),
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
    alerts: {
      reads: figure('alerts: a minute: read units'),
      writes: figure('alerts: a minute: write units'),
      idle: figure('alerts: nobody is due: read units'),
    },
    prompt: figure('prompts: a read by label: read units'),
    audit: {
      member: figure('audit: a member: write units'),
      alert: figure('audit: an alert, before and after: write units'),
      largest: figure('audit: the largest values, before and after: write units'),
      newest: figure('audit: the newest 100: read units'),
    },
    compressed: toCompressed(figures),
    usual: {
      bytes: figure('payloads: JSON'),
      together: figure('payloads: usual layout, together: write units'),
      apart: figure('payloads: usual layout, apart: write units'),
      billed: figure('payloads: usual layout, bytes billed'),
    },
  };
};

const toCompressed = (figures: Figures): Measured['compressed'] =>
  Object.entries(figures)
    .flatMap(([name, [share]]) => {
      const size = /^payloads: compressed in (\d+)s$/.exec(name)?.[1];
      return size === undefined ? [] : [[Number(size), share] as const];
    })
    .sort(([a], [b]) => a - b);

export const measured = (): Measured => toMeasured(benchFigures as unknown as Figures);
