import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { opText } from '../../api/calls.ts';
import { wordsOf } from '../../api/errors.ts';
import { changed } from '../../data/changed.ts';
import { countText } from '../../data/format.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { TimeMenu } from '../traces/time-menu.tsx';
import { Breakdown } from './breakdown.tsx';
import { ChangesList } from './changes-list.tsx';
import { Charts } from './charts.tsx';
import { Headline } from './headline.tsx';
import { type Dimension, dimensions, type OverviewSearch } from './search.ts';
import { useOverview } from './use-overview.ts';
import { maxRead } from './use-stats.ts';
import { ValuesTable } from './values-table.tsx';

const route = getRouteApi('/overview');

const titles: Readonly<Record<Dimension, string>> = { op: 'Operations', model: 'Models', user: 'Users' };

type Change = { readonly [Field in keyof OverviewSearch]?: OverviewSearch[Field] | undefined };

const useOverviewSearch = () => {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = useCallback(
    (changes: Change) =>
      navigate({
        search: (before) => changed<OverviewSearch>(before, changes),
      }),
    [navigate],
  );
  return { search, change };
};

/** What the figures are told apart by, and whether the charts are. */
const Dimensions = ({ search, change }: { search: OverviewSearch; change: (change: Change) => void }) => (
  <fieldset className="segments">
    <legend className="hidden">Tell apart</legend>
    {dimensions.map((by) => (
      <Button
        key={by}
        kind="quiet"
        aria-pressed={(search.by ?? 'op') === by}
        onClick={() => change({ by: by === 'op' ? undefined : by })}
      >
        {titles[by]}
      </Button>
    ))}
  </fieldset>
);

/** What happens in a project: figures over time, what became worse, and who takes part in it. */
export const OverviewView = () => {
  const { search, change } = useOverviewSearch();
  const [now, setNow] = useState(() => Date.now());
  const overview = useOverview(search, now);
  const { project, by = 'op', split = false, sort = 'calls' } = search;
  const { period, points, groups, changes, totals, totalsBefore, whole, error } = overview;
  const textOf = useMemo(() => (by === 'op' ? opText : (group: string) => group), [by]);
  const span =
    search.range || !search.from
      ? { range: search.range ?? ('24h' as const) }
      : { from: search.from, ...(search.to && { to: search.to }) };
  return (
    <main className="overview">
      <div className="actions">
        <h1>Overview</h1>
        <TimeMenu span={span} onChange={({ range, from, to }) => change({ range, from, to })} />
        <Dimensions search={search} change={change} />
        <label className="check">
          <input
            type="checkbox"
            checked={split}
            onChange={(event) => change({ split: event.target.checked || undefined })}
          />
          <span>A line for each</span>
        </label>
        <span className="spring" />
        <Button onClick={() => setNow(Date.now())}>Refresh</Button>
      </div>
      {error ? (
        <Notice kind="error" action={<Button onClick={overview.retry}>Try again</Button>}>
          {wordsOf(error)}
        </Notice>
      ) : null}
      {totals ? <Headline project={project} period={period} now={totals} before={totalsBefore} /> : null}
      {totals?.calls === 0 ? (
        <Notice kind="info">
          {project} has no calls in this time. Choose a longer one, or report a call.
        </Notice>
      ) : null}
      {!totals && !error ? <p className="muted">Counting…</p> : null}
      {points && totals && totals.calls > 0 ? (
        <div className="charts">
          <Charts
            project={project}
            points={points}
            granularity={period.granularity}
            split={split}
            whole={overview.wholeLines}
            textOf={textOf}
          />
          {changes ? (
            <ChangesList project={project} period={period} by={by} changes={changes} textOf={textOf} />
          ) : null}
        </div>
      ) : null}
      {groups && totals && totals.calls > 0 ? (
        <section className="card" aria-label={titles[by]}>
          <h2>{titles[by]}</h2>
          <Breakdown
            project={project}
            period={period}
            by={by}
            whole={whole}
            sort={sort}
            groups={groups}
            textOf={textOf}
            onSort={(order) => change({ sort: order === 'calls' ? undefined : order })}
          />
          {overview.tooMany ? (
            <p className="hint">
              Errors and latencies of models are read from the calls, up to {countText(maxRead)} of them.
              Choose a shorter time.
            </p>
          ) : null}
        </section>
      ) : null}
      {points && totals && totals.calls > 0 ? <ValuesTable project={project} points={points} /> : null}
    </main>
  );
};
