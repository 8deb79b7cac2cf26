import type { UseQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Stats, StatsQuery } from '../../api/contract.ts';
import {
  type Figures,
  findChanges,
  toFigures,
  toGroups,
  toPoints,
  withModelCalls,
} from '../../calls/figures/figures.ts';
import { maxRead, useKeptStats, useStats } from '../../calls/figures/read.ts';
import {
  type Counted,
  countedBy,
  fieldOf,
  getGrouping,
  isFiltered,
  isRead,
  modelCallsRequest,
  type Period,
  seriesRequest,
  toPeriod,
  totalsRequest,
  unfilteredOf,
  whole,
  wholeRequest,
} from '../../calls/figures/requests.ts';
import { spendingIn } from '../../calls/figures/spending.ts';
import { selectionOf } from '../../calls/list/request.ts';
import type { OverviewSearch } from '../../navigation/search.ts';

interface ModelCallsProps {
  readonly counted: Counted;
  readonly period: Period;
  /** Whether the figures are told apart by models. */
  readonly wanted: boolean;
  /** Whether they are also wanted over time. */
  readonly split: boolean;
  /** How many calls the period has and the one before it; undefined as long as nobody knows. */
  readonly calls: number | undefined;
  readonly callsBefore: number | undefined;
}

/**
 * The errors and latencies of models, over time, of the period, and of the one before it. They are
 * read from the headers of calls, so they are asked for when these are few enough.
 */
const useModelCalls = ({
  counted,
  period,
  wanted: isEnabled,
  split,
  calls,
  callsBefore,
}: ModelCallsProps) => {
  const useCounted = (request: StatsQuery, enabled: boolean) => useStats(request, { enabled });
  const selection = selectionOf(counted);
  const isFew = (count: number | undefined) => isEnabled && count !== undefined && count <= maxRead;
  return {
    series: useCounted(modelCallsRequest(selection, period, period.granularity), split && isFew(calls)),
    now: useCounted(modelCallsRequest(selection, period, whole), isFew(calls)),
    before: useCounted(modelCallsRequest(selection, period.before, whole), isFew(callsBefore)),
    tooMany: isEnabled && (calls ?? 0) > maxRead,
  };
};

type StatsResult = UseQueryResult<Stats>;

const toTotals = ({ data }: StatsResult): Figures | undefined =>
  data && toFigures(data.call_buckets, data.usage_buckets);

/** Everything that the overview shows, as far as it is there. */
export const useOverview = (search: OverviewSearch, now: number) => {
  const { by = 'op', split = false } = search;
  const { range, from, to } = search;
  const period = useMemo(() => toPeriod({ range, from, to }, now), [range, from, to, now]);
  const grouping = getGrouping(by, search.score);
  const field = fieldOf(grouping);
  const counted = countedBy(search);
  const filtered = isFiltered(counted);
  const span = { start: period.before.start, end: period.end };
  // What filters make the service read is known from rollups beforehand.
  const all = useKeptStats(totalsRequest(unfilteredOf(counted), span, undefined), filtered);
  const toRead = all.isPlaceholderData ? undefined : toTotals(all)?.calls;
  const isTooMany = (count: number | undefined) => (count ?? 0) > maxRead;
  const tooManyToFilter = filtered && isTooMany(toRead);
  const mayFilter = !filtered || (toRead !== undefined && !tooManyToFilter);
  const whole = {
    now: useKeptStats(wholeRequest(counted, period), mayFilter, tooManyToFilter),
    before: useKeptStats(totalsRequest(counted, period.before, undefined), mayFilter, tooManyToFilter),
  };
  const totals = toTotals(whole.now);
  const totalsBefore = toTotals(whole.before);
  const known = ({ isPlaceholderData }: StatsResult, figures: Figures | undefined) =>
    isPlaceholderData ? undefined : figures?.calls;
  const spending = useMemo(
    () => whole.now.data && spendingIn(whole.now.data.usage_buckets),
    [whole.now.data],
  );
  const calls = known(whole.now, totals);
  const callsBefore = known(whole.before, totalsBefore);
  const tooManyToGroup = (count: number | undefined) =>
    tooManyToFilter || (isRead(grouping) && isTooMany(count));
  const mayRead = (count: number | undefined) =>
    mayFilter && (!isRead(grouping) || count !== undefined) && !tooManyToGroup(count);
  const mayGroup = split && mayRead(calls);
  const lines = mayGroup ? field : undefined;
  const queries = {
    ...whole,
    all,
    series: useKeptStats(
      seriesRequest(counted, period, mayGroup ? grouping : undefined),
      mayFilter,
      tooManyToFilter,
    ),
    groupsNow: useKeptStats(totalsRequest(counted, period, grouping), mayRead(calls), tooManyToGroup(calls)),
    groupsBefore: useKeptStats(
      totalsRequest(counted, period.before, grouping),
      mayRead(callsBefore),
      tooManyToGroup(callsBefore),
    ),
  };
  const { series, groupsNow, groupsBefore } = queries;
  const models = useModelCalls({
    counted,
    period,
    split,
    wanted: by === 'model',
    calls,
    callsBefore,
  });
  const points = useMemo(
    () => series.data && toPoints(withModelCalls(series.data, models.series.data), period, lines),
    [series.data, models.series.data, period, lines],
  );
  const groups = useMemo(
    () => groupsNow.data && toGroups(withModelCalls(groupsNow.data, models.now.data), field),
    [groupsNow.data, models.now.data, field],
  );
  const changes = useMemo(() => {
    if (!groups || !groupsBefore.data) return undefined;
    return findChanges(toGroups(withModelCalls(groupsBefore.data, models.before.data), field), groups);
  }, [groups, groupsBefore.data, models.before.data, field]);
  const results: readonly StatsResult[] = [
    ...Object.values(queries),
    models.series,
    models.now,
    models.before,
  ];
  return {
    period,
    points,
    groups,
    changes,
    totals,
    totalsBefore,
    grouping,
    /** Where the money of the period went. */
    spending,
    /** Whether the groups have errors and latencies, in all and over time. */
    whole: by !== 'model' || models.now.data !== undefined,
    wholeLines: by !== 'model' || models.series.data !== undefined,
    tooMany: models.tooMany || (isRead(grouping) && isTooMany(calls)),
    /** How many calls the filters would make the service read, if these are too many. */
    tooManyToFilter: tooManyToFilter ? toRead : undefined,
    error: results.find(({ error }) => error)?.error,
    retry: () => {
      for (const query of results) if (query.error) query.refetch();
    },
  };
};
