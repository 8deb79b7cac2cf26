import type { Alert } from '../../../api/alerts.ts';
import type { StatsRequest } from '../../../api/stats.ts';
import type { Links } from '../../../foundations/links.ts';
import type { RequestBudget } from '../../../foundations/storage/index.ts';
import { formatTime, isJsonObject, parseRef } from '../../../foundations/wire/index.ts';
import {
  type BucketRow,
  computeStats,
  numberIn,
  type OneNumber,
  type Span,
} from '../../questions/stats/index.ts';
import { scanCalls } from '../../questions/stats/scan.ts';
import { type CallHeader, readHeaders } from '../../records/calls/index.ts';
import type { LoadedAlert } from './alert.ts';
import { callNumber, cellFor, getRating, ratedIn, type Sources, toWindow } from './measure.ts';
import type { Contributor } from './message.ts';

/** How many a message names. */
const maxNamed = 3;
/** The longest window whose calls are looked at one by one, in minutes. Of longer ones, ops are named. */
const maxCallsMinutes = 60;

/** The first few of a list with one more, by what is worst for an alert. */
const worst = <T extends { readonly value: number }>(
  { direction }: Alert,
  list: readonly T[],
  one: T,
): readonly T[] =>
  [...list, one]
    .sort((a, b) => (direction === 'above' ? b.value - a.value : a.value - b.value))
    .slice(0, maxNamed);

type Named = Pick<Contributor, 'label' | 'value'> & {
  readonly call?: { readonly trace: string; readonly id: string };
  readonly op?: string;
};

/** The name of an op without its version, if it is a ref. */
const shortOp = (opName: string): string => {
  const ref = parseRef(opName);
  return ref?.kind === 'op' ? ref.name : opName;
};

const getName = ({ start }: CallHeader): string => start.displayName ?? shortOp(start.opName);

/** The ops whose calls have most of a number. */
const ops = async (
  { calls, lookups }: Sources,
  { projectId, alert }: LoadedAlert,
  number: OneNumber,
  [start, end]: Span,
  budget: RequestBudget,
): Promise<Named[]> => {
  const { metric } = number;
  const aggregation = metric === 'latency_ms' ? 'max' : 'sum';
  const metricTerms = { aggregations: [aggregation], percentiles: [] } as const;
  const request: StatsRequest = {
    projectId,
    start,
    end,
    granularity: 7 * 86_400,
    timezone: 'UTC',
    filter: alert.filter,
    where: alert.where,
    groupBy: ['op_name'],
    groupByFeedback: null,
    ...(metric === 'call_count' || metric === 'error_count' || metric === 'latency_ms'
      ? { calls: [{ metric, ...metricTerms }], usage: [] }
      : { calls: [], usage: [{ metric, ...metricTerms }] }),
  };
  const answer = await computeStats(calls, request, budget, lookups).answer();
  const values = new Map<string, number>();
  const take = (row: BucketRow): void => {
    const op = String(row.op_name);
    const value = Number(row[`${aggregation}_${metric}`] ?? 0);
    const known = values.get(op) ?? 0;
    values.set(op, aggregation === 'max' ? Math.max(known, value) : known + value);
  };
  for (const row of [...answer.call_buckets, ...answer.usage_buckets]) take(row);
  return [...values]
    .filter(([, value]) => value > 0)
    .sort(([, a], [, b]) => b - a)
    .slice(0, maxNamed)
    .map(([op, value]) => ({ label: shortOp(op), value, op }));
};

/** The calls that have most of a number, or least. */
const singleCalls = async (
  { calls, lookups }: Sources,
  { projectId, alert }: LoadedAlert,
  { metric }: OneNumber,
  span: Span,
  budget: RequestBudget,
): Promise<readonly Named[]> => {
  const sum: OneNumber = { metric, aggregation: 'sum', percentile: null };
  const withUsage = metric !== 'latency_ms';
  const computeCosts = withUsage ? await lookups.costs(projectId, budget) : undefined;
  let first: readonly Named[] = [];
  await scanCalls(
    calls,
    { projectId, filter: alert.filter, where: alert.where, withUsage, withFailed: false, attributes: [] },
    span,
    (row, usage) => {
      const { header } = row;
      const cell = cellFor(sum);
      const costs = computeCosts && isJsonObject(usage) ? computeCosts(usage, header.start.startedAt) : {};
      cell.add(header, usage, costs as Parameters<typeof cell.add>[2]);
      if (cell.latency.count === 0 && !withUsage) return;
      const value = numberIn(sum, cell) ?? 0;
      const call = { trace: header.start.traceId, id: header.id };
      first = worst(alert, first, { label: getName(header), value, call });
    },
    { scanned: 0, hydrated: 0 },
    budget,
    lookups,
  );
  return first;
};

/** The calls with the largest values of feedback, or the least. */
const ratedCalls = async (
  { calls, feedback }: Pick<Sources, 'calls' | 'feedback'>,
  { projectId, alert }: LoadedAlert,
  span: Span,
  budget: RequestBudget,
): Promise<Named[]> => {
  const { metric } = alert;
  let first: readonly { readonly value: number; readonly id: string }[] = [];
  for await (const one of ratedIn(feedback, projectId, [metric.feedbackType ?? ''], span, budget)) {
    const value = getRating(metric, one);
    const ref = parseRef(one.ref);
    if (value !== undefined && ref?.kind === 'call') first = worst(alert, first, { value, id: ref.callId });
  }
  const ids = [...new Set(first.map(({ id }) => id))];
  const headers = new Map(
    (await readHeaders(calls, projectId, ids, budget)).map((header) => [header.id, header]),
  );
  return first.flatMap(({ value, id }): Named[] => {
    const header = headers.get(id);
    if (!header) return [];
    return [{ label: getName(header), value, call: { trace: header.start.traceId, id } }];
  });
};

/**
 * Finds the three calls or ops that contribute most to what an alert measures: of counts and of windows
 * over an hour the ops, else the calls.
 */
export const findContributors = async (
  sources: Sources,
  loaded: LoadedAlert,
  end: number,
  links: Links,
  budget: RequestBudget,
): Promise<Contributor[]> => {
  const { projectId, alert } = loaded;
  const span = toWindow(alert, end);
  const [from, to] = span.map(formatTime) as [string, string];
  const number = callNumber(alert.metric);
  const isOfOps =
    number?.metric === 'call_count' ||
    number?.metric === 'error_count' ||
    alert.windowMinutes > maxCallsMinutes;
  const find = (): Promise<readonly Named[]> => {
    if (!number) return ratedCalls(sources, loaded, span, budget);
    return (isOfOps ? ops : singleCalls)(sources, loaded, number, span, budget);
  };
  return (await find()).map(({ label, value, call, op }) => ({
    label,
    value,
    call_id: call?.id ?? null,
    link: call ? links.trace(projectId, call.trace, call.id) : links.calls(projectId, from, to, op),
  }));
};

/** The link of a message: all calls of the window. */
export const windowLink = (links: Links, { projectId, alert }: LoadedAlert, end: number): string => {
  const [from, to] = toWindow(alert, end).map(formatTime) as [string, string];
  return links.calls(projectId, from, to);
};
