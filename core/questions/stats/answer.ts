import type { FeedbackAggregation } from '../../../api/feedback-stats.ts';
import { type HeaderAttribute, headerAttributes } from '../../../api/shared/header-fields.ts';
import {
  type Aggregation,
  type Asked,
  type CallMetric,
  type CostMetric,
  callMetrics,
  type GroupField,
  type NamedGroup,
  type StatsRequest,
  type TokenMetric,
  type UsageMetric,
} from '../../../api/stats.ts';
import { type FieldPath, toPath } from '../../../foundations/expression/index.ts';
import { findBucket } from '../../../foundations/wire/buckets.ts';
import { formatTime, invalid, type JsonValue, type Micros } from '../../../foundations/wire/index.ts';
import { getSource, getStatus } from '../../records/calls/index.ts';
import type { QueriedCall } from '../query/index.ts';
import { toolOf } from '../traces/agents.ts';
import { Cell, type Dimensions, type Keeping, type ModelCell, Numbers } from './cells.ts';

/** The values of the fields that calls are grouped by, in the order of the request. */
type GroupValues = readonly JsonValue[];

/** The calls of one bucket and group. */
interface BucketCell {
  readonly bucket: number;
  readonly values: GroupValues;
  readonly cell: Cell;
}

/** The most groups of an answer. */
const maxGroups = 1000;
/** The most cells that are held: a function has 1 GB of memory. */
const maxCells = 200_000;

const tooMany = invalid({
  loc: ['body', 'group_by'],
  msg: `makes more than ${maxCells} counts: ask for a shorter time, a larger granularity or fewer calls`,
  type: 'too_long',
});

/** The longest value that statistics tell apart, in characters of JSON. */
const maxValue = 1024;

/** Whether there is a value, and it is short enough to be told apart: answers repeat it in every bucket. */
export const isShort = (value: JsonValue | undefined): value is JsonValue =>
  value !== undefined && JSON.stringify(value).length <= maxValue;

/** What a path leads to; null for nothing, and for what is too long to tell calls apart. */
const shortValue = (call: QueriedCall, path: FieldPath): JsonValue => {
  const value = call.value(path);
  return isShort(value) ? value : null;
};

const ofPath = (field: GroupField): ((call: QueriedCall) => JsonValue) => {
  const path = toPath(field);
  return (call) => shortValue(call, path);
};

/** The path of the score by which calls are grouped; undefined if they are not. */
const getScorePath = ({ groupByFeedback: score }: StatsRequest): FieldPath | undefined =>
  score
    ? {
        text: `feedback.[${score.feedbackType}].payload.${score.path}`,
        field: 'feedback',
        steps: [score.feedbackType, 'payload', ...score.path.split('.')],
      }
    : undefined;

const attributeReaders = Object.fromEntries(
  headerAttributes.map((name) => [`attributes.${name}`, ofPath(`attributes.${name}`)]),
) as Record<`attributes.${HeaderAttribute}`, (call: QueriedCall) => JsonValue>;

/** Tells the agent of a call, which its header does not. */
type FindAgent = (call: QueriedCall) => string | null;

const ofCall: Readonly<Record<Exclude<NamedGroup, 'agent'>, (call: QueriedCall) => JsonValue>> = {
  ...attributeReaders,
  op_name: ({ header }) => header.start.opName,
  user: ({ header }) => header.start.userId,
  status: ({ header }) => getStatus(header),
  thread_id: ({ header }) => header.start.threadId,
  display_name: ({ header }) => header.start.displayName,
  source: ({ header }) => getSource(header.start),
  tool: ({ header }) => toolOf(header),
};

const isNamed = (field: GroupField): field is keyof typeof ofCall => Object.hasOwn(ofCall, field);

const readerOf = (field: GroupField, findAgent: FindAgent): ((call: QueriedCall) => JsonValue) => {
  if (field === 'agent') return findAgent;
  return isNamed(field) ? ofCall[field] : ofPath(field);
};

const ofDimensions: ReadonlyMap<GroupField, (dimensions: Dimensions) => string> = new Map([
  ['op_name', ({ opName }: Dimensions) => opName],
  ['user', ({ userId }: Dimensions) => userId],
  ['status', ({ status }: Dimensions) => status],
  ['source', ({ source }: Dimensions) => source],
]);

/** What is kept of calls for what is asked. */
export const keepingFor = ({ calls, usage }: Pick<StatsRequest, 'calls' | 'usage'>): Keeping => ({
  latencies: calls.some(({ metric, percentiles }) => metric === 'latency_ms' && percentiles.length > 0),
  traces: calls.some(({ metric }) => metric === 'trace_count'),
  waits: calls.some(({ metric, percentiles }) => metric === 'waited_ms' && percentiles.length > 0),
  usage: usage.length > 0,
  sketched: new Set(usage.filter(({ percentiles }) => percentiles.length > 0).map(({ metric }) => metric)),
});

/** The cells of an answer, by bucket and group. */
export class Output {
  readonly #edges: readonly Micros[];
  readonly #groupBy: readonly GroupField[];
  readonly #readers: readonly ((call: QueriedCall) => JsonValue)[];
  readonly #score: FieldPath | undefined;
  readonly #keeping: Keeping;
  readonly #cells = new Map<string, BucketCell>();

  constructor(request: StatsRequest, edges: readonly Micros[], findAgent: FindAgent = () => null) {
    const { calls, usage, groupBy } = request;
    this.#edges = edges;
    this.#groupBy = groupBy;
    this.#readers = groupBy.map((field) => readerOf(field, findAgent));
    this.#score = getScorePath(request);
    this.#keeping = keepingFor({ calls, usage });
  }

  getValues(call: QueriedCall): GroupValues {
    const values = this.#readers.map((read) => read(call));
    return this.#score ? [...values, shortValue(call, this.#score)] : values;
  }

  /** The group of calls that do not differ in their dimensions. */
  valuesOfGroup(dimensions: Dimensions): GroupValues {
    return this.#groupBy.map((field) => ofDimensions.get(field)?.(dimensions) ?? null);
  }

  /**
   * The cell for calls of a group that start at some time.
   *
   * @throws ServiceError 422 if there are too many
   */
  cell(startedAt: Micros, values: GroupValues): Cell {
    const bucket = findBucket(this.#edges, startedAt);
    const key = `${bucket} ${JSON.stringify(values)}`;
    const known = this.#cells.get(key);
    if (known) return known.cell;
    if (this.#cells.size === maxCells) throw tooMany;
    const cell = new Cell(this.#keeping);
    this.#cells.set(key, { bucket, values, cell });
    return cell;
  }

  /** All cells in order of time and group, of the largest groups; the rest is in the null group. */
  all(): BucketCell[] {
    const calls = new Map<string, number>();
    for (const { values, cell } of this.#cells.values()) {
      const key = JSON.stringify(values);
      calls.set(key, (calls.get(key) ?? 0) + cell.calls);
    }
    if (calls.size > maxGroups) this.#mergeSmall(calls);
    const keyed = [...this.#cells.values()].map((cell) => ({ cell, key: JSON.stringify(cell.values) }));
    keyed.sort((a, b) => a.cell.bucket - b.cell.bucket || (a.key < b.key ? -1 : 1));
    return keyed.map(({ cell }) => cell);
  }

  #mergeSmall(calls: ReadonlyMap<string, number>): void {
    const bySize = [...calls].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
    const large = new Set(bySize.slice(0, maxGroups).map(([key]) => key));
    for (const [key, { bucket, values, cell }] of [...this.#cells]) {
      if (large.has(JSON.stringify(values))) continue;
      const rest = values.map(() => null);
      this.#cells.delete(key);
      this.cell(this.#edges[bucket] ?? 0, rest).merge(cell);
    }
  }
}

/** Some fields of a bucket. */
type BucketFields = Readonly<Record<string, JsonValue>>;

export type BucketRow = BucketFields & { readonly timestamp: string };

/** What it took to tell groups that are not in headers. */
export type StatsPrice = Readonly<Record<'calls' | 'payloads' | 'traces', number>>;

/** Statistics as they are answered. */
export interface StatsAnswer {
  readonly price?: StatsPrice;
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

export const withSketch = ({ count, sum, min, max, sketch }: Numbers): Counted => ({
  count,
  sum,
  min,
  max,
  percentiles: (percentiles) => sketch?.percentiles(percentiles, [min, max]) ?? [],
});

/** So many ones among zeros. */
const ones = (count: number, sum: number): Counted => {
  const zeros = count - sum;
  const at = (rank: number): number => (rank < zeros ? 0 : 1);
  return {
    count,
    sum,
    min: zeros > 0 ? 0 : 1,
    max: sum > 0 ? 1 : 0,
    percentiles: (percentiles) =>
      percentiles.map((percentile) => {
        const rank = (percentile / 100) * (count - 1);
        const low = at(Math.floor(rank));
        const high = at(Math.ceil(rank));
        return low + (high - low) * (rank - Math.floor(rank));
      }),
  };
};

const aggregate: Readonly<Record<FeedbackAggregation, (numbers: Counted) => number | null>> = {
  sum: ({ sum }) => sum,
  count: ({ count }) => count,
  avg: ({ sum, count }) => (count === 0 ? null : sum / count),
  min: ({ min, count }) => (count === 0 ? null : min),
  max: ({ max, count }) => (count === 0 ? null : max),
  // Of ones and zeros.
  count_true: ({ sum }) => sum,
  count_false: ({ sum, count }) => count - sum,
};

/** What is made of numbers, with its name: `avg`, `p95`. */
export const computeFigures = (
  requested: {
    readonly aggregations: readonly FeedbackAggregation[];
    readonly percentiles: readonly number[];
  },
  numbers: Counted,
): (readonly [name: string, value: number | null])[] => {
  const { aggregations, percentiles } = requested;
  const values = numbers.count === 0 ? [] : numbers.percentiles(percentiles);
  return [
    ...aggregations.map((aggregation) => [aggregation, aggregate[aggregation](numbers)] as const),
    ...percentiles.map((percentage, i) => [`p${percentage}`, values[i] ?? null] as const),
  ];
};

const toFields = (asked: Asked<CallMetric | UsageMetric>, numbers: Counted): BucketFields =>
  Object.fromEntries(
    computeFigures(asked, numbers).map(([name, value]) => [`${name}_${asked.metric}`, value]),
  );

const callNumbers: Readonly<Record<CallMetric, (cell: Cell) => Counted>> = {
  call_count: ({ calls }) => ones(calls, calls),
  error_count: ({ calls, errors }) => ones(calls, errors),
  latency_ms: ({ latency }) => withSketch(latency),
  trace_count: ({ traces }) => ones(traces?.size ?? 0, traces?.size ?? 0),
  waited_ms: ({ waited }) => withSketch(waited),
};

/** The one number that is made of values: an aggregation, or a percentile from 0 to 100. */
interface Making {
  readonly aggregation: Aggregation | null;
  readonly percentile: number | null;
}

/** A metric, and the one number that is made of its values. */
export interface OneNumber extends Making {
  readonly metric: (typeof callMetrics)[number] | TokenMetric | CostMetric;
}

const isCallMetric = (metric: OneNumber['metric']): metric is (typeof callMetrics)[number] =>
  callMetrics.some((callMetric) => callMetric === metric);

const lists = ({ aggregation, percentile }: Making) => ({
  aggregations: aggregation === null ? [] : [aggregation],
  percentiles: percentile === null ? [] : [percentile],
});

/** The metrics of a request that give a number. */
export const metricsFor = (number: OneNumber): Pick<StatsRequest, 'calls' | 'usage'> => {
  const { metric } = number;
  return isCallMetric(metric)
    ? { calls: [{ metric, ...lists(number) }], usage: [] }
    : { calls: [], usage: [{ metric, ...lists(number) }] };
};

const computeOne = (making: Making, numbers: Counted): number | null =>
  computeFigures(lists(making), numbers)[0]?.[1] ?? null;

/**
 * What is made of numbers, which have a sketch if it is a percentile.
 *
 * @returns null for a mean, an extreme or a percentile of no values; sums and counts are 0 then
 */
export const computeNumber = (making: Making, numbers: Numbers): number | null =>
  computeOne(making, withSketch(numbers));

/**
 * A number of the calls of a cell, of all their models together. The cell keeps what
 * {@link metricsFor} names.
 *
 * @returns as {@link computeNumber}
 */
export const numberIn = (number: OneNumber, cell: Cell): number | null => {
  const { metric } = number;
  if (isCallMetric(metric)) return computeOne(number, callNumbers[metric](cell));
  const all = new Numbers(number.percentile !== null);
  for (const model of cell.models.values()) all.merge(model[metric]);
  return computeNumber(number, all);
};

const groupNames = (field: GroupField): string => (field === 'user' ? 'svc_user_id' : field);

/** Makes the answer of cells, which come in order of time and group. */
export const statsAnswer = (
  { start, end, granularity, timezone, calls, usage, groupBy, groupByFeedback }: StatsRequest,
  edges: readonly Micros[],
  cells: readonly BucketCell[],
  price?: StatsPrice,
): StatsAnswer => {
  const head = (bucket: number, values: GroupValues, model?: string): BucketRow => ({
    timestamp: formatTime(edges[bucket] ?? 0),
    ...(model !== undefined && { model }),
    ...Object.fromEntries(groupBy.map((field, i) => [groupNames(field), values[i] ?? null])),
    ...(groupByFeedback && { feedback: values[groupBy.length] ?? null }),
  });
  const usageFields = (model: ModelCell): BucketFields =>
    Object.assign({}, ...usage.map((asked) => toFields(asked, withSketch(model[asked.metric]))));
  return {
    ...(price && { price }),
    start: formatTime(start),
    end: formatTime(end),
    granularity,
    timezone,
    call_buckets:
      calls.length === 0
        ? []
        : cells.map(({ bucket, values, cell }) =>
            Object.assign(
              head(bucket, values),
              ...calls.map((asked) => toFields(asked, callNumbers[asked.metric](cell))),
            ),
          ),
    usage_buckets: cells.flatMap(({ bucket, values, cell }) =>
      [...cell.models]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([model, numbers]) => Object.assign(head(bucket, values, model), usageFields(numbers))),
    ),
  };
};
