import { formatTime, type Micros, type WireNames } from '../../foundations/wire/index.ts';
import type { Cell, ModelCell } from './cell.ts';
import type { Numbers } from './numbers.ts';
import type { BucketCell, GroupValues } from './output.ts';
import type { Aggregation, Asked, CallMetric, GroupField, StatsRequest, UsageMetric } from './request.ts';

/** A bucket as it is answered. */
export type BucketRow = Readonly<Record<string, string | number | null>>;

/** Statistics as they are answered. */
export interface StatsAnswer {
  readonly start: string;
  readonly end: string;
  readonly granularity: number;
  readonly timezone: string;
  readonly call_buckets: readonly BucketRow[];
  readonly usage_buckets: readonly BucketRow[];
}

/** Numbers of which percentiles can be told. */
interface Counted extends Pick<Numbers, 'count' | 'sum' | 'min' | 'max'> {
  readonly percentiles: (percentiles: readonly number[]) => readonly number[];
}

const withSketch = ({ count, sum, min, max, sketch }: Numbers): Counted => ({
  ...{ count, sum, min, max },
  percentiles: (percentiles) => sketch?.percentiles(percentiles, [min, max]) ?? [],
});

/** So many ones among zeros. */
const ones = (count: number, sum: number): Counted => {
  const zeros = count - sum;
  const at = (rank: number): number => (rank < zeros ? 0 : 1);
  return {
    ...{ count, sum, min: zeros > 0 ? 0 : 1, max: sum > 0 ? 1 : 0 },
    percentiles: (percentiles) =>
      percentiles.map((percentile) => {
        const rank = (percentile / 100) * (count - 1);
        const [low, high] = [at(Math.floor(rank)), at(Math.ceil(rank))];
        return low + (high - low) * (rank - Math.floor(rank));
      }),
  };
};

const aggregate: Readonly<Record<Aggregation, (numbers: Counted) => number | null>> = {
  sum: ({ sum }) => sum,
  count: ({ count }) => count,
  avg: ({ sum, count }) => (count === 0 ? null : sum / count),
  min: ({ min, count }) => (count === 0 ? null : min),
  max: ({ max, count }) => (count === 0 ? null : max),
};

const fieldsOf = (
  { metric, aggregations, percentiles }: Asked<CallMetric | UsageMetric>,
  numbers: Counted,
): BucketRow => {
  const values = numbers.count === 0 ? [] : numbers.percentiles(percentiles);
  return Object.fromEntries([
    ...aggregations.map((each) => [`${each}_${metric}`, aggregate[each](numbers)] as const),
    ...percentiles.map((each, i) => [`p${each}_${metric}`, values[i] ?? null] as const),
  ]);
};

const callNumbers: Readonly<Record<CallMetric, (cell: Cell) => Counted>> = {
  call_count: ({ calls }) => ones(calls, calls),
  error_count: ({ calls, errors }) => ones(calls, errors),
  latency_ms: ({ latency }) => withSketch(latency),
};

const groupNames = (names: WireNames, field: GroupField): string => (field === 'user' ? names.userId : field);

/** Makes the answer of cells, which come in order of time and group. */
export const statsAnswer = (
  names: WireNames,
  { start, end, granularity, timezone, calls, usage, groupBy }: StatsRequest,
  edges: readonly Micros[],
  cells: readonly BucketCell[],
): StatsAnswer => {
  const head = (bucket: number, values: GroupValues, model?: string): BucketRow => ({
    timestamp: formatTime(edges[bucket] ?? 0),
    ...(model !== undefined && { model }),
    ...Object.fromEntries(groupBy.map((field, i) => [groupNames(names, field), values[i] ?? null])),
  });
  const usageFields = (model: ModelCell): BucketRow =>
    Object.assign({}, ...usage.map((asked) => fieldsOf(asked, withSketch(model[asked.metric]))));
  return {
    ...{ start: formatTime(start), end: formatTime(end), granularity, timezone },
    call_buckets:
      calls.length === 0
        ? []
        : cells.map(({ bucket, values, cell }) =>
            Object.assign(
              head(bucket, values),
              ...calls.map((asked) => fieldsOf(asked, callNumbers[asked.metric](cell))),
            ),
          ),
    usage_buckets: cells.flatMap(({ bucket, values, cell }) =>
      [...cell.models]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([model, each]) => Object.assign(head(bucket, values, model), usageFields(each))),
    ),
  };
};
