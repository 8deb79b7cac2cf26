import benchFigures from '../../bench/figures.json' with { type: 'json' };

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
