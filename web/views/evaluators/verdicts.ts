import { askedBy } from '../../../api/shared/feedback.ts';
import type { Answer, CallFeedback, Request, StatsBucket } from '../../api/contract.ts';
import type { Verdict } from '../../calls/evaluators.ts';
import { listEdges, numberAt, type Point, percentText } from '../../calls/figures/figures.ts';
import type { Span } from '../../calls/figures/requests.ts';
import type { Line } from '../../ui/chart.tsx';

type FeedbackStatsQuery = Request<'/feedback/stats'>;
type FeedbackStats = Answer<'/feedback/stats'>;

const countAt = (bucket: StatsBucket, name: string): number => numberAt(bucket, name) ?? 0;

/** A value in words. */
export const valueText = (value: Verdict['value']): string =>
  value === null
    ? 'not judged'
    : typeof value === 'number'
      ? String(Math.round(value * 100) / 100)
      : String(value);

/** How often each value was given among verdicts, the most frequent first. */
const countLabels = (verdicts: readonly Verdict[]): (readonly [label: string, count: number])[] =>
  [...Map.groupBy(verdicts, ({ value }) => value)]
    .flatMap(([value, some]) => (value === null ? [] : [[valueText(value), some.length] as const]))
    .toSorted(([, a], [, b]) => b - a);

/** What an evaluator answers. */
export type AnswerType = 'boolean' | 'number' | 'label';

/** What is counted of verdicts, for statistics of feedback. */
export const toMetrics = (type: AnswerType): NonNullable<FeedbackStatsQuery['metrics']> => [
  { json_path: 'error', value_type: 'categorical' },
  type === 'boolean'
    ? { json_path: 'value', value_type: 'boolean' }
    : type === 'number'
      ? { json_path: 'value', aggregations: ['avg', 'min', 'max'] }
      : { json_path: 'value', value_type: 'categorical' },
];

/** What all verdicts of a time come to. */
export interface Totals {
  readonly count: number;
  readonly failures: number;
  /** How often each value was given, as far as there are few; of labels among the latest verdicts. */
  readonly values: readonly (readonly [value: string, count: number])[];
  /** Of numbers; undefined for others, and without any. */
  readonly mean: number | undefined;
  readonly least: number | undefined;
  readonly most: number | undefined;
}

/**
 * What statistics say of all verdicts.
 *
 * @param latest the latest verdicts, which labels are counted in
 */
export const toTotals = (
  { buckets, window_stats }: Pick<FeedbackStats, 'buckets' | 'window_stats'>,
  type: AnswerType,
  latest: readonly Verdict[],
): Totals => {
  const { value = {}, error = {} } = window_stats;
  const getValue = (name: string) => value[name] ?? undefined;
  const booleans = [
    ['true', getValue('count_true') ?? 0],
    ['false', getValue('count_false') ?? 0],
  ] as const;
  return {
    count: buckets.reduce((sum, bucket) => sum + countAt(bucket, 'count'), 0),
    failures: error.count ?? 0,
    values: type === 'boolean' ? booleans : type === 'label' ? countLabels(latest) : [],
    mean: getValue('avg'),
    least: getValue('min'),
    most: getValue('max'),
  };
};

/** What verdicts come to in a few words: `92 % true`, `mean 3.4`. */
export const totalsText = ({ values, mean }: Totals): string => {
  const all = values.reduce((sum, [, count]) => sum + count, 0);
  const [first] = values;
  if (mean !== undefined) return `mean ${valueText(mean)}`;
  return first && all > 0 ? `${percentText(first[1] / all)} ${first[0]}` : '';
};

/** A bucket of time: ms since 1970, the end exclusive. */
type Bucket = Pick<Point, 'from' | 'to'>;

/** How many labels have a line of their own. */
const colors = [1, 2, 3, 4, 5] as const;

/** Lines of charts, with a point for each bucket. */
export interface Series {
  readonly buckets: readonly Bucket[];
  readonly counts: readonly Line[];
  readonly values: readonly Line[];
}

/** Verdicts over time: how many there were, and what they said: means of numbers, or shares. */
export const toSeries = (
  { buckets: counted, granularity }: Pick<FeedbackStats, 'buckets' | 'granularity'>,
  span: Span,
  type: AnswerType,
  latest: readonly Verdict[],
): Series => {
  const at = new Map(counted.map((bucket) => [Date.parse(bucket.timestamp), bucket]));
  const edges = listEdges(span, granularity, [...at.keys()]);
  const buckets = edges.map((edge, i) => ({
    from: Math.max(span.start, edge),
    to: Math.min(span.end, edges[i + 1] ?? span.end),
  }));
  const line = (label: string, color: Line['color'], read: (bucket: StatsBucket) => number | null): Line => ({
    label,
    color,
    values: edges.map((edge) => {
      const bucket = at.get(edge);
      return bucket ? read(bucket) : null;
    }),
  });
  const share = (bucket: StatsBucket) => {
    const yes = countAt(bucket, 'count_true_value');
    const no = countAt(bucket, 'count_false_value');
    return yes + no === 0 ? null : yes / (yes + no);
  };
  const ofLabel = (label: string, i: number): Line => ({
    label,
    color: colors[i] ?? 1,
    values: buckets.map(({ from, to }) => {
      const some = latest.filter(({ at: given, value }) => value !== null && given >= from && given < to);
      return some.length === 0
        ? null
        : some.filter(({ value }) => valueText(value) === label).length / some.length;
    }),
  });
  const labels = type === 'label' ? countLabels(latest).slice(0, colors.length) : [];
  return {
    buckets,
    counts: [
      line('verdicts', 1, (bucket) => countAt(bucket, 'count')),
      line('not judged', 'error', (bucket) => countAt(bucket, 'count_error')),
    ],
    values:
      type === 'label'
        ? labels.map(([label], i) => ofLabel(label, i))
        : type === 'boolean'
          ? [line('true', 3, share)]
          : [line('mean', 2, (bucket) => numberAt(bucket, 'avg_value') ?? null)],
  };
};

/** What judges cost over time, by the cost of each of their calls. */
export const costLine = (
  buckets: readonly Bucket[],
  verdicts: readonly Verdict[],
  costs: ReadonlyMap<string, { readonly usd: number | undefined }>,
): Line => ({
  label: 'cost',
  color: 4,
  values: buckets.map(({ from, to }) =>
    verdicts.reduce(
      (sum, { at, judge }) =>
        judge !== undefined && at >= from && at < to ? sum + (costs.get(judge)?.usd ?? 0) : sum,
      0,
    ),
  ),
});

/*
 * Agreement with people. Thumbs, reactions and scores rate a call; annotations answer a question in
 * the words of an evaluator.
 */

type Opinion =
  | { readonly kind: 'rating'; readonly good: number; readonly text: string }
  | { readonly kind: 'answer'; readonly value: boolean | number | string; readonly text: string };

const thumbs = new Map([
  ['👍', 1],
  ['👎', 0],
]);

const toOpinion = ({
  feedback_type,
  payload,
}: Pick<CallFeedback, 'feedback_type' | 'payload'>): Opinion | undefined => {
  const { up, emoji, score, value } = payload;
  const rating = (good: number, text: string) => ({ kind: 'rating' as const, good, text });
  if (feedback_type === 'thumbs' && typeof up === 'boolean')
    return rating(up ? 1 : 0, up ? 'thumbs up' : 'thumbs down');
  if (/^(?:wandb\.)?reaction\b/.test(feedback_type) && typeof emoji === 'string') {
    const good = thumbs.get(emoji);
    return good === undefined ? undefined : rating(good, emoji);
  }
  if (feedback_type === 'score' && typeof score === 'number') return rating(score, `score ${score}`);
  const field = askedBy(feedback_type);
  if (field === undefined) return undefined;
  if (typeof value !== 'boolean' && typeof value !== 'number' && typeof value !== 'string') return undefined;
  return { kind: 'answer', value, text: `${field}: ${valueText(value)}` };
};

/** The scale of an evaluator's numbers, and whether true, or much, stands for bad. */
export interface Scale {
  readonly minimum: number;
  readonly maximum: number;
  readonly inverted: boolean;
}

/** Numbers agree that differ by no more than this share of their scale. */
const tolerance = 0.25;

/** Whether an opinion says the same as a verdict; undefined if they cannot be compared. */
const agrees = (value: Verdict['value'], opinion: Opinion, scale: Scale): boolean | undefined => {
  const { minimum, maximum, inverted } = scale;
  const length = maximum - minimum || 1;
  const isNear = (one: number, other: number) => Math.abs(one - other) <= tolerance * length + 1e-9;
  if (opinion.kind === 'rating') {
    const good = inverted ? 1 - opinion.good : opinion.good;
    if (typeof value === 'boolean') return value === good >= 0.5;
    return typeof value === 'number' ? isNear(value, minimum + good * length) : undefined;
  }
  const { value: opinionValue } = opinion;
  if (typeof opinionValue !== typeof value || value === null) return undefined;
  if (typeof opinionValue === 'number') return isNear(opinionValue, Number(value));
  return typeof opinionValue === 'string'
    ? opinionValue.toLowerCase() === String(value).toLowerCase()
    : opinionValue === value;
};

/** What somebody said beside a verdict. */
export interface Comparison {
  readonly verdict: Verdict;
  /** What the person said, in words. */
  readonly opinion: string;
  readonly by: string;
  readonly agrees: boolean;
}

/** Compares verdicts with what people said of the same calls, as far as the two can be compared. */
export const compareOpinions = (
  verdicts: readonly Verdict[],
  feedbackOn: (call: string) => readonly CallFeedback[],
  scale: Scale,
): Comparison[] =>
  verdicts.flatMap((verdict) =>
    feedbackOn(verdict.call).flatMap((record) => {
      const opinion = toOpinion(record);
      const same = opinion && agrees(verdict.value, opinion, scale);
      if (!opinion || same === undefined) return [];
      return [{ verdict, opinion: opinion.text, by: record.creator ?? record.svc_user_id, agrees: same }];
    }),
  );
