import type { UseQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { CallsStatsRes } from '../../api/types.ts';
import { useSession } from '../../session/session.tsx';
import { changesOf } from './changes.ts';
import { type Figures, figuresOf, groupsOf, withModelCalls } from './figures.ts';
import { periodOf } from './period.ts';
import { fieldOf, seriesRequest, totalsRequest } from './requests.ts';
import type { OverviewSearch } from './search.ts';
import { pointsOf } from './series.ts';
import { useModelCalls, useStats } from './use-stats.ts';

type Stats = UseQueryResult<CallsStatsRes>;

const totalsOf = ({ data }: Stats): Figures | undefined =>
  data && figuresOf(data.call_buckets, data.usage_buckets);

/** Everything that the overview shows, as far as it is there. */
export const useOverview = (search: OverviewSearch, now: number) => {
  const { me } = useSession();
  const { project, by = 'op', split = false } = search;
  const { range, from, to } = search;
  const period = useMemo(
    () => periodOf({ project, ...(range && { range }), ...(from && { from }), ...(to && { to }) }, now),
    [project, range, from, to, now],
  );
  const field = fieldOf(by, me.service.name);
  const lines = split ? field : undefined;
  const queries = {
    series: useStats(seriesRequest(project, period, lines)),
    now: useStats(totalsRequest(project, period, undefined)),
    before: useStats(totalsRequest(project, period.before, undefined)),
    groupsNow: useStats(totalsRequest(project, period, field)),
    groupsBefore: useStats(totalsRequest(project, period.before, field)),
  };
  const { series, groupsNow, groupsBefore } = queries;
  const totals = totalsOf(queries.now);
  const totalsBefore = totalsOf(queries.before);
  const models = useModelCalls({
    ...{ project, period, split, wanted: by === 'model' },
    calls: queries.now.isPlaceholderData ? undefined : totals?.calls,
    callsBefore: queries.before.isPlaceholderData ? undefined : totalsBefore?.calls,
  });
  const points = useMemo(
    () => series.data && pointsOf(withModelCalls(series.data, models.series.data), period, lines),
    [series.data, models.series.data, period, lines],
  );
  const groups = useMemo(
    () => groupsNow.data && groupsOf(withModelCalls(groupsNow.data, models.now.data), field),
    [groupsNow.data, models.now.data, field],
  );
  const changes = useMemo(() => {
    if (!groups || !groupsBefore.data) return undefined;
    return changesOf(groupsOf(withModelCalls(groupsBefore.data, models.before.data), field), groups);
  }, [groups, groupsBefore.data, models.before.data, field]);
  const all: readonly Stats[] = [...Object.values(queries), models.series, models.now, models.before];
  return {
    period,
    points,
    groups,
    changes,
    totals,
    totalsBefore,
    /** Whether the groups have errors and latencies, in all and over time. */
    whole: by !== 'model' || models.now.data !== undefined,
    wholeLines: by !== 'model' || models.series.data !== undefined,
    tooMany: models.tooMany,
    error: all.find(({ error }) => error)?.error,
    retry: () => {
      for (const query of all) if (query.error) query.refetch();
    },
  };
};
