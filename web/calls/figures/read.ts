import { keepPreviousData } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { Stats, StatsQuery } from '../../api/contract.ts';
import { type Changes, type Range, type Time, toSpan } from '../../navigation/search.ts';
import { useRead } from '../../session/session.tsx';
import type { Score } from '../scores.ts';
import { figuresRequest, iso, type Period, type Selection, type Span, toPeriod, whole } from './requests.ts';
import {
  type FeedbackStats,
  type ScoreFigures,
  scoreOfCallsRequest,
  scoresRequest,
  spreadRequest,
  toScoreOfCalls,
  toScores,
} from './scores.ts';

/* Statistics from the cache, or from the service. Equal requests are asked once. */

/** The time of a view, by its URL: as menus have it, and as figures do. `refresh` has a range end now. */
export const usePeriod = ({ range, from, to }: Changes<Time>, usual: Range) => {
  const [now, setNow] = useState(() => Date.now());
  const span = useMemo(() => toSpan({ range, from, to }, usual), [range, from, to, usual]);
  const period = useMemo(() => toPeriod(span, now), [span, now]);
  return { span, period, refresh: () => setNow(Date.now()) };
};

/** A stretch of a chart, in ms since 1970, as the time of a view. */
export const toTime = (start: number, end: number): Changes<Time> => ({
  range: undefined,
  from: iso(start),
  to: iso(end),
});

/** So many calls are read for what rollups do not know: some 4,000 read units. */
export const maxRead = 100_000;

/** Statistics of calls. */
export const useStats = (
  request: StatsQuery,
  options: { readonly enabled?: boolean; readonly placeholderData?: typeof keepPreviousData },
) =>
  useRead<Stats>(
    ['stats', request],
    ({ client, signal }) => client.ask('/calls/stats', request, signal),
    options,
  );

/** Statistics. Those of before stay until there are others, but not if these are too many to read. */
export const useKeptStats = (request: StatsQuery, enabled: boolean, tooMany = false) =>
  useStats(request, { enabled, ...(!tooMany && { placeholderData: keepPreviousData }) });

/** Whether the service reads the calls themselves for a filter: rollups only know sources. */
const isReadFor = ({ filter, query }: Selection): boolean =>
  (query ?? undefined) !== undefined || Object.keys(filter ?? {}).some((field) => field !== 'sources');

/**
 * Whether figures may be asked for: those that calls are read for only if these are not too many, which
 * rollups know.
 *
 * @param isRead whether the calls are read whatever the filter
 */
export const useMayRead = (selection: Selection, span: Span, isRead: boolean) => {
  const needsCalls = isRead || isReadFor(selection);
  const { project_id, filter } = selection;
  const sources = filter?.sources;
  const all: Selection = { project_id, ...(sources && { filter: { sources } }) };
  const { data, error, refetch } = useStats(
    { ...figuresRequest(all, span, whole, undefined), usage_metrics: [] },
    { enabled: needsCalls },
  );
  const counted = data?.call_buckets.reduce((sum, bucket) => sum + Number(bucket.sum_call_count), 0);
  const tooMany = needsCalls && (counted ?? 0) > maxRead;
  return {
    may: !needsCalls || (counted !== undefined && !tooMany),
    /** How many calls there are, if these are too many. */
    tooMany: tooMany ? counted : undefined,
    error: needsCalls ? error : null,
    refetch,
  };
};

const kept = { placeholderData: keepPreviousData };

/** All scores that feedback of a time gives, the most often given first. */
export const useScores = (project: string, period: Period, enabled = true) => {
  const { start, end } = period;
  return useRead<FeedbackStats, ScoreFigures[]>(
    ['scores', scoresRequest(project, period, period.granularity)],
    ({ client, signal }) =>
      client.ask('/feedback/stats', scoresRequest(project, period, period.granularity), signal),
    { enabled, ...kept, select: (answer) => toScores(answer, { start, end }) },
  );
};

/**
 * A score over time: of all feedback, or of calls alone. Null if none of them has it.
 *
 * @param selection the calls @default - all feedback counts
 */
export const useScore = (
  project: string,
  period: Period,
  score: Score,
  selection?: Selection,
  enabled = true,
) => {
  const { start, end } = period;
  const ofFeedback = useRead<FeedbackStats, ScoreFigures | null>(
    ['scores', scoresRequest(project, period, period.granularity, score)],
    ({ client, signal }) =>
      client.ask('/feedback/stats', scoresRequest(project, period, period.granularity, score), signal),
    {
      enabled: enabled && selection === undefined,
      ...kept,
      select: (answer) => toScores(answer, { start, end }, score)[0] ?? null,
    },
  );
  const request = scoreOfCallsRequest(selection ?? { project_id: project }, period, score);
  const ofCalls = useRead<Stats, ScoreFigures | null>(
    ['stats', request],
    ({ client, signal }) => client.ask('/calls/stats', request, signal),
    {
      enabled: enabled && selection !== undefined,
      ...kept,
      select: (answer) => toScoreOfCalls(answer, { start, end }, score) ?? null,
    },
  );
  return selection ? ofCalls : ofFeedback;
};

/** How the numbers of a score are spread that are too many to be told apart. */
export const useSpread = (project: string, span: Span, score: Score, enabled: boolean) => {
  const request = spreadRequest(project, span, score);
  return useRead(
    ['scores', request],
    ({ client, signal }) => client.ask('/feedback/stats', request, signal),
    { enabled },
  );
};
