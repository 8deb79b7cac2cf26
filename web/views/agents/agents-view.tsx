import { getRouteApi, Link } from '@tanstack/react-router';
import { Bot } from 'lucide-react';
import { percentText, sortRows } from '../../calls/figures/figures.ts';
import { toTime, usePeriod } from '../../calls/figures/read.ts';
import { callsIn, type Period } from '../../calls/figures/requests.ts';
import { WorseBadges } from '../../calls/figures/worse.tsx';
import { useCostText } from '../../calls/prices.ts';
import { countText, latencyText } from '../../data/format.ts';
import { useChange } from '../../navigation/change.ts';
import type { AgentsSearch } from '../../navigation/search.ts';
import { Empty, ScrollTable, Skeleton, sortableBy, type TableColumn } from '../../ui/controls.tsx';
import { AgentPage } from './agent-page.tsx';
import { useAgents, useLoops } from './data.ts';
import { type AgentRow, cachedShare, runsOf } from './figures.ts';
import { errorsCell, FiguresFrame, loopsCell, waitsCell } from './parts.tsx';

const route = getRouteApi('/agents');

/** How often agents went in circles, by name; undefined until that is known. */
type LoopCounts = ReturnType<typeof useLoops>['loops'];

/** What rows are sorted by. */
const sortValue = ({ name, runs, calls, versions }: AgentRow, column: string, loops: LoopCounts) => {
  if (column === 'name') return name;
  if (column === 'version') return versions?.[0]?.name;
  if (column === 'traces') return calls.traces;
  if (column === 'errors') return calls.errors;
  if (column === 'p95') return runs?.p95;
  if (column === 'cached') return cachedShare(calls);
  if (column === 'loops') return loops?.get(name) ?? 0;
  return column === 'waits' ? calls.waits : calls.cost;
};

interface ListProps {
  readonly search: AgentsSearch;
  readonly period: Period;
  readonly agents: readonly AgentRow[];
  /** @default - none are counted of this source */
  readonly loops: { readonly counts: LoopCounts } | undefined;
}

/** All agents with their figures. */
const List = ({ search, period, agents, loops }: ListProps) => {
  const { project, text = '', sort = '-cost' } = search;
  const change = useChange<AgentsSearch>(route.useNavigate());
  const costText = useCostText(project);
  const rows = sortRows(
    agents.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase())),
    sort,
    (row, column) => sortValue(row, column, loops?.counts),
  );
  const sortable = sortableBy(sort, (next) => change({ sort: next === '-cost' ? undefined : next }));
  const numeric = 'numeric' as const;
  const columns: readonly TableColumn<AgentRow>[] = [
    {
      title: 'Agent',
      className: 'break',
      cell: ({ name }) => (
        <Link to="/agents" search={{ ...search, agent: name }}>
          {name}
        </Link>
      ),
      ...sortable('name'),
    },
    {
      title: 'Version',
      cell: ({ versions, areReleases }) => {
        if (!versions) return <span className="muted">…</span>;
        const [newest] = versions;
        return newest ? (
          <span className="agent-version">
            {newest.name}
            {areReleases ? <span className="muted"> release</span> : null}
          </span>
        ) : (
          // In its place, since nothing moves when it is known that there is none.
          <span className="muted" aria-hidden="true">
            –
          </span>
        );
      },
      ...sortable('version'),
    },
    {
      title: 'Traces',
      className: numeric,
      cell: ({ name, runs, calls }) => (
        <Link
          to="/traces"
          search={callsIn(runsOf(search, name, runs !== undefined), period)}
          className="cell-link"
        >
          {countText(calls.traces)}
        </Link>
      ),
      ...sortable('traces'),
    },
    {
      title: 'Errors',
      className: numeric,
      cell: ({ calls }) => errorsCell(calls),
      ...sortable('errors'),
    },
    {
      title: 'p95',
      className: numeric,
      cell: ({ runs }) => latencyText(runs?.p95 ?? Number.NaN),
      ...sortable('p95'),
    },
    {
      title: 'Cost',
      className: numeric,
      cell: ({ calls }) => (calls.cost === undefined ? '' : costText(calls.cost)),
      ...sortable('cost'),
    },
    {
      title: 'Cached',
      className: numeric,
      cell: ({ calls }) => {
        const share = cachedShare(calls);
        return share === undefined ? '' : percentText(share);
      },
      ...sortable('cached'),
    },
    {
      title: 'Waits',
      className: numeric,
      cell: ({ calls }) => waitsCell(calls),
      ...sortable('waits'),
    },
    ...(loops
      ? [
          {
            title: 'Loops',
            className: numeric,
            cell: ({ name }: AgentRow) => loopsCell(search, name, loops.counts),
            ...sortable('loops'),
          },
        ]
      : []),
    {
      title: 'Since the version before',
      cell: ({ worse }) => (worse?.length ? <WorseBadges project={project} changes={worse} /> : null),
    },
  ];
  return rows.length === 0 ? (
    <p className="muted">No agent has this in its name.</p>
  ) : (
    <ScrollTable
      label="Agents"
      className="wide as-cards agents-table"
      columns={columns}
      rows={rows}
      getKey={({ name }) => name}
    />
  );
};

/** The agents of a project, or one of them. */
export const AgentsView = () => {
  const search = route.useSearch();
  const change = useChange<AgentsSearch>(route.useNavigate());
  const { project, source, agent } = search;
  const { span, period, refresh } = usePeriod(search, '7d');
  const { agents, tooMany, error, retry } = useAgents({ project, source }, period);
  const found = useLoops({ project, source }, period, agents !== undefined && agents.length > 0);
  const loops = found.may ? { counts: found.loops } : undefined;
  const isReading = agents === undefined && !error && tooMany === undefined;
  return (
    <FiguresFrame
      what="agents"
      shown={agent}
      search={search}
      span={span}
      refresh={refresh}
      change={change}
      tooMany={tooMany}
      error={error ?? found.error}
      onRetry={() => {
        retry();
        found.retry();
      }}
    >
      {agent === undefined ? (
        <>
          {isReading ? <Skeleton label="Counting what agents did…" rows={8} /> : null}
          {agents?.length === 0 ? (
            <Empty icon={Bot} title={`${project} has no agents in this time`}>
              An agent is a call of the kind <code>agent</code>, or what calls name by{' '}
              <code>attributes.agent.name</code>: those of OpenTelemetry do, and so do coding agents. What is
              below it in a trace is its own. A version beside the name shows what a new one changed.
            </Empty>
          ) : null}
          {agents && agents.length > 0 ? (
            <List search={search} period={period} agents={agents} loops={loops} />
          ) : null}
        </>
      ) : tooMany === undefined ? (
        <AgentPage
          key={agent}
          scope={{ project, source }}
          agent={agent}
          row={agents?.find(({ name }) => name === agent)}
          isReading={isReading}
          period={period}
          search={search}
          loops={loops}
          onZoom={(start, end) => change(toTime(start, end))}
        />
      ) : null}
    </FiguresFrame>
  );
};
