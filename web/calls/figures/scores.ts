import { judgedBy } from '../../../api/shared/evaluators.ts';
import { askedBy } from '../../../api/shared/feedback.ts';
import type { Answer, Request, Stats, StatsBucket } from '../../api/contract.ts';
import { countText } from '../../data/format.ts';
import { jsonIn, typedText } from '../../data/values.ts';
import type { Line } from '../../ui/chart.tsx';
import { parseScorePath, type Score, toScorePath } from '../scores.ts';
import { listEdges, numberAt, type Point, percentText } from './figures.ts';
import { iso, type Period, type Span, timezone, whole } from './requests.ts';

/*
 * Scores of a project over time: what feedback of each type says. A score is read from the feedback itself, or,
 * where calls are filtered, from the calls that have it.
 */

export type FeedbackStats = Answer<'/feedback/stats'>;

/** What the values of a score are. */
export type ScoreKind = 'number' | 'truth' | 'label';

const valueTypes = { number: 'numeric', truth: 'boolean', label: 'categorical' } as const;

const anyKind: readonly ScoreKind[] = ['truth', 'number', 'label'];

/**
 * Where payloads have scores: those of evaluators and annotations, thumbs, scores and reactions, and those
 * that Weave's scorers give.
 */
const fields: Readonly<Record<string, readonly ScoreKind[]>> = {
  value: anyKind,
  up: ['truth'],
  score: ['number'],
  emoji: ['label'],
  output: anyKind,
};

type Metric = NonNullable<Request<'/feedback/stats'>['metrics']>[number];

const toMetrics = ([field, kinds]: readonly [string, readonly ScoreKind[]]): Metric[] =>
  kinds.map((kind) => ({
    json_path: field,
    name: `${field}_${kind}`,
    value_type: valueTypes[kind],
    aggregations: kind === 'number' ? ['sum', 'count', 'min', 'max'] : ['count'],
    ...(kind === 'number' && { percentiles: [...percentiles] }),
    distribution: true,
  }));

/** The percentiles that a distribution of numbers is drawn by. */
const percentiles = [10, 50, 90] as const;

/**
 * The scores of a span of time: all of a project, or one.
 *
 * @param granularity seconds of a bucket
 */
export const scoresRequest = (
  project: string,
  { start, end }: Span,
  granularity: number,
  score?: Score,
): Request<'/feedback/stats'> => ({
  project_id: project,
  start: iso(start),
  end: iso(end),
  granularity,
  timezone: timezone(),
  ...(score ? { feedback_type: score.type } : { group_by: ['feedback_type'] }),
  metrics: (score ? [[score.field, anyKind] as const] : Object.entries(fields)).flatMap(toMetrics),
});

/** The shares of 5 % each that a histogram of many different numbers is made of. */
const steps = Array.from({ length: 21 }, (_, at) => at * 5);

/** What tells how numbers are spread that are too many to be told apart one by one. */
export const spreadRequest = (project: string, span: Span, { type, field }: Score) => ({
  ...scoresRequest(project, span, whole),
  group_by: null,
  feedback_type: type,
  metrics: [{ json_path: field, aggregations: [], percentiles: steps }],
});

/** How many values are told apart. */
export type Values = ReadonlyMap<string, number>;

/** What was said in a time. */
interface Said {
  /** How many values there are. */
  readonly count: number;
  /** Of numbers; the share of true of others; undefined for labels, and without any. */
  readonly mean: number | undefined;
  /** How often each value is there, as a filter has it. Those that nobody tells apart are under an empty text. */
  readonly values: Values;
}

/** A bucket of time. */
export interface ScorePoint extends Said, Pick<Point, 'from' | 'to'> {
  /** The 10th, 50th and 90th percentile of numbers. */
  readonly percentiles: readonly (number | undefined)[];
}

/** A score over time. */
export interface ScoreFigures extends Said {
  readonly score: Score;
  readonly kind: ScoreKind;
  readonly points: readonly ScorePoint[];
  /** Of numbers. */
  readonly least: number | undefined;
  readonly most: number | undefined;
}

/** A value as a filter has it: a text that looks like something else in quotes. */
const keyOf = (value: unknown): string =>
  value === null || value === undefined
    ? ''
    : typeof value === 'string'
      ? typedText(value)
      : JSON.stringify(value);

/** A value of a filter in words. */
export const valueText = (key: string): string => {
  const value = jsonIn(key);
  if (typeof value === 'number') return numberText(value);
  return typeof value === 'string' ? value : key;
};

const numberText = (value: number): string =>
  value.toLocaleString('en-US', { maximumSignificantDigits: Math.abs(value) >= 100 ? 6 : 3 });

const addUp = (all: readonly Values[]): Values => {
  const sums = new Map<string, number>();
  for (const values of all) for (const [key, count] of values) sums.set(key, (sums.get(key) ?? 0) + count);
  return new Map([...sums].sort(([, a], [, b]) => b - a));
};

const total = (numbers: readonly (number | undefined)[]): number =>
  numbers.reduce<number>((sum, number) => sum + (number ?? 0), 0);

/** A part of a score: what a bucket of an answer says. */
interface Part extends Said {
  readonly sum: number;
  readonly least: number | undefined;
  readonly most: number | undefined;
  readonly percentiles: ScorePoint['percentiles'];
}

const nothingSaid: Part = {
  count: 0,
  mean: undefined,
  values: new Map(),
  sum: 0,
  least: undefined,
  most: undefined,
  percentiles: [],
};

const meanOf = (kind: ScoreKind, parts: readonly Part[]): number | undefined => {
  const count = total(parts.map((part) => part.count));
  if (count === 0 || kind === 'label') return undefined;
  const sums =
    kind === 'number' ? parts.map(({ sum }) => sum) : parts.map(({ values }) => values.get('true'));
  return total(sums) / count;
};

const toPart = (bucket: StatsBucket, name: string, kind: ScoreKind): Part => {
  const distribution = bucket[`distribution_${name}`];
  const pairs = (Array.isArray(distribution) ? distribution : []) as [unknown, number][];
  const part: Part = {
    count: numberAt(bucket, `count_${name}`) ?? 0,
    mean: undefined,
    values: new Map(pairs.map(([value, count]) => [keyOf(value), count])),
    sum: numberAt(bucket, `sum_${name}`) ?? 0,
    least: numberAt(bucket, `min_${name}`),
    most: numberAt(bucket, `max_${name}`),
    percentiles: percentiles.map((percentile) => numberAt(bucket, `p${percentile}_${name}`)),
  };
  return { ...part, mean: meanOf(kind, [part]) };
};

const extreme = (pick: (...numbers: number[]) => number, numbers: readonly (number | undefined)[]) => {
  const known = numbers.filter((number) => number !== undefined);
  return known.length === 0 ? undefined : known.reduce((a, b) => pick(a, b));
};

/** Puts the parts of a score together, with a point for each bucket of the span. */
const toFigures = (
  score: Score,
  kind: ScoreKind,
  parts: ReadonlyMap<number, Part>,
  span: Span,
  granularity: number,
): ScoreFigures => {
  const edges = listEdges(
    span,
    granularity,
    [...parts.keys()].sort((a, b) => a - b),
  );
  const all = [...parts.values()];
  return {
    score,
    kind,
    count: total(all.map(({ count }) => count)),
    mean: meanOf(kind, all),
    values: addUp(all.map(({ values }) => values)),
    least: extreme(
      Math.min,
      all.map(({ least }) => least),
    ),
    most: extreme(
      Math.max,
      all.map(({ most }) => most),
    ),
    points: edges.map((edge, at) => ({
      ...(parts.get(edge) ?? nothingSaid),
      from: Math.max(span.start, edge),
      to: Math.min(span.end, edges[at + 1] ?? span.end),
    })),
  };
};

const timeOf = ({ timestamp }: StatsBucket): number => Date.parse(timestamp);

/**
 * The scores of an answer, the most often given first. A score is of the kind that most of its values are.
 *
 * @param only the score that was asked for; without it, there is one for each type of feedback
 */
export const toScores = (answer: FeedbackStats, span: Span, only?: Score): ScoreFigures[] => {
  const byType = Map.groupBy(answer.buckets, ({ feedback_type }) => only?.type ?? feedback_type);
  const found = [...byType].flatMap(([type, buckets]) => {
    if (typeof type !== 'string' || type.includes(']')) return [];
    const kinds = only ? [[only.field, anyKind] as const] : Object.entries(fields);
    const [best] = kinds
      .flatMap(([field, all]) =>
        all.map((kind) => {
          const name = `${field}_${kind}`.replace(/[^A-Za-z0-9]/g, '_');
          const count = total(buckets.map((bucket) => numberAt(bucket, `count_${name}`)));
          return { field, kind, name, count };
        }),
      )
      .toSorted((a, b) => b.count - a.count);
    if (!best || best.count === 0) return [];
    const { field, kind, name } = best;
    const parts = new Map(buckets.map((bucket) => [timeOf(bucket), toPart(bucket, name, kind)]));
    return [toFigures({ type, field }, kind, parts, span, answer.granularity)];
  });
  return found.toSorted((a, b) => b.count - a.count);
};

/** The value below which a share of numbers lies. */
const quantile = (sorted: readonly (readonly [number: number, count: number])[], share: number) => {
  let left = share * (total(sorted.map(([, count]) => count)) - 1);
  for (const [number, count] of sorted) {
    if (left < count) return number;
    left -= count;
  }
  return sorted.at(-1)?.[0];
};

const kindOf = (values: Values): ScoreKind => {
  const counts = new Map<ScoreKind, number>();
  for (const [key, count] of values) {
    const value = key === '' ? undefined : jsonIn(key);
    const kind = typeof value === 'boolean' ? 'truth' : typeof value === 'number' ? 'number' : 'label';
    counts.set(kind, (counts.get(kind) ?? 0) + count);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? 'label';
};

/** A score of calls, which statistics have grouped by it. Undefined if none of them has it. */
export const toScoreOfCalls = (
  { call_buckets, granularity }: Pick<Stats, 'call_buckets' | 'granularity'>,
  span: Span,
  score: Score,
): ScoreFigures | undefined => {
  // Null are those without the score.
  const scored = call_buckets.filter(({ feedback }) => feedback !== null && feedback !== undefined);
  if (scored.length === 0) return undefined;
  const toValues = (buckets: readonly StatsBucket[]): Values =>
    addUp(
      buckets.map((bucket) => new Map([[keyOf(bucket.feedback), numberAt(bucket, 'sum_call_count') ?? 0]])),
    );
  const kind = kindOf(toValues(scored));
  const parts = new Map(
    [...Map.groupBy(scored, timeOf)].map(([time, buckets]): [number, Part] => {
      const values = toValues(buckets);
      const numbers = [...values]
        .flatMap(([key, count]) => {
          const value = jsonIn(key);
          return typeof value === 'number' ? [[value, count] as const] : [];
        })
        .toSorted(([a], [b]) => a - b);
      const ofNumbers = {
        count: total(numbers.map(([, count]) => count)),
        sum: total(numbers.map(([value, count]) => value * count)),
        least: numbers[0]?.[0],
        most: numbers.at(-1)?.[0],
        percentiles: percentiles.map((percentile) => quantile(numbers, percentile / 100)),
      };
      const count = kind === 'number' ? ofNumbers.count : total([...values.values()]);
      const part = { ...nothingSaid, ...(kind === 'number' && ofNumbers), count, values };
      return [time, { ...part, mean: meanOf(kind, [part]) }];
    }),
  );
  return toFigures(score, kind, parts, span, granularity);
};

/** What gives scores of a type, in a word. */
export const sourceText = (type: string): string => {
  if (judgedBy(type) !== undefined) return 'evaluator';
  return askedBy(type) === undefined ? 'feedback' : 'annotation';
};

/** How numbers, shares or counts of a score are written. */
export const scoreValueText = (kind: ScoreKind) =>
  kind === 'truth' ? percentText : kind === 'number' ? numberText : countText;

/** What a score comes to in a few words: `92 % true`, `mean 3.4`, `good 60 %`. */
export const resultText = ({ kind, mean, values, count }: ScoreFigures): string => {
  if (kind === 'number') return mean === undefined ? '' : `mean ${numberText(mean)}`;
  if (kind === 'truth') return mean === undefined ? '' : `${percentText(mean)} true`;
  const [first] = toldApart(values);
  return first ? `${percentText(first[1] / count)} ${valueText(first[0])}` : '';
};

/** The values that are told apart, the most common first. */
export const toldApart = (values: Values): (readonly [key: string, count: number])[] =>
  [...values].filter(([key]) => key !== '').toSorted(([, a], [, b]) => b - a);

const colors = [1, 2, 3, 4, 5] as const;

/** The counts of each value over time, as parts of the whole, or their shares. */
const valueLines = ({ points, values }: ScoreFigures, keys: readonly string[], asShares: boolean): Line[] => {
  const divide = (count: number, point: ScorePoint) =>
    !asShares ? count : point.count === 0 ? null : count / point.count;
  const lines = keys.map(
    (key, at): Line => ({
      label: valueText(key),
      color: colors[at] ?? 1,
      values: points.map((point) => divide(point.values.get(key) ?? 0, point)),
    }),
  );
  const rest = points.map((point) => point.count - total(keys.map((key) => point.values.get(key))));
  return values.size > keys.length && rest.some((count) => count > 0) && !asShares
    ? [...lines, { label: 'all others', color: 'rest', values: rest }]
    : lines;
};

const commonest = ({ values }: ScoreFigures): string[] =>
  toldApart(values)
    .slice(0, colors.length)
    .map(([key]) => key);

/** A chart of a score. */
export interface ScoreLines {
  readonly lines: readonly Line[];
  /** Whether values are counted, and are bars. */
  readonly bars: boolean;
  readonly text: (value: number) => string;
}

/** A score over time: the mean of numbers, the share of true, the counts of labels. */
export const scoreLines = (figures: ScoreFigures): ScoreLines => {
  const { kind, points } = figures;
  const text = scoreValueText(kind);
  if (kind === 'label') return { lines: valueLines(figures, commonest(figures), false), bars: true, text };
  const values = points.map(({ mean }) => mean ?? null);
  const line: Line =
    kind === 'number' ? { label: 'mean', color: 2, values } : { label: 'true', color: 3, values };
  return { lines: [line], bars: false, text };
};

/** How values are spread over time: percentiles of numbers, counts of true and false, shares of labels. */
export const spreadLines = (figures: ScoreFigures): ScoreLines => {
  const { kind, points } = figures;
  if (kind === 'label')
    return { lines: valueLines(figures, commonest(figures), true), bars: false, text: percentText };
  if (kind === 'truth')
    return { lines: valueLines(figures, ['true', 'false'], false), bars: true, text: countText };
  const lines = percentiles.map(
    (percentile, at): Line => ({
      label: `p${percentile}`,
      color: ([4, 2, 1] as const)[at] ?? 1,
      values: points.map((point) => point.percentiles[at] ?? null),
    }),
  );
  return { lines, bars: false, text: numberText };
};

/** How many values there were over time. */
export const countLine = ({ points }: ScoreFigures): Line => ({
  label: 'scores',
  color: 1,
  values: points.map(({ count }) => count),
});

/** A part of a distribution: a value, or a stretch of numbers. */
export interface Bin {
  readonly text: string;
  readonly count: number;
  /** The value, as a filter has it; undefined for a stretch. */
  readonly key?: string;
  /** Of a stretch: the first number, and the one that it ends before, or with if it is the last. */
  readonly from?: number;
  readonly to?: number;
}

/** As many values or stretches are shown. */
const maxBins = 10;

/** Stretches of the same length between two numbers. */
const stretches = (
  least: number,
  most: number,
  countIn: (from: number, to: number, isLast: boolean) => number,
) =>
  Array.from({ length: maxBins }, (_, at): Bin => {
    const from = least + ((most - least) * at) / maxBins;
    const to = least + ((most - least) * (at + 1)) / maxBins;
    const text = `${numberText(from)} – ${numberText(to)}`;
    return { text, count: countIn(from, to, at === maxBins - 1), from, to };
  });

/**
 * How values are spread, in a few parts. Numbers are in their order, others by how common they are.
 *
 * @param spread the percentiles of {@link spreadRequest}, for numbers that are not told apart
 * @param maxLabels how many labels have a part of their own
 */
export const toBins = (
  { kind, values, count, least, most }: ScoreFigures,
  spread?: readonly number[],
  maxLabels = maxBins - 1,
): Bin[] => {
  const known = toldApart(values);
  const others = count - total(known.map(([, some]) => some));
  if (kind !== 'number') {
    const shown = kind === 'truth' ? ['true', 'false'] : known.slice(0, maxLabels).map(([key]) => key);
    const bins = shown.map((key): Bin => ({ text: valueText(key), count: values.get(key) ?? 0, key }));
    const rest = count - total(bins.map((bin) => bin.count));
    return rest > 0 ? [...bins, { text: 'all others', count: rest }] : bins;
  }
  const numbers = known.map(([key, some]) => [Number(key), some] as const).toSorted(([a], [b]) => a - b);
  if (others === 0 && numbers.length <= maxBins)
    return numbers.map(([number, some]) => ({
      text: numberText(number),
      count: some,
      key: JSON.stringify(number),
    }));
  if (least === undefined || most === undefined) return [];
  if (others === 0 || !spread)
    return stretches(least, most, (from, to, isLast) =>
      total(
        numbers.map(([number, some]) =>
          number >= from && (number < to || (isLast && number <= most)) ? some : 0,
        ),
      ),
    );
  // Between two percentiles, numbers are taken to be spread evenly.
  const below = (number: number): number => {
    const at = spread.findIndex((value) => value > number);
    if (at === -1) return 1;
    const high = spread[at] ?? number;
    const low = spread[at - 1];
    if (low === undefined) return 0;
    return (at - 1 + (number - low) / (high - low)) / (spread.length - 1);
  };
  return stretches(least, most, (from, to, isLast) =>
    Math.round(count * ((isLast ? 1 : below(to)) - below(from))),
  );
};

/** Whether the numbers of a score are too many to be told apart, so that a histogram takes {@link spreadRequest}. */
export const needsSpread = ({ kind, values }: ScoreFigures): boolean => kind === 'number' && values.has('');

/** The percentiles of an answer to {@link spreadRequest}. */
export const spreadIn = ({ window_stats }: FeedbackStats): number[] =>
  Object.values(window_stats).flatMap((stats) => steps.flatMap((step) => stats[`p${step}`] ?? []));

/** A score by its path, which URLs and columns have. */
export const scoreAt = (path: string | undefined): Score | undefined =>
  path === undefined ? undefined : parseScorePath(path);

/** The path of a score. */
export const pathOf = ({ score }: Pick<ScoreFigures, 'score'>): string => toScorePath(score);

/** The statistics of calls that a score is read from, as far as calls are filtered. */
export const scoreOfCallsRequest = <Selection extends { readonly project_id: string }>(
  selection: Selection,
  period: Period,
  { type, field }: Score,
) => ({
  ...selection,
  start: iso(period.start),
  end: iso(period.end),
  granularity: period.granularity,
  timezone: timezone(),
  call_metrics: [{ metric: 'call_count' as const }],
  group_by_feedback: { feedback_type: type, path: field },
});
