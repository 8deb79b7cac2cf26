import type { Alert, alertsPreview, PreviewRequest } from '../../../api/alerts.ts';
import type { AnswerOf } from '../../../api/endpoint.ts';
import { everyCall } from '../../../api/queries.ts';
import type { RequestBudget } from '../../../foundations/storage/index.ts';
import { formatTime, invalidAt, type Micros, type ProjectId } from '../../../foundations/wire/index.ts';
import {
  Cell,
  computeNumber,
  countTogether,
  keepingFor,
  metricsFor,
  Numbers,
  numberIn,
  type OneNumber,
  type Span,
} from '../../questions/stats/index.ts';
import { decide, lagMicros, noStanding, stepMinutes, windowEnd } from './decide.ts';
import { finite } from './look.ts';
import {
  callNumber,
  cellFor,
  compared,
  comparedBefore,
  countsIssues,
  getRating,
  getReads,
  ratedIn,
  type Sources,
  toAsk,
} from './measure.ts';
import { decisionsOn, lookedBack, noKnownIssues, noteIssues, seeIssues } from './new-issues.ts';
import { usdPerMonth } from './price.ts';

type Answer = AnswerOf<typeof alertsPreview>;

const minute = 60_000_000;
const defaultSpan = 30 * 1440 * minute;
/** The most looks of a preview: those of 30 days, one a minute, and some more. */
const maxLooks = 50_000;
/** The most changes and the most values of an answer. */
const maxAnswered = 1000;

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));

/** The minutes that all windows begin and end at whole multiples of. */
const getGrain = (alert: Alert): number => {
  const windows = divisor(stepMinutes(alert), alert.windowMinutes);
  return comparedBefore(alert) > 0 ? divisor(windows, 1440) : windows;
};

/** What was measured of grains of time, of which a window has several. */
interface Grains {
  readonly measure: (span: Span) => number | null;
  /** All calls a minute, as far as that is known. */
  readonly callsPerMinute: number;
}

const countMinutes = ([from, to]: Span): number => (to - from) / minute;

const everyNumber: OneNumber = { metric: 'call_count', aggregation: 'sum', percentile: null };

const grainsOfCalls = async (
  { calls, lookups }: Sources,
  projectId: ProjectId,
  alert: Alert,
  number: OneNumber,
  span: Span,
  withAll: boolean,
  budget: RequestBudget,
): Promise<Grains> => {
  const grain = getGrain(alert) * minute;
  const cells = new Map<number, Cell>();
  const cellAt = (time: Micros): Cell => {
    const at = Math.floor(time / grain);
    const known = cells.get(at);
    if (known) return known;
    const made = cellFor(number);
    cells.set(at, made);
    return made;
  };
  const edges: Micros[] = [];
  for (let edge = span[0] + grain; edge < span[1]; edge += grain) edges.push(edge);
  const all = new Cell(keepingFor(metricsFor(everyNumber)));
  const every = toAsk({ filter: everyCall, where: null }, everyNumber, span, () => all, edges);
  const asks = [toAsk(alert, number, span, cellAt, edges), ...(withAll ? [every] : [])];
  await countTogether(calls, projectId, asks, budget, lookups);
  return {
    measure: ([from, to]) => {
      const window = cellFor(number);
      for (let at = from / grain; at < to / grain; at++) {
        const cell = cells.get(at);
        if (cell) window.merge(cell);
      }
      return numberIn(number, window);
    },
    callsPerMinute: all.calls / countMinutes(span),
  };
};

const grainsOfFeedback = async (
  { feedback }: Pick<Sources, 'feedback'>,
  projectId: ProjectId,
  alert: Alert,
  span: Span,
  budget: RequestBudget,
): Promise<Grains> => {
  const grain = getGrain(alert) * minute;
  const grains = new Map<number, Numbers>();
  const types = [alert.metric.feedbackType ?? ''];
  for await (const one of ratedIn(feedback, projectId, types, span, budget)) {
    const rating = getRating(alert.metric, one);
    if (rating === undefined) continue;
    const at = Math.floor(one.createdAt / grain);
    const known = grains.get(at) ?? new Numbers(false);
    grains.set(at, known);
    known.add(rating);
  }
  return {
    measure: ([from, to]) => {
      const window = new Numbers(false);
      for (let at = from / grain; at < to / grain; at++) {
        const numbers = grains.get(at);
        if (numbers) window.merge(numbers);
      }
      return computeNumber(alert.metric, window);
    },
    callsPerMinute: 0,
  };
};

/** What is new of issues: what was not seen in the span so far, or in the days before it. */
const grainsOfIssues = async (
  sources: Sources,
  projectId: ProjectId,
  [from, end]: Span,
  budget: RequestBudget,
): Promise<Grains> => {
  const looked: Span = [from - lookedBack, end];
  const { seen, calls } = await seeIssues(sources, projectId, [looked], budget, Date.now);
  const decisions = await decisionsOn(sources, projectId, seen, budget);
  const { opened } = noteIssues(noKnownIssues, seen, decisions, {
    end,
    since: 0,
    isFirst: true,
    most: Number.POSITIVE_INFINITY,
  });
  return {
    measure: ([start, until]) => opened.filter(({ at }) => at >= start && at < until).length,
    callsPerMinute: calls / countMinutes(looked),
  };
};

const problemAt = (field: string, msg: string) => invalidAt(['body', field], msg);

/** The ends of the windows of all looks between two times. */
const listEnds = (alert: Alert, start: Micros, end: Micros): Micros[] => {
  const step = stepMinutes(alert) * minute;
  const last = windowEnd(alert, end);
  const first = Math.max(step, windowEnd(alert, start));
  if (first > last)
    throw problemAt('start', `should be at least ${stepMinutes(alert)} minutes before the end`);
  const count = (last - first) / step + 1;
  if (count > maxLooks)
    throw problemAt('start', `makes ${count} looks, of which there may be ${maxLooks}: write a later time`);
  return Array.from({ length: count }, (_, i) => first + i * step);
};

/** Values, of so many spans of time at most the worst of each. */
const thinned = (
  values: readonly (readonly [end: Micros, value: number | null])[],
  direction: Alert['direction'],
): [Micros, number | null][] => {
  const step = Math.ceil(values.length / maxAnswered);
  const worse = (a: number | null, b: number | null): boolean => {
    if (a === null || b === null) return b === null;
    return direction === 'above' ? a > b : a < b;
  };
  return Array.from({ length: Math.ceil(values.length / step) }, (_, i) => {
    const [first, ...others] = values.slice(i * step, (i + 1) * step);
    return others.reduce((worst, one) => (worse(one[1], worst[1]) ? one : worst), first ?? [0, null]);
  }).map(([end, value]) => [end, value]);
};

/**
 * Looks at the past as an alert would have looked.
 *
 * @throws ServiceError 422 for a span of no looks or too many
 */
export const previewAlert = async (
  sources: Sources,
  { projectId, alert, start, end, includeValues }: PreviewRequest,
  budget: RequestBudget,
): Promise<Answer> => {
  const until = end ?? Date.now() * 1000;
  const ends = listEnds(alert, start ?? until - defaultSpan, until);
  const first = ends[0] ?? 0;
  const last = ends.at(-1) ?? 0;
  const window = alert.windowMinutes * minute;
  const before = comparedBefore(alert);
  const span: Span = [first - window - before, last];
  const number = callNumber(alert.metric);
  const reads = getReads(sources.calls, projectId, alert, last);
  const spent = budget.meter.readUnits;
  const readGrains = (): Promise<Grains> => {
    if (number) return grainsOfCalls(sources, projectId, alert, number, span, reads === 'rollups', budget);
    return countsIssues(alert.metric)
      ? grainsOfIssues(sources, projectId, span, budget)
      : grainsOfFeedback(sources, projectId, alert, span, budget);
  };
  const grains = await readGrains();
  const unitsPerMinute = (budget.meter.readUnits - spent) / countMinutes(span);

  const values: (readonly [Micros, number | null])[] = [];
  const changes: Answer['changes'] = [];
  let standing = noStanding('');
  for (const at of ends) {
    const current = grains.measure([at - window, at]);
    const earlier = before > 0 ? grains.measure([at - window - before, at - before]) : null;
    const { value } = compared(alert, current, earlier);
    values.push([at, value]);
    const now = at + lagMicros;
    const next = decide(alert, '', standing, { value, end: at }, now);
    const { state } = next.standing;
    if (state !== null && state !== standing.state)
      changes.push({
        at: formatTime(now),
        state,
        previous: standing.state,
        value: finite(value),
        told: next.change !== null,
      });
    standing = next.standing;
  }
  const traffic = { reads, unitsPerMinute, callsPerMinute: grains.callsPerMinute };
  return {
    start: formatTime(first + lagMicros),
    end: formatTime(last + lagMicros),
    step_minutes: stepMinutes(alert),
    looks: ends.length,
    value: finite(standing.value),
    changes: changes.slice(-maxAnswered),
    ...(includeValues && {
      values: thinned(values, alert.direction).map(([at, value]) => ({
        timestamp: formatTime(at),
        value: finite(value),
      })),
    }),
    reads,
    estimated_usd_per_month: usdPerMonth(sources.calls, alert, traffic),
  };
};
