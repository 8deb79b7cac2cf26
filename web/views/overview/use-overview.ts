import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { CallsStatsReq } from '../../api/types.ts';
import { useSession } from '../../session/session.tsx';
import { changesOf } from './changes.ts';
import { figuresOf, groupsOf } from './figures.ts';
import { periodOf } from './period.ts';
import { fieldOf, seriesRequest, totalsRequest } from './requests.ts';
import type { OverviewSearch } from './search.ts';
import { pointsOf } from './series.ts';

/** Statistics from the cache, or from the service. */
const useStats = (request: CallsStatsReq) => {
  const { client, me } = useSession();
  return useQuery({
    queryKey: ['stats', me.key_id, request],
    queryFn: ({ signal }) => client.ask('POST /calls/stats', request, signal),
    placeholderData: keepPreviousData,
  });
};

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
  const points = useMemo(
    () => series.data && pointsOf(series.data, period, lines),
    [series.data, period, lines],
  );
  const groups = useMemo(() => groupsNow.data && groupsOf(groupsNow.data, field), [groupsNow.data, field]);
  const changes = useMemo(() => {
    if (!groups || !groupsBefore.data) return undefined;
    return changesOf(groupsOf(groupsBefore.data, field), groups);
  }, [groups, groupsBefore.data, field]);
  const all = Object.values(queries);
  return {
    period,
    points,
    groups,
    changes,
    totals: queries.now.data && figuresOf(queries.now.data.call_buckets, queries.now.data.usage_buckets),
    totalsBefore:
      queries.before.data && figuresOf(queries.before.data.call_buckets, queries.before.data.usage_buckets),
    error: all.find(({ error }) => error)?.error,
    retry: () => {
      for (const query of all) if (query.error) query.refetch();
    },
  };
};
