import { getRouteApi, Link } from '@tanstack/react-router';
import { ChevronDown } from 'lucide-react';
import { type ReactNode, useMemo, useRef, useState } from 'react';
import { Tokens } from '../../calls/badges.tsx';
import { KeepButton } from '../../calls/dashboards/keep-button.tsx';
import {
  ChartSkeleton,
  dimensionTitles,
  EmptyChart,
  FigureChart,
  groupText,
  WhenSeen,
} from '../../calls/figures/charts.tsx';
import {
  bucketText,
  type Change,
  changeText,
  errorRate,
  type Figures,
  figureMetrics,
  figureTitle,
  type GroupFigures,
  type Point,
  percentText,
  usualPercentile,
} from '../../calls/figures/figures.ts';
import { maxRead, toTime, useScore, useScores } from '../../calls/figures/read.ts';
import {
  type Counted,
  callsIn,
  callsOfGroup,
  countedBy,
  failuresIn,
  type Grouping,
  isFiltered,
  isRead,
  type Period,
  worseCalls,
} from '../../calls/figures/requests.ts';
import { anyCall, ScoreChart } from '../../calls/figures/score-chart.tsx';
import { pathOf, scoreAt } from '../../calls/figures/scores.ts';
import { SpendingTable } from '../../calls/figures/spending-table.tsx';
import { type Tile, Tiles, WorseList } from '../../calls/figures/worse.tsx';
import { Chips, countFilters, FilterBuilder, LevelMenu, StatusMenu } from '../../calls/filters/filters.tsx';
import { SourceMenu } from '../../calls/filters/source-menu.tsx';
import { TimeMenu } from '../../calls/filters/time-menu.tsx';
import { selectionOf } from '../../calls/list/request.ts';
import { useCostText } from '../../calls/prices.ts';
import { SavedMenu } from '../../calls/saved/saved-menu.tsx';
import { type Score, scoreText } from '../../calls/scores.ts';
import { countText, durationText, kindsText, tokensText } from '../../data/format.ts';
import { useChange } from '../../navigation/change.ts';
import {
  type Changes,
  changed,
  costPath,
  type Dimension,
  dimensions,
  type Order,
  type OverviewSearch,
  orders,
  type TracesSearch,
  toSpan,
  totalsPath,
} from '../../navigation/search.ts';
import {
  Button,
  Check,
  Failure,
  Notice,
  QueryStatus,
  RefreshButton,
  SearchForm,
  Skeleton,
  Table,
} from '../../ui/controls.tsx';
import { Choice } from '../../ui/fields.tsx';
import { Popup } from '../../ui/popups.tsx';
import { HeadTools, View } from '../../ui/view.tsx';
import { useOverview } from './data.ts';

interface HeadlineProps {
  readonly counted: Counted;
  readonly period: Period;
  readonly now: Figures;
  readonly before: Figures | undefined;
}

/** A figure in words, and the calls behind it. */
type Headline = readonly [title: string, of: Order, text: string, link: TracesSearch, more?: string];

const makeHeadlines = (
  { counted, period, now }: HeadlineProps,
  costText: (cost: number) => string,
): Headline[] => {
  const all = callsIn(counted, period);
  const slow = { ...all, sort: '-summary.svc.latency_ms' };
  // What whole traces took tells more, unless it is about calls within them.
  const most = (name: string): TracesSearch =>
    counted.all && isFiltered(counted)
      ? all
      : changed<TracesSearch>(all, { all: undefined, sort: `-${totalsPath}.${name}` });
  const errors = `${countText(now.errors)} · ${percentText(errorRate(now))}`;
  return [
    ['Calls', 'calls', countText(now.calls), all],
    ['Errors', 'errors', errors, failuresIn(counted, period)],
    ['p50 latency', 'p50', now.p50 === undefined ? '–' : durationText(now.p50), slow],
    ['p95 latency', 'p95', now.p95 === undefined ? '–' : durationText(now.p95), slow],
    ['Tokens', 'tokens', tokensText(now.tokens), most('input_tokens'), kindsText(now)],
    ['Cost', 'cost', now.cost === undefined ? '–' : costText(now.cost), most('total_cost')],
  ];
};

/** More calls and tokens are neither better nor worse. */
const getTone = (order: Order, change: string | undefined): 'muted' | 'better' | 'worse' => {
  if (order === 'calls' || order === 'tokens' || change === undefined || change.startsWith('±'))
    return 'muted';
  return change.startsWith('−') ? 'better' : 'worse';
};

/** The figures of the whole period, beside those of the period before. */
const Headline = (props: HeadlineProps) => {
  const costText = useCostText(props.counted.project);
  const tiles = makeHeadlines(props, costText).map(([title, order, text, link, more]): Tile => {
    const change = changeText(props.before?.[order], props.now[order]);
    const changed = change === undefined ? 'nothing before' : `${change} vs. before`;
    return {
      title,
      text,
      link,
      change: {
        text: more ? `${changed} · ${more}` : changed,
        tone: getTone(order, change),
      },
    };
  });
  return <Tiles label="In all" tiles={tiles} />;
};

/** How many are shown. */
const shownChanges = 8;

interface ChangesListProps {
  readonly counted: Counted;
  readonly period: Period;
  readonly by: Dimension;
  readonly score: string | undefined;
  readonly changes: readonly Change[];
  readonly getText: (group: string) => string;
}

/** What became slower, dearer or more faulty than in the period before. */
const ChangesList = ({ counted, period, by, score, changes, getText }: ChangesListProps) => (
  <section className="card metric" aria-label="What got worse">
    <h2>What got worse</h2>
    <p className="hint">p95 latency, cost per call and error rate, compared with the previous period.</p>
    {changes.length === 0 ? (
      <p className="muted">Nothing got worse, among groups with at least five calls.</p>
    ) : null}
    <WorseList
      project={counted.project}
      changes={changes.slice(0, shownChanges)}
      getText={({ group }) => getText(group)}
      getLink={({ group, worse }) => worseCalls(counted, period, by, group, worse, score)}
    />
  </section>
);

/** How many groups are shown. */
const shownGroups = 50;

const orderTitles: Readonly<Record<Order, string>> = {
  calls: 'Calls',
  errors: 'Errors',
  p50: 'p50',
  p95: 'p95',
  tokens: 'Tokens',
  cost: 'Cost',
};

type RenderCell = (figures: Figures, costText: (cost: number) => string) => ReactNode;

const cells: Readonly<Record<Order, RenderCell>> = {
  calls: ({ calls }) => countText(calls),
  errors: (figures) =>
    figures.errors === 0 ? '' : `${countText(figures.errors)} · ${percentText(errorRate(figures))}`,
  p50: ({ p50 }) => (p50 === undefined ? '' : durationText(p50)),
  p95: ({ p95 }) => (p95 === undefined ? '' : durationText(p95)),
  tokens: (figures) =>
    figures.tokens === 0 ? '' : <Tokens of={{ ...figures, total: figures.tokens }} inColumn />,
  cost: ({ cost }, costText) => (cost === undefined ? '' : costText(cost)),
};

/** The columns while nobody has counted errors and latencies. */
const partly: readonly Order[] = ['calls', 'tokens', 'cost'];

interface BreakdownProps {
  readonly counted: Counted;
  readonly period: Period;
  readonly by: Dimension;
  readonly grouping: Grouping;
  /** The path of the score that is grouped by. */
  readonly score: string | undefined;
  /** Whether groups have errors and latencies. */
  readonly whole: boolean;
  readonly sort: Order;
  readonly groups: readonly GroupFigures[];
  readonly getText: (group: string) => string;
  readonly onSort: (order: Order) => void;
}

/** The figures of each operation, model or user. */
const Breakdown = (props: BreakdownProps) => {
  const { counted, period, by, grouping, score, whole, sort, groups, getText, onSort } = props;
  const costText = useCostText(counted.project);
  const columns = whole ? orders : partly;
  const order = columns.includes(sort) ? sort : 'calls';
  // What is in no group is not what one looks for, however much it is.
  const sorted = groups.toSorted(
    (a, b) => Number(a.group === null) - Number(b.group === null) || (b[order] ?? -1) - (a[order] ?? -1),
  );
  const nameCell = ({ group }: GroupFigures) =>
    group === null ? (
      <span className="muted">
        {by === 'score' ? 'without this score' : isRead(grouping) ? 'calls that say none' : 'all others'}
      </span>
    ) : (
      <Link to="/traces" search={callsOfGroup(counted, period, by, group, score)}>
        {getText(group)}
      </Link>
    );
  if (groups.length === 0) return <p className="muted">None in this period.</p>;
  return (
    <div className="scroll-x">
      <Table
        className="breakdown"
        columns={[
          { title: 'Name', className: 'break', cell: nameCell },
          ...columns.map((column) => ({
            title: orderTitles[column],
            className: 'numeric' as const,
            cell: (figures: GroupFigures) => cells[column](figures, costText),
            order: column === order ? ('descending' as const) : undefined,
            onSort: () => onSort(column),
          })),
        ]}
        rows={sorted.slice(0, shownGroups)}
        getKey={({ group }) => group ?? ''}
      />
      {groups.length > shownGroups ? (
        <p className="muted">
          The first {shownGroups} of {countText(groups.length)} are shown.
        </p>
      ) : null}
    </div>
  );
};

const valueCells: typeof cells = {
  ...cells,
  errors: ({ errors }) => countText(errors),
  tokens: (figures) => <Tokens of={{ ...figures, total: figures.tokens }} inColumn />,
};

/** The values of the charts, each with a link to its calls: for the keyboard and screen readers. */
const ValuesTable = ({ counted, points }: { counted: Counted; points: readonly Point[] }) => {
  const costText = useCostText(counted.project);
  const link = (point: Point) => (
    <Link to="/traces" search={callsIn(counted, { start: point.from, end: point.to })}>
      {bucketText(point)}
    </Link>
  );
  return (
    <details className="values">
      <summary>Show as a table</summary>
      <div className="scroll-x">
        <Table
          columns={[
            { title: 'Time', cell: link },
            ...orders.map((order) => ({
              title: orderTitles[order],
              className: 'numeric' as const,
              cell: (point: Point) => valueCells[order](point, costText),
            })),
          ]}
          rows={points.filter(({ calls }) => calls > 0)}
          getKey={({ from }) => from}
        />
      </div>
    </details>
  );
};

const route = getRouteApi('/overview');

interface OverviewFiltersProps {
  readonly search: OverviewSearch;
  readonly onChange: (changes: Changes<OverviewSearch>) => void;
  /** What else stands in their row. What is filtered by is below it. */
  readonly children: ReactNode;
}

/** The filters of the list, for what the overview counts. On a phone, all but the search folds into a button. */
const OverviewFilters = ({ search, onChange, children }: OverviewFiltersProps) => {
  const counted = countedBy(search);
  const box = useRef<HTMLInputElement>(null);
  const [open, setOpen] = useState(false);
  const count = countFilters(counted);
  const change = (changes: Changes<TracesSearch>) => {
    const { all, status, text, where, source } = changed<TracesSearch>(counted, changes);
    // What calls cost follows from prices, so the service cannot filter by it.
    const kept = where?.filter(({ path }) => path !== costPath);
    onChange({
      roots: all ? undefined : true,
      status,
      text,
      where: kept?.length ? kept : undefined,
      source,
    });
  };
  const props = { search: counted, onChange: change };
  return (
    <>
      <div className={open ? 'filters open' : 'filters'}>
        <SearchForm
          label="Text in inputs or output"
          text={search.text}
          box={box}
          onSearch={(text) => change({ text })}
        />
        <Button className="phone" aria-expanded={open} onClick={() => setOpen(!open)}>
          Filters{count > 0 ? ` ${count}` : ''}
        </Button>
        <div className="folded">
          <SourceMenu source={search.source} onChange={(source) => onChange({ source })} />
          <LevelMenu {...props} />
          <StatusMenu {...props} />
          <FilterBuilder {...props} />
          {children}
        </div>
      </div>
      <Chips {...props} />
    </>
  );
};

/** How many scores have a chart. */
const shownScores = 6;

interface ScoresProps {
  readonly project: string;
  readonly counted: Counted;
  readonly period: Period;
  /** How many calls count. */
  readonly calls: number;
  readonly search: OverviewSearch;
  readonly onZoom: (from: number, to: number) => void;
}

/** Up to so many calls, their scores are read from them: some 800 read units a chart. */
const maxScoredCalls = 20_000;

/**
 * Whether scores are read from the calls that count. Feedback is read faster, and does not say which calls it is
 * on: it stands in for many calls that are not filtered.
 */
const isOfCalls = ({ counted, calls }: Pick<ScoresProps, 'counted' | 'calls'>): boolean =>
  calls <= maxScoredCalls || isFiltered(counted) || counted.source !== undefined;

/** A score of the calls that count, which are read for it. */
const ScoreOfCalls = ({ project, counted, period, onZoom, score }: ScoresProps & { score: Score }) => {
  const query = useScore(project, period, score, selectionOf(counted));
  const title = scoreText(score);
  if (query.data === undefined)
    return query.error ? <QueryStatus queries={[query]} /> : <ChartSkeleton title={title} />;
  return query.data ? (
    <ScoreChart
      figures={query.data}
      project={project}
      granularity={period.granularity}
      counted={counted}
      tools={
        <KeepButton project={project} title={title} chart={{ metric: 'score', score, calls: counted }} />
      }
      onZoom={onZoom}
    />
  ) : (
    <EmptyChart title={title} />
  );
};

/** The scores of a project over time: those that are given most often. */
const Scores = (props: ScoresProps) => {
  const { project, period, search, onZoom } = props;
  const query = useScores(project, period);
  const { data } = query;
  const ofCalls = isOfCalls(props);
  return (
    <>
      <QueryStatus queries={[query]} />
      {data?.length === 0 ? <p className="muted">No feedback gave a score in this period.</p> : null}
      <div className="charts">
        {data
          ? data.slice(0, shownScores).map((figures) => {
              const { score } = figures;
              const key = pathOf(figures);
              const title = scoreText(score);
              return ofCalls ? (
                <WhenSeen key={key} fallback={<ChartSkeleton title={title} />}>
                  <ScoreOfCalls {...props} score={score} />
                </WhenSeen>
              ) : (
                <ScoreChart
                  key={key}
                  figures={figures}
                  project={project}
                  granularity={period.granularity}
                  counted={anyCall(project)}
                  tools={<KeepButton project={project} title={title} chart={{ metric: 'score', score }} />}
                  onZoom={onZoom}
                />
              );
            })
          : query.error
            ? null
            : [0, 1, 2].map((at) => <ChartSkeleton key={at} title="" />)}
      </div>
      {data && data.length > 0 ? (
        <p className="hint">
          {ofCalls
            ? 'The latest score of each call that is counted above.'
            : 'Scores of all feedback given in this period, whatever the source of its call.'}{' '}
          <Link to="/scores" search={{ project, ...toSpan(search, '24h') }}>
            All scores
          </Link>
        </p>
      ) : null}
    </>
  );
};

interface ScoreListProps extends Pick<ScoresProps, 'project' | 'period'> {
  readonly chosen: string | undefined;
  readonly onChoose: (path: string) => void;
}

/** The scores of the period, to group by one. */
const ScoreList = ({ project, period, chosen, onChoose }: ScoreListProps) => {
  const query = useScores(project, period);
  return (
    <>
      <QueryStatus queries={[query]} loading="Loading the scores…" />
      {query.data?.length === 0 ? <p className="muted">No feedback gave a score in this period.</p> : null}
      <ul className="values-list">
        {(query.data ?? []).map((figures) => (
          <li key={pathOf(figures)}>
            <Button
              kind="quiet"
              aria-pressed={pathOf(figures) === chosen}
              onClick={() => onChoose(pathOf(figures))}
            >
              <span className="cut" dir="auto">
                {scoreText(figures.score)}
              </span>
              <span className="muted">{countText(figures.count)}</span>
            </Button>
          </li>
        ))}
      </ul>
    </>
  );
};

/** Chooses the score that figures are grouped by. */
const ScoreMenu = (props: ScoreListProps) => {
  const [open, setOpen] = useState(false);
  const score = scoreAt(props.chosen);
  return (
    <Popup
      label={
        <>
          {score ? scoreText(score) : 'Score'} <ChevronDown />
        </>
      }
      name="Group by a score"
      open={open}
      onOpenChange={setOpen}
    >
      <ScoreList
        {...props}
        onChoose={(path) => {
          setOpen(false);
          props.onChoose(path);
        }}
      />
    </Popup>
  );
};

/** What happens in a project: figures over time, what became worse, and who takes part in it. */
export const OverviewView = () => {
  const search = route.useSearch();
  const change = useChange<OverviewSearch>(route.useNavigate());
  const [now, setNow] = useState(() => Date.now());
  const overview = useOverview(search, now);
  const { project, split = false, sort = 'calls', score, percentile } = search;
  const groupedBy = scoreAt(score);
  const by = search.by === 'score' && !groupedBy ? 'op' : (search.by ?? 'op');
  const groupTitle = by === 'score' && groupedBy ? scoreText(groupedBy) : dimensionTitles[by];
  const counted = countedBy(search);
  const { period, points, groups, changes, totals, totalsBefore, whole, error } = overview;
  const isReading = !error && overview.tooManyToFilter === undefined;
  const isCounting = !totals && isReading;
  // What stands below the charts waits for them, so that it stays where it is.
  const isDrawing = !points && isReading && totals?.calls !== 0;
  const getText = useMemo(() => {
    const names = [...(groups ?? []), ...(changes ?? [])].flatMap(({ group }) => group ?? []);
    return groupText(by, [
      ...names,
      ...(points ?? []).flatMap(({ groups: pointGroups }) => [...pointGroups.keys()]),
    ]);
  }, [by, groups, changes, points]);
  const zoom = (from: number, to: number) => change(toTime(from, to));
  return (
    <View
      title="Overview"
      actions={
        <>
          <SavedMenu view="overview" search={search} />
          <RefreshButton onClick={() => setNow(Date.now())} />
        </>
      }
      toolbar={
        <OverviewFilters search={search} onChange={change}>
          <Choice
            className="compared"
            label="Group by"
            value={by}
            options={dimensions
              .filter((dimension) => dimension !== 'score' || by === 'score')
              .map((dimension) => [dimension, dimensionTitles[dimension]] as const)}
            onChange={(next) => {
              if (next !== 'score') change({ by: next === 'op' ? undefined : next, score: undefined });
            }}
          />
          <ScoreMenu
            project={project}
            period={period}
            chosen={by === 'score' ? score : undefined}
            onChoose={(path) => change({ by: 'score', score: path })}
          />
          <Check
            label="One line per group"
            checked={split}
            onChange={(checked) => change({ split: checked || undefined })}
          />
        </OverviewFilters>
      }
    >
      <HeadTools>
        <TimeMenu
          span={toSpan(search, '24h')}
          onChange={({ range, from, to }) => change({ range, from, to })}
        />
      </HeadTools>
      <Failure error={error} onRetry={overview.retry} />
      {overview.tooManyToFilter === undefined ? null : (
        <Notice kind="info">
          Filters are answered from the calls themselves, up to {countText(maxRead)} of them; this period and
          the one before it have {countText(overview.tooManyToFilter)}. Choose a shorter time.
        </Notice>
      )}
      {totals ? <Headline counted={counted} period={period} now={totals} before={totalsBefore} /> : null}
      {totals?.calls === 0 ? (
        <Notice kind="info">
          {project} has no calls in this period. Choose a longer one, or report a call.
        </Notice>
      ) : null}
      {isCounting ? <Skeleton label="Counting…" rows={6} className="tiles" /> : null}
      {isDrawing ? <Skeleton label="" rows={6} className="charts" /> : null}
      {points && totals && totals.calls > 0 ? (
        <div className="charts">
          {figureMetrics.map((metric) => (
            <FigureChart
              key={metric}
              metric={metric}
              counted={counted}
              project={project}
              points={points}
              granularity={period.granularity}
              split={split}
              whole={overview.wholeLines}
              getText={getText}
              canAlert
              percentile={percentile}
              onPercentile={(next) => change({ percentile: next === usualPercentile ? undefined : next })}
              tools={
                <KeepButton
                  project={project}
                  title={figureTitle(metric, split, percentile)}
                  chart={{
                    metric,
                    calls: counted,
                    ...(split && { by, byScore: score }),
                    ...(metric === 'latency_ms' && { percentile }),
                  }}
                />
              }
              onZoom={zoom}
            />
          ))}
          {changes ? (
            <ChangesList
              counted={counted}
              period={period}
              by={by}
              score={score}
              changes={changes}
              getText={getText}
            />
          ) : null}
        </div>
      ) : null}
      {!isDrawing && overview.spending && overview.spending.size > 0 ? (
        <section className="card" aria-label="Where the money went">
          <h2>Where the money went</h2>
          <SpendingTable project={project} byModel={overview.spending} />
        </section>
      ) : null}
      {points && totals && overview.tooManyToFilter === undefined ? (
        <section className="chart-group" aria-labelledby="scores-title">
          <h2 id="scores-title">Scores</h2>
          <WhenSeen className="chart-group" fallback={<Skeleton label="" rows={3} className="charts" />}>
            <Scores
              project={project}
              counted={counted}
              period={period}
              calls={totals.calls}
              search={search}
              onZoom={zoom}
            />
          </WhenSeen>
        </section>
      ) : null}
      {groups && !isDrawing && totals && totals.calls > 0 ? (
        <section className="card" aria-label={groupTitle}>
          <h2>{groupTitle}</h2>
          <Breakdown
            counted={counted}
            period={period}
            by={by}
            grouping={overview.grouping}
            score={score}
            whole={whole}
            sort={sort}
            groups={groups}
            getText={getText}
            onSort={(order) => change({ sort: order === 'calls' ? undefined : order })}
          />
        </section>
      ) : null}
      {overview.tooMany ? (
        <p className="hint">
          {by === 'model'
            ? 'Errors and latencies of models'
            : `These ${by === 'score' ? 'groups' : groupTitle.toLowerCase()}`}{' '}
          are read from the calls, up to {countText(maxRead)} of them. Choose a shorter time.
        </p>
      ) : null}
      {points && totals && totals.calls > 0 ? <ValuesTable counted={counted} points={points} /> : null}
    </View>
  );
};
