/** One figure of the bench: what was measured, how often, and what came out. */
export interface Figure {
  /** What was measured; no two figures of a part have the same name. */
  readonly name: string;
  /** What `median` and `spread` are in, e.g. `write units a call`, `ms`, `ratio`. */
  readonly unit: string;
  /** How often it was measured. */
  readonly runs: number;
  readonly median: number;
  /** How far apart the runs lie: their 90th percentile less their 10th; 0 for what is counted. */
  readonly spread: number;
  /** What it should not be above; absent for a figure that nothing is asked of. */
  readonly atMost?: number;
  /** What it is the sum of, e.g. the units of the table and of each index. */
  readonly of?: Readonly<Record<string, number>>;
}

/** What a figure may have besides. */
type Extras = Pick<Figure, 'atMost' | 'of'>;

/** A figure that every run gives alike: units, bytes, requests. */
export const counted = (name: string, unit: string, value: number, extras: Extras = {}): Figure => ({
  ...{ name, unit, runs: 1, median: value, spread: 0 },
  ...extras,
});

/** A figure of several runs that differ: times and their ratios. At least one run. */
export const measured = (
  name: string,
  unit: string,
  runs: readonly number[],
  extras: Extras = {},
): Figure => ({
  ...{
    name,
    unit,
    runs: runs.length,
    median: median(runs),
    spread: quantile(runs, 0.9) - quantile(runs, 0.1),
  },
  ...extras,
});

/**
 * The middle one of some numbers, the mean of the two middle ones where their count is even; NaN of
 * none.
 */
export const median = (numbers: readonly number[]): number => {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
};

/** The number of a sorted share, from 0 to 1, of some numbers; NaN of none. */
export const quantile = (numbers: readonly number[], share: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(share * numbers.length))] ??
  Number.NaN;

/**
 * Rounded to three significant digits, and to whole numbers from 100 on: what is printed of a
 * figure.
 */
export const rounded = (value: number): number =>
  Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));

/**
 * Whether a figure is as it should be: `met`, `missed`, or nothing where nothing is asked of it.
 */
export const verdict = ({ median, atMost }: Figure): 'met' | 'missed' | '' => {
  if (atMost === undefined) return '';
  return median <= atMost ? 'met' : 'missed';
};

/** What a figure is the sum of, as text, without what adds nothing. */
const sumText = ({ of = {} }: Figure): string =>
  Object.entries(of)
    .filter(([, value]) => value !== 0)
    .map(([name, value]) => `${name} ${rounded(value)}`)
    .join(', ');

/** A figure as a row of the printed table. */
export const toRow = (figure: Figure): Readonly<Record<string, string | number>> => ({
  median: rounded(figure.median),
  spread: rounded(figure.spread),
  unit: figure.unit,
  runs: figure.runs,
  'made of': sumText(figure),
  floor: figure.atMost === undefined ? '' : `${figure.atMost}: ${verdict(figure)}`,
});

/** Prints figures as a table, by their names. */
export const printFigures = (title: string, figures: readonly Figure[]): void => {
  console.log(`\n${title}`);
  console.table(Object.fromEntries(figures.map((figure) => [figure.name, toRow(figure)])));
};
