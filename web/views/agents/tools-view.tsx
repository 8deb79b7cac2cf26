import { getRouteApi, Link } from '@tanstack/react-router';
import { Wrench } from 'lucide-react';
import { ChartSkeleton, FigureChart, WhenSeen } from '../../calls/figures/charts.tsx';
import { errorRate, percentText, sortRows } from '../../calls/figures/figures.ts';
import { toTime, usePeriod } from '../../calls/figures/read.ts';
import { callsIn, failuresIn, type Period } from '../../calls/figures/requests.ts';
import { type Tile, Tiles, WorseBadges, WorseList } from '../../calls/figures/worse.tsx';
import { countText, durationText, latencyText, waitText } from '../../data/format.ts';
import { useChange } from '../../navigation/change.ts';
import { type AgentsSearch, changed, type ToolsSearch } from '../../navigation/search.ts';
import {
  Empty,
  Notice,
  QueryStatus,
  ScrollTable,
  Skeleton,
  sortableBy,
  type TableColumn,
} from '../../ui/controls.tsx';
import { useErrors, useSlowest, useToolSeries, useTools } from './data.ts';
import { ofTool, type Scope, sameTime, type ToolRow, type UsedFigures } from './figures.ts';
import { Calls, Errors, errorsCell, FiguresFrame, waitsCell } from './parts.tsx';

const route = getRouteApi('/tools');

const numeric = 'numeric' as const;

/** What rows are sorted by. */
const sortValue = ({ name, calls }: ToolRow, column: string) => {
  if (column === 'name') return name;
  if (column === 'waits') return calls.waits;
  return column === 'errors' || column === 'p50' || column === 'p95' ? calls[column] : calls.calls;
};

/** Columns that tools have, and the agents that call one. */
const figureColumns = <Row,>(read: (row: Row) => UsedFigures): TableColumn<Row>[] => [
  {
    title: 'Errors',
    className: numeric,
    cell: (row) => errorsCell(read(row)),
  },
  { title: 'p50', className: numeric, cell: (row) => latencyText(read(row).p50 ?? Number.NaN) },
  { title: 'p95', className: numeric, cell: (row) => latencyText(read(row).p95 ?? Number.NaN) },
];

/** How many agents a row names. */
const namedAgents = 3;

interface ListProps {
  readonly search: ToolsSearch;
  readonly period: Period;
  readonly tools: readonly ToolRow[];
}

/** All tools with their figures. */
const List = ({ search, period, tools }: ListProps) => {
  const { project, text = '', sort = '-calls' } = search;
  const change = useChange<ToolsSearch>(route.useNavigate());
  const rows = sortRows(
    tools.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase())),
    sort,
    sortValue,
  );
  const sortable = sortableBy(sort, (next) => change({ sort: next === '-calls' ? undefined : next }));
  const columns: readonly TableColumn<ToolRow>[] = [
    {
      title: 'Tool',
      className: 'break',
      cell: ({ name }) => (
        <Link to="/tools" search={{ ...search, tool: name }}>
          {name}
        </Link>
      ),
      ...sortable('name'),
    },
    {
      title: 'Agents',
      className: 'break',
      cell: ({ agents }) => {
        const names = agents.flatMap(([name]) => name ?? []);
        const more = names.length - namedAgents;
        return `${names.slice(0, namedAgents).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
      },
    },
    {
      title: 'Calls',
      className: numeric,
      cell: ({ name, calls, isNamed }) => (
        <Link to="/traces" search={callsIn(ofTool(search, name, isNamed), period)} className="cell-link">
          {countText(calls.calls)}
        </Link>
      ),
      ...sortable('calls'),
    },
    ...figureColumns<ToolRow>(({ calls }) => calls).map((column) => ({
      ...column,
      ...sortable(column.title.toLowerCase()),
    })),
    {
      title: 'Waits',
      className: numeric,
      cell: ({ calls }) => waitsCell(calls),
      ...sortable('waits'),
    },
    {
      title: 'Since the time before',
      cell: ({ worse }) => (worse?.length ? <WorseBadges project={project} changes={worse} /> : null),
    },
  ];
  return rows.length === 0 ? (
    <p className="muted">No tool has this in its name.</p>
  ) : (
    <ScrollTable
      label="Tools"
      className="wide as-cards agents-table"
      columns={columns}
      rows={rows}
      getKey={({ name }) => name}
    />
  );
};

interface ToolProps {
  readonly scope: Scope;
  readonly row: ToolRow;
  readonly period: Period;
}

const same = (text: string): string => text;

/** Calls, errors and latency over time. */
const Series = ({
  scope,
  row,
  period,
  onZoom,
}: ToolProps & { onZoom: (from: number, to: number) => void }) => {
  const { query, points } = useToolSeries(scope, row, period);
  const counted = ofTool(scope, row.name, row.isNamed);
  return (
    <>
      <QueryStatus queries={[query]} />
      <div className="charts">
        {(['call_count', 'error_count', 'latency_ms'] as const).map((metric) =>
          points ? (
            <FigureChart
              key={metric}
              metric={metric}
              project={scope.project}
              counted={counted}
              points={points}
              granularity={period.granularity}
              split={false}
              whole
              getText={same}
              canAlert
              onZoom={onZoom}
            />
          ) : query.error ? null : (
            <ChartSkeleton key={metric} title="" />
          ),
        )}
      </div>
    </>
  );
};

/** Its slowest calls, and what fails most often. */
const Examples = ({ scope, row, period }: ToolProps) => {
  const calls = ofTool(scope, row.name, row.isNamed);
  const slowest = useSlowest(calls, period);
  const errors = useErrors(calls, period);
  return (
    <div className="charts">
      <Calls title="Slowest calls" query={slowest} />
      <Errors query={errors} />
    </div>
  );
};

interface ToolPageProps extends ToolProps {
  readonly search: ToolsSearch;
  readonly onZoom: (from: number, to: number) => void;
}

/** A tool: its figures over time, the agents that call it, and calls to look at. */
const ToolPage = ({ search, onZoom, ...of }: ToolPageProps) => {
  const { scope, period, row } = of;
  const { project } = scope;
  const { name: tool, calls, isNamed, worse, agents } = row;
  const all = ofTool(scope, tool, isNamed);
  const slow = { ...callsIn(all, period), sort: '-summary.svc.latency_ms' };
  const tiles: Tile[] = [
    { title: 'Calls', text: countText(calls.calls), link: callsIn(all, period) },
    {
      title: 'Errors',
      text: `${countText(calls.errors)} · ${percentText(errorRate(calls))}`,
      link: failuresIn(all, period),
    },
    { title: 'p50', text: calls.p50 === undefined ? '–' : durationText(calls.p50), link: slow },
    { title: 'p95', text: calls.p95 === undefined ? '–' : durationText(calls.p95), link: slow },
    {
      title: 'Waits for people',
      text: countText(calls.waits),
      hint: calls.waits > 0 ? waitText(calls.waitedMs) : undefined,
    },
  ];
  return (
    <div className="stack agent-page">
      <Tiles label="In all" tiles={tiles} />
      <Series {...of} onZoom={onZoom} />
      {worse && worse.length > 0 ? (
        <section className="card stack" aria-label="What got worse">
          <h2>What got worse</h2>
          <p className="hint">Compared with the time before of the same length.</p>
          <WorseList
            project={project}
            changes={worse}
            getText={({ group }) => group}
            getLink={({ worse: way }) => (way === 'faultier' ? failuresIn(all, period) : slow)}
          />
        </section>
      ) : null}
      <section className="card stack" aria-label="Agents">
        <h2>Agents</h2>
        <ScrollTable
          label="By agent"
          columns={[
            {
              title: 'Agent',
              className: 'break',
              cell: ([name]) =>
                name === null ? (
                  <span className="muted">outside of agents</span>
                ) : (
                  <Link to="/agents" search={changed<AgentsSearch>(sameTime(search), { agent: name })}>
                    {name}
                  </Link>
                ),
            },
            {
              title: 'Calls',
              className: numeric,
              cell: ([, figures]) => countText(figures.calls),
            },
            ...figureColumns<ToolRow['agents'][number]>(([, figures]) => figures),
          ]}
          rows={agents}
          getKey={([name]) => name ?? ''}
        />
      </section>
      <WhenSeen fallback={<Skeleton label="" rows={2} className="charts" />}>
        <Examples {...of} />
      </WhenSeen>
    </div>
  );
};

/** The tools that a project's agents call, or one of them. */
export const ToolsView = () => {
  const search = route.useSearch();
  const change = useChange<ToolsSearch>(route.useNavigate());
  const { project, source, tool } = search;
  const { span, period, refresh } = usePeriod(search, '7d');
  const { tools, tooMany, error, retry } = useTools({ project, source }, period);
  const row = tools?.find(({ name }) => name === tool);
  const isReading = tools === undefined && !error && tooMany === undefined;
  return (
    <FiguresFrame
      what="tools"
      shown={tool}
      search={search}
      span={span}
      refresh={refresh}
      change={change}
      tooMany={tooMany}
      error={error}
      onRetry={retry}
    >
      {isReading && tool === undefined ? <Skeleton label="Counting calls of tools…" rows={8} /> : null}
      {isReading && tool !== undefined ? (
        <>
          <Skeleton label="Counting its calls…" rows={5} className="tiles" />
          <Skeleton label="" rows={3} className="charts" />
        </>
      ) : null}
      {tool === undefined && tools?.length === 0 ? (
        <Empty icon={Wrench} title={`${project} has no calls of tools in this time`}>
          A call of a tool is one of the kind <code>tool</code>, or names one by{' '}
          <code>attributes.tool.name</code>, as OpenTelemetry and coding agents do. Each tool shows here with
          who calls it, how long it takes and why it fails.
        </Empty>
      ) : null}
      {tool === undefined && tools && tools.length > 0 ? (
        <List search={search} period={period} tools={tools} />
      ) : null}
      {tool !== undefined && tools && !row ? (
        <Notice
          kind="info"
          action={
            <Link to="/tools" search={{ project }}>
              All tools
            </Link>
          }
        >
          No call of this time is one of {tool}. Choose a longer one.
        </Notice>
      ) : null}
      {row ? (
        <ToolPage
          key={tool}
          scope={{ project, source }}
          row={row}
          period={period}
          search={search}
          onZoom={(start, end) => change(toTime(start, end))}
        />
      ) : null}
    </FiguresFrame>
  );
};
