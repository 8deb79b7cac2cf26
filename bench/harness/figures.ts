/** A figure of the bench. */
export interface Figure {
  /** What was measured, unique within its part. */
  readonly name: string;
  /** The unit of `median` and `spread`, e.g. `write units a call`, `ms`, `ratio`. */
  readonly unit: string;
  /** The number of measurements. */
  readonly runs: number;
  readonly median: number;
  /** The 90th percentile of the runs minus the 10th; 0 for counts. */
  readonly spread: number;
  /** The bound that the figure must not exceed; absent if it has none. */
  readonly atMost?: number;
  /** The components of a sum, e.g. the units of the table and of each index. */
  readonly of?: Readonly<Record<string, number>>;
}

type Extras = Pick<Figure, 'atMost' | 'of'>;

/** A figure that is the same in every run: units, bytes, requests. */
export const counted = (name: string, unit: string, value: number, extras: Extras = {}): Figure => ({
  name,
  unit,
  runs: 1,
  median: value,
  spread: 0,
  ...extras,
});

/** A figure of one or more runs that differ: times and their ratios. */
export const measured = (
  name: string,
  unit: string,
  runs: readonly number[],
  extras: Extras = {},
): Figure => ({
  name,
  unit,
  runs: runs.length,
  median: median(runs),
  spread: quantile(runs, 0.9) - quantile(runs, 0.1),
  ...extras,
});

/** The median of numbers; NaN for none. */
export const median = (numbers: readonly number[]): number => {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
};

/** The quantile of numbers at a share from 0 to 1; NaN for none. */
export const quantile = (numbers: readonly number[], share: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(share * numbers.length))] ??
  Number.NaN;

/** Rounds for printing, to three significant digits, or to integers from 100 on. */
export const rounded = (value: number): number =>
  Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));

/** Whether a figure meets its bound; empty if it has none. */
export const verdict = ({ median, atMost }: Figure): 'met' | 'missed' | '' => {
  if (atMost === undefined) return '';
  return median <= atMost ? 'met' : 'missed';
};

/** The components of a sum as text, without zeros. */
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

/** Prints a table with a row for each figure, to standard output. */
export const printFigures = (title: string, figures: readonly Figure[]): void => {
  console.log(`\n${title}`);
  console.table(Object.fromEntries(figures.map((figure) => [figure.name, toRow(figure)])));
};
