import type { FeedbackStatsRequest, FeedbackValueType } from '../../../api/feedback-stats.ts';
import {
  compare,
  type Expression,
  isDuring,
  toPath,
  valueAt,
} from '../../../foundations/expression/index.ts';
import type { RequestBudget, Store } from '../../../foundations/storage/index.ts';
import { bucketEdges, findBucket } from '../../../foundations/wire/buckets.ts';
import {
  formatTime,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Micros,
  type ProjectId,
  parseTime,
} from '../../../foundations/wire/index.ts';
import { feedbackPlanSummary, queryFeedback } from '../../records/feedback/index.ts';
import { type BucketRow, computeFigures, isShort, withSketch } from './answer.ts';
import { Numbers } from './cells.ts';

/** Which feedback of a project is looked at. */
export interface FeedbackSpan {
  readonly projectId: ProjectId;
  /** Inclusive. */
  readonly start: Micros;
  /** Exclusive. */
  readonly end: Micros;
  readonly feedbackType: string | null;
  /** With a `:*` at its end it stands for all versions. */
  readonly triggerRef: string | null;
}

const isOfAnyVersion = (ref: string): boolean => ref.endsWith(':*');

const toWhere = ({ start, end, feedbackType, triggerRef }: FeedbackSpan): Expression => ({
  kind: 'and',
  operands: [
    ...isDuring('created_at', start, end),
    ...(feedbackType === null ? [] : [compare('feedback_type', '$eq', feedbackType)]),
    ...(triggerRef === null || isOfAnyVersion(triggerRef) ? [] : [compare('trigger_ref', '$eq', triggerRef)]),
  ],
});

/** A record as far as statistics look at it. */
interface FoundFeedback {
  readonly created_at: string;
  readonly trigger_ref: string | null;
  /** Only if it is wanted. */
  readonly feedback_type?: string;
  readonly payload: JsonObject;
}

/**
 * Finds the feedback of a span of time.
 *
 * @param options whether payloads and types are read, and which records: the first ones by time, or the latest
 * @throws ServiceError 503, while the records are iterated, when storage does not give something in
 * time
 */
const feedbackIn = (
  store: Store,
  span: FeedbackSpan,
  options: { readonly withPayloads: boolean; readonly withTypes?: boolean; readonly latest?: number },
  budget: RequestBudget,
) => {
  const { withPayloads, withTypes = false, latest } = options;
  const { projectId, triggerRef } = span;
  const query = {
    projectId,
    where: toWhere(span),
    offset: 0,
    limit: latest ?? null,
    fields: [
      'created_at',
      'trigger_ref',
      ...(withTypes ? ['feedback_type'] : []),
      ...(withPayloads ? ['payload'] : []),
    ],
    sort: latest === undefined ? [] : [{ path: toPath('created_at'), descending: true }],
  };
  const { plan, counts, records } = queryFeedback(store, query, budget);
  const prefix = triggerRef !== null && isOfAnyVersion(triggerRef) ? triggerRef.slice(0, -1) : '';
  const found = async function* (): AsyncGenerator<FoundFeedback> {
    for await (const batch of records)
      for (const text of batch) {
        const record = JSON.parse(text) as FoundFeedback;
        if (prefix === '' || record.trigger_ref?.startsWith(prefix)) yield record;
      }
  };
  return { plan: feedbackPlanSummary(plan), counts, found: found() };
};

/** What of a value counts, as a number; undefined for a value of another type. */
const toNumber = (type: FeedbackValueType, value: JsonValue | undefined): number | undefined => {
  switch (type) {
    case 'numeric':
      return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? Number(value) : undefined;
    case 'categorical':
      return typeof value === 'string' ? 1 : undefined;
  }
};

/** The feedback of one bucket: how much it is, and the numbers of each metric. */
interface FeedbackCell {
  count: number;
  readonly numbers: readonly Numbers[];
  /** How many records have each value, of metrics whose distribution is wanted. */
  readonly values: readonly ValueCounts[];
}

/** How many records have each value; null stands for all that are not told apart. */
type ValueCounts = Map<JsonValue, number>;

const increase = (counts: ValueCounts, value: JsonValue, by: number): void => {
  counts.set(value, (counts.get(value) ?? 0) + by);
};

/** The most values of a distribution that are told apart in an answer, and while they are counted. */
const maxValues = 100;
const maxCounted = 10_000;

/** The commonest values, of which the rest is put under null. */
const commonest = (all: ValueCounts): ReadonlySet<JsonValue> =>
  new Set(
    [...all]
      .filter(([value]) => value !== null)
      .sort(([, a], [, b]) => b - a)
      .slice(0, maxValues)
      .map(([value]) => value),
  );

/** A distribution as it is answered, the most common values first. */
const toDistribution = (counts: ValueCounts, shown: ReadonlySet<JsonValue>): JsonValue => {
  const told: ValueCounts = new Map();
  for (const [value, count] of counts) increase(told, shown.has(value) ? value : null, count);
  return [...told].sort(([, a], [, b]) => b - a).map(([value, count]) => [value, count]);
};

/** The feedback of a group: how often each value is there, and its buckets. */
interface FeedbackGroup {
  readonly values: readonly ValueCounts[];
  readonly cells: Map<number, FeedbackCell>;
}

/** The most groups that are answered; all others are one, under null. */
const maxGroups = 1000;

const countIn = ({ cells }: FeedbackGroup): number =>
  [...cells.values()].reduce((sum, { count }) => sum + count, 0);

/** Puts groups together that are too many to be told apart, the smallest ones. */
const largestGroups = (
  groups: ReadonlyMap<string | null, FeedbackGroup>,
): (readonly [group: string | null, parts: readonly FeedbackGroup[]])[] => {
  const sorted = [...groups].sort(([, a], [, b]) => countIn(b) - countIn(a));
  const rest = sorted.slice(maxGroups).map(([, group]) => group);
  return [
    ...sorted.slice(0, maxGroups).map(([name, group]) => [name, [group]] as const),
    ...(rest.length > 0 ? [[null, rest] as const] : []),
  ];
};

/** Adds what another cell has counted. */
const mergeCell = (into: FeedbackCell, { count, numbers, values }: FeedbackCell): void => {
  into.count += count;
  for (const [i, counted] of numbers.entries()) into.numbers[i]?.merge(counted);
  for (const [i, counts] of values.entries())
    for (const [value, some] of counts) increase(into.values[i] ?? new Map(), value, some);
};

/** Statistics of feedback as they are answered. */
export interface FeedbackStatsAnswer {
  readonly start: string;
  readonly end: string;
  readonly granularity: number;
  readonly timezone: string;
  readonly buckets: readonly BucketRow[];
  readonly window_stats: Readonly<Record<string, Readonly<Record<string, number | null>>>>;
}

/**
 * Computes statistics of what the payloads of feedback say, over time.
 *
 * @throws ServiceError 503, when the answer is asked for, if storage does not give something in time
 */
export const computeFeedbackStats = (store: Store, request: FeedbackStatsRequest, budget: RequestBudget) => {
  const { start, end, granularity, timezone, metrics, groupBy } = request;
  const options = { withPayloads: metrics.length > 0, withTypes: groupBy !== null };
  const { plan, counts, found } = feedbackIn(store, request, options, budget);
  const newCell = (): FeedbackCell => ({
    count: 0,
    numbers: metrics.map(({ percentiles }) => new Numbers(percentiles.length > 0)),
    values: metrics.map(() => new Map()),
  });
  const newGroup = (): FeedbackGroup => ({ values: metrics.map(() => new Map()), cells: new Map() });
  const toRow = (
    time: Micros,
    group: string | null,
    { count, numbers, values }: FeedbackCell,
    shown: readonly ReadonlySet<JsonValue>[],
  ): BucketRow => {
    const metricValues = metrics.flatMap((metric, i): [string, JsonValue][] => [
      ...computeFigures(metric, withSketch(numbers[i] ?? new Numbers(true))).map(
        ([name, value]): [string, JsonValue] => [`${name}_${metric.slug}`, value],
      ),
      ...(metric.distribution
        ? [
            [
              `distribution_${metric.slug}`,
              toDistribution(values[i] ?? new Map(), shown[i] ?? new Set()),
            ] satisfies [string, JsonValue],
          ]
        : []),
    ]);
    return {
      timestamp: formatTime(time),
      ...(groupBy !== null && { [groupBy]: group }),
      count,
      ...Object.fromEntries(metricValues),
    };
  };
  const answer = async (): Promise<FeedbackStatsAnswer> => {
    const edges = bucketEdges(start, end, granularity, timezone);
    const groups = new Map<string | null, FeedbackGroup>();
    for await (const { created_at, feedback_type: type = null, payload } of found) {
      const group = groups.get(type) ?? newGroup();
      groups.set(type, group);
      const bucket = findBucket(edges, parseTime(created_at) ?? start);
      const cell = group.cells.get(bucket) ?? newCell();
      group.cells.set(bucket, cell);
      cell.count++;
      for (const [i, { path, valueType, distribution }] of metrics.entries()) {
        const value = valueAt(payload, path);
        const number = toNumber(valueType, value);
        if (number === undefined) continue;
        cell.numbers[i]?.add(number);
        const counted = group.values[i];
        if (!distribution || !counted) continue;
        const isCounted = isShort(value) && (counted.has(value) || counted.size < maxCounted);
        const known = isCounted ? value : null;
        increase(counted, known, 1);
        increase(cell.values[i] ?? new Map(), known, 1);
      }
    }
    const all = newCell().numbers;
    const rows: (readonly [bucket: number, row: BucketRow])[] = [];
    for (const [name, parts] of largestGroups(groups)) {
      const { values, cells } = newGroup();
      for (const part of parts) {
        for (const [i, counts] of part.values.entries())
          for (const [value, some] of counts) increase(values[i] ?? new Map(), value, some);
        for (const [bucket, cell] of part.cells) {
          const merged = cells.get(bucket) ?? newCell();
          cells.set(bucket, merged);
          mergeCell(merged, cell);
        }
      }
      const shown = values.map(commonest);
      for (const [bucket, cell] of cells) {
        for (const [i, counted] of cell.numbers.entries()) all[i]?.merge(counted);
        rows.push([bucket, toRow(edges[bucket] ?? 0, name, cell, shown)]);
      }
    }
    const stats = metrics.map((metric, i) => {
      const counted = all[i] ?? new Numbers(true);
      return [metric.slug, Object.fromEntries(computeFigures(metric, withSketch(counted)))] as const;
    });
    return {
      start: formatTime(start),
      end: formatTime(end),
      granularity,
      timezone,
      buckets: rows.toSorted(([a], [b]) => a - b).map(([, row]) => row),
      window_stats: Object.fromEntries(stats),
    };
  };
  return { plan, counts, answer };
};

/** A path into payloads, and what its values count as. */
export interface PayloadPath {
  readonly json_path: string;
  readonly value_type: FeedbackValueType;
}

/** The most paths that are told apart. */
const maxPaths = 10_000;

const getType = (value: string | number | boolean): FeedbackValueType =>
  typeof value === 'number' ? 'numeric' : typeof value === 'boolean' ? 'boolean' : 'categorical';

/** Notes the types of the values below a path. Lists of objects have no paths, since no dots lead into them. */
const notePaths = (
  value: JsonValue,
  path: readonly string[],
  types: Map<string, FeedbackValueType>,
): void => {
  if (value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item !== 'object') notePaths(item, path, types);
    return;
  }
  if (isJsonObject(value)) {
    for (const [key, child] of Object.entries(value))
      if (key.trim() !== '') notePaths(child, [...path, key], types);
    return;
  }
  if (typeof value === 'object') return;
  const text = path.join('.');
  const known = types.get(text);
  const type = getType(value);
  if (known === undefined && types.size >= maxPaths) return;
  types.set(text, known === undefined || known === type ? type : 'categorical');
};

/**
 * The paths in the payloads of the latest feedback of a span of time, by their texts. A path has one
 * type; values of several make it `categorical`.
 *
 * @param latest of how many records
 * @throws ServiceError 503, when the answer is asked for, if storage does not give something in time
 */
export const findPayloadPaths = (store: Store, span: FeedbackSpan, latest: number, budget: RequestBudget) => {
  const { plan, counts, found } = feedbackIn(store, span, { withPayloads: true, latest }, budget);
  const answer = async (): Promise<PayloadPath[]> => {
    const types = new Map<string, FeedbackValueType>();
    for await (const { payload } of found) notePaths(payload, [], types);
    return [...types]
      .map(([json_path, value_type]) => ({ json_path, value_type }))
      .sort((a, b) => (a.json_path < b.json_path ? -1 : 1));
  };
  return { plan, counts, answer };
};
