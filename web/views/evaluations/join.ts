import type { RowFigures } from '../../calls/list/usage.ts';
import type { RowFilter } from '../../navigation/search.ts';
import type { Scores } from './scores.ts';

/** A row of an evaluation, as it was run once. Texts are cut to what a list shows. */
export interface RunRow {
  /** The id of its call. */
  readonly id: string;
  /** What tells its example from others. */
  readonly key: string;
  readonly inputs: string;
  readonly expected: string;
  readonly output: string;
  /** Whether its own call says so. */
  readonly failed: boolean;
  readonly scores: Scores;
  /** In ms; undefined if nobody measured it. */
  readonly latency: number | undefined;
}

/** What a run made of an example: the mean over its trials. */
export interface Cell {
  readonly trials: readonly RunRow[];
  readonly scores: ReadonlyMap<string, number>;
  readonly latency: number | undefined;
  /** Undefined while it is not known, and without a price. */
  readonly cost: number | undefined;
  /** Whether a trial failed. */
  readonly failed: boolean;
}

/** An example, with what each run made of it; undefined for a run that does not have it. */
export interface JoinedRow {
  readonly key: string;
  /** The first of its rows. */
  readonly first: RunRow;
  readonly cells: readonly (Cell | undefined)[];
}

const computeMean = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;

/** What rows used and how much of them failed, by the ids of their calls; undefined while nobody knows. */
type Figures = ReadonlyMap<string, RowFigures> | undefined;

/** What a row cost; undefined without a price, or with prices in several units. */
const costIn = (figures: RowFigures | undefined): number | undefined => {
  const amounts = [...(figures?.usage?.cost?.values() ?? [])];
  return amounts.length === 1 ? amounts[0] : undefined;
};

/** Whether a row failed, or has no output because a call below it failed. */
const hasFailed = ({ id, failed, output }: RunRow, figures: Figures): boolean =>
  failed || (output === '' && (figures?.get(id)?.errors ?? 0) > 0);

const toCell = (trials: readonly RunRow[], figures: Figures): Cell => {
  const names = new Set(trials.flatMap(({ scores }) => [...scores.numbers.keys()]));
  const means = [...names].map((name): [string, number] => [
    name,
    computeMean(trials.flatMap(({ scores }) => scores.numbers.get(name) ?? [])) ?? 0,
  ]);
  return {
    trials,
    scores: new Map(means),
    latency: computeMean(trials.flatMap(({ latency }) => latency ?? [])),
    cost: computeMean(trials.flatMap(({ id }) => costIn(figures?.get(id)) ?? [])),
    failed: trials.some((trial) => hasFailed(trial, figures)),
  };
};

/**
 * Puts the rows of runs beside each other that are of the same example, in the order of the first run
 * that has it.
 *
 * @param figures of each run
 */
export const joinRuns = (
  runs: readonly (readonly RunRow[])[],
  figures: readonly Figures[] = [],
): JoinedRow[] => {
  const byKey = runs.map((rows) => Map.groupBy(rows, ({ key }) => key));
  const firsts = new Map<string, RunRow>();
  for (const row of runs.flat()) if (!firsts.has(row.key)) firsts.set(row.key, row);
  return [...firsts].map(([key, first]) => ({
    key,
    first,
    cells: byKey.map((rows, run) => {
      const trials = rows.get(key);
      return trials && toCell(trials, figures[run]);
    }),
  }));
};

/** What runs are compared by: a score, the latency, or the cost. */
export interface Measure {
  /** As the URL has it: `score.correct`, `latency`, `cost`. */
  readonly id: string;
  readonly title: string;
  readonly kind: 'score' | 'latency' | 'cost';
  /** Whether less is better. */
  readonly less: boolean;
  readonly read: (cell: Cell) => number | undefined;
}

/**
 * The measures that any row has: first its scores, in the order in which they come.
 *
 * @param less the scores of which less is better, by their ids
 */
export const findMeasures = (rows: readonly JoinedRow[], less: readonly string[]): Measure[] => {
  const cells = rows.flatMap((row) => row.cells.flatMap((cell) => cell ?? []));
  const names = new Set(cells.flatMap(({ scores }) => [...scores.keys()]));
  const scores = [...names].map((name): Measure => {
    const id = `score.${name}`;
    const read = (cell: Cell) => cell.scores.get(name);
    return { id, title: name, kind: 'score', less: less.includes(id), read };
  });
  const others: readonly Measure[] = [
    { id: 'latency', title: 'Latency', kind: 'latency', less: true, read: ({ latency }) => latency },
    { id: 'cost', title: 'Cost', kind: 'cost', less: true, read: ({ cost }) => cost },
  ];
  return [...scores, ...others.filter(({ read }) => cells.some((cell) => read(cell) !== undefined))];
};

/** The mean of a measure over all rows of a run that have it, and how many do. */
export const meanIn = (
  rows: readonly JoinedRow[],
  run: number,
  { read }: Measure,
): { readonly mean: number | undefined; readonly count: number } => {
  const values = rows.flatMap(({ cells }) => {
    const cell = cells[run];
    return (cell && read(cell)) ?? [];
  });
  return { mean: computeMean(values), count: values.length };
};

/** By how much a row of a run is above the first run's; undefined unless both have the measure. */
export const differenceIn = ({ cells }: JoinedRow, run: number, { read }: Measure): number | undefined => {
  const base = cells[0];
  const cell = cells[run];
  const before = base && read(base);
  const after = cell && read(cell);
  return before === undefined || after === undefined ? undefined : after - before;
};

/** The differences of a run from the first one, of all rows that both have. */
export const differencesIn = (rows: readonly JoinedRow[], run: number, measure: Measure): number[] =>
  rows.flatMap((row) => differenceIn(row, run, measure) ?? []);

/** How far apart the values of a measure are, so that scores of different scales can be compared. */
const computeSpread = (rows: readonly JoinedRow[], { read }: Measure): number => {
  let low = Infinity;
  let high = -Infinity;
  for (const { cells } of rows)
    for (const cell of cells) {
      const value = cell && read(cell);
      if (value === undefined) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  return high > low ? high - low : 1;
};

/** What became of a row, by one measure or by any score. From −1, as bad as can be, to 1. */
export interface Change {
  readonly worst: number;
  readonly best: number;
}

/** What became of a row that lost its score, such as one that failed. */
const lost = -1;

/**
 * What became of each row since the first run. With one run alone, a low value takes the place of a
 * fall.
 *
 * @param measures by which; the worst and the best of them count
 * @returns a change for each row; undefined for a row that no two runs have
 */
export const computeChanges = (
  rows: readonly JoinedRow[],
  measures: readonly Measure[],
): (Change | undefined)[] => {
  const scales = measures.map((measure) => (measure.less ? -1 : 1) / computeSpread(rows, measure));
  const single = rows[0]?.cells.length === 1;
  const changeIn = (row: JoinedRow, run: number, measure: Measure, scale: number): number | undefined => {
    const base = row.cells[0];
    const cell = row.cells[run];
    const before = base && measure.read(base);
    const after = cell && measure.read(cell);
    if (!cell || (!single && !base)) return undefined;
    if (single) return after === undefined ? (cell.failed ? -Infinity : undefined) : after * scale;
    if (before !== undefined && after === undefined && measure.kind === 'score') return lost;
    return before === undefined || after === undefined ? undefined : (after - before) * scale;
  };
  return rows.map((row) => {
    const changes = row.cells.flatMap((_, run) =>
      run === 0 && !single
        ? []
        : measures.flatMap((measure, at) => changeIn(row, run, measure, scales[at] ?? 1) ?? []),
    );
    return changes.length === 0 ? undefined : { worst: Math.min(...changes), best: Math.max(...changes) };
  });
};

/** Smaller changes come from sums in another order. */
const least = 1e-9;

/** Whether a row is one of those to be shown. */
export const isShown = ({ cells }: JoinedRow, change: Change | undefined, show: RowFilter): boolean => {
  if (show === 'failed') return cells.some((cell) => cell?.failed);
  if (show === 'only') return cells.some((cell) => cell === undefined);
  return show === 'worse' ? (change?.worst ?? 0) < -least : (change?.best ?? 0) > least;
};

/** A row with its place in the order of the runs, from 1 up, and with what became of it. */
export interface Placed {
  readonly row: JoinedRow;
  readonly place: number;
  readonly change: Change | undefined;
}

/** The rows, worst changes first; those that no two runs have come last. */
export const worstFirst = (rows: readonly Placed[]): Placed[] =>
  rows.toSorted(
    (one, other) =>
      (one.change?.worst ?? Infinity) - (other.change?.worst ?? Infinity) || one.place - other.place,
  );
