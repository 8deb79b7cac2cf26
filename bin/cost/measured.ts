import figures from '../../bench/figures.json' with { type: 'json' };

/** The figures that the bench keeps: by `<group>: <name>`, with their units behind them. */
export type Figures = Readonly<Record<string, readonly [value: number, unit: string]>>;

/**
 * What the bench measured of the layouts, as far as a bill depends on it: units and bytes a call.
 */
export interface Measured {
  /** Write units of a call's items and index rows, its payload left out. */
  readonly headerUnits: ByWay;
  /** Read units of reporting a call. */
  readonly reportReads: ByWay;
  /** Bytes that are billed of a call's items and index rows, payload left out. */
  readonly headerBytes: ByWay;
  /** Of these, those of the table itself, which alone are paid for to be recoverable. */
  readonly itemBytes: ByWay;
  /** How much more of compressed payload there is when starts and ends come apart: a factor. */
  readonly apartPayload: number;
  /** Read units of the newest 100 calls, and of a trace. */
  readonly newest: number;
  readonly trace: number;
  /** Calls that a search through headers looks at with a read unit. */
  readonly scannedAUnit: number;
  /**
   * What payloads compress to, as a share of the JSON, by how many calls are in a request,
   * ascending.
   */
  readonly compressed: readonly (readonly [batch: number, share: number])[];
  /** The usual layout: write units and bytes billed a call of `bytes` of JSON. */
  readonly usual: {
    readonly bytes: number;
    readonly together: number;
    readonly apart: number;
    readonly billed: number;
  };
}

/** A figure for calls whose starts and ends come together or apart, outside threads or in them. */
export interface ByWay {
  readonly together: number;
  readonly apart: number;
  readonly togetherInThreads: number;
  readonly apartInThreads: number;
}

const rowOverhead = 100;

/**
 * Reads the measured figures out of those that are kept.
 *
 * @throws Error where one is missing
 */
export const measuredOf = (kept: Figures): Measured => {
  const figure = (name: string): number => {
    const found = kept[name];
    if (!found) throw new Error(`bench/figures.json has no figure "${name}"`);
    return found[0];
  };
  const byWay = (of: (way: string) => number): ByWay => ({
    together: of('writes: together'),
    apart: of('writes: apart'),
    togetherInThreads: of('writes: together, in threads'),
    apartInThreads: of('writes: apart, in threads'),
  });
  const segments = (way: string) => figure(`${way}: bytes stored, each, segments`);
  const items = (way: string) => figure(`${way}: bytes stored, each, items`);
  return {
    headerUnits: byWay((way) => figure(`${way}: write units`) - figure(`${way}: write units of segments`)),
    reportReads: byWay((way) => figure(`${way}: read units`)),
    headerBytes: byWay((way) => figure(`${way}: bytes billed`) - segments(way)),
    itemBytes: byWay((way) => items(way) + (way.includes('apart') ? 2 : 1) * rowOverhead),
    apartPayload: segments('writes: apart') / segments('writes: together'),
    newest: figure('queries: newest 100, all columns (together): read units'),
    trace: figure('queries: one trace (together): read units'),
    scannedAUnit: figure('queries: slower than 5 s, headers (together): looked at'),
    compressed: compressedOf(kept),
    usual: {
      bytes: figure('payloads: JSON'),
      together: figure('payloads: usual layout, together: write units'),
      apart: figure('payloads: usual layout, apart: write units'),
      billed: figure('payloads: usual layout, bytes billed'),
    },
  };
};

const compressedOf = (kept: Figures): Measured['compressed'] =>
  Object.entries(kept)
    .flatMap(([name, [share]]) => {
      const size = /^payloads: compressed in (\d+)s$/.exec(name)?.[1];
      return size === undefined ? [] : [[Number(size), share] as const];
    })
    .sort(([a], [b]) => a - b);

/** The figures that are kept beside the bench. */
export const measured = (): Measured => measuredOf(figures as unknown as Figures);
