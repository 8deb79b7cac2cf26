import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { CallRow } from '../../api/calls.ts';
import { ChartSkeleton, FigureChart, WhenSeen } from '../../calls/figures/charts.tsx';
import { errorRate, percentText } from '../../calls/figures/figures.ts';
import { callsIn, failuresIn, type Period } from '../../calls/figures/requests.ts';
import { type Tile, Tiles, WorseList } from '../../calls/figures/worse.tsx';
import { useCostText } from '../../calls/prices.ts';
import { versionText } from '../../calls/prompts/prompt.ts';
import { countedText, countText, latencyText, waitText } from '../../data/format.ts';
import { type AgentsSearch, changed, type ToolsSearch, type TracesSearch } from '../../navigation/search.ts';
import { Notice, QueryStatus, ScrollTable, Skeleton, type TableColumn } from '../../ui/controls.tsx';
import {
  sampledRequests,
  sampledRuns,
  useAgentSeries,
  useDearest,
  useErrors,
  useErrorsBelow,
  usePromptsOf,
  useResultShares,
  useSlowest,
  useTools,
} from './data.ts';
import {
  type AgentRow,
  cachedShare,
  is,
  ofAgent,
  type PromptRow,
  pointsOfGroup,
  releasePath,
  runsOf,
  type Scope,
  sameTime,
  type UsedFigures,
  type VersionFigures,
  versionPath,
} from './figures.ts';
import { Calls, Errors, errorsCell, IssuesOf } from './parts.tsx';

const same = (text: string): string => text;

interface AgentProps {
  readonly scope: Scope;
  readonly agent: string;
  readonly period: Period;
}

interface RowProps extends AgentProps {
  readonly row: AgentRow;
}

/** The calls of an agent, for links; undefined if no filter finds all of them. */
const callsOf = ({ scope, agent, row }: RowProps): TracesSearch | undefined =>
  row.isComplete ? ofAgent(scope, agent, true) : undefined;

const runsIn = ({ scope, agent, row }: RowProps): TracesSearch =>
  runsOf(scope, agent, row.runs !== undefined);

interface HeadlineProps extends RowProps {
  readonly search: AgentsSearch;
  readonly loops: AgentPageProps['loops'];
}

/** The figures of the time, each with its calls. */
const Headline = ({ search, loops, ...props }: HeadlineProps) => {
  const { scope, agent, period, row } = props;
  const { runs, calls } = row;
  const costText = useCostText(scope.project);
  const all = callsOf(props);
  const ownRuns = callsIn(runsIn(props), period);
  const share = cachedShare(calls);
  const { cost, waits, waitedMs } = calls;
  const waited = { path: 'summary.svc.waited_ms', op: 'exists', value: '' } as const;
  const tiles: Tile[] = [
    {
      title: 'Traces',
      text: countText(calls.traces),
      hint: runs && countedText(runs.calls, 'run'),
      link: ownRuns,
    },
    {
      title: 'Errors',
      text: `${countText(calls.errors)} · ${percentText(errorRate(calls))}`,
      hint: `of ${countedText(calls.calls, 'call')}`,
      ...(all && { link: failuresIn(all, period) }),
    },
    {
      title: 'p95 of runs',
      text: runs?.p95 === undefined ? '–' : latencyText(runs.p95),
      link: { ...ownRuns, sort: '-summary.svc.latency_ms' },
    },
    {
      title: 'Cost',
      text: cost === undefined ? '–' : costText(cost),
      hint: cost === undefined || !runs?.calls ? undefined : `${costText(cost / runs.calls)} a run`,
      ...(all && { link: callsIn(all, period) }),
    },
    {
      title: 'Input from cache',
      text: share === undefined ? '–' : percentText(share),
      hint: share === undefined ? undefined : `of ${countText(calls.input)} tokens`,
    },
    {
      title: 'Waits for people',
      text: countText(waits),
      hint: waits > 0 ? waitText(waitedMs) : undefined,
      ...(all && waits > 0 && { link: { ...callsIn(all, period), where: [...(all.where ?? []), waited] } }),
    },
    ...(loops
      ? [
          {
            title: 'Loops',
            text: loops.counts ? countText(loops.counts.get(agent) ?? 0) : '…',
            hint: loops.counts?.has(agent) ? <IssuesOf search={search} agent={agent} /> : undefined,
          },
        ]
      : []),
  ];
  return <Tiles label="In all" tiles={tiles} />;
};

/** Runs, errors, latency, tokens and cost over time. */
const Series = (props: RowProps & { onZoom: (from: number, to: number) => void }) => {
  const { scope, agent, period, row, onZoom } = props;
  const { query, points } = useAgentSeries(scope, agent, period);
  const isNamed = row.runs !== undefined;
  const runs = useMemo(
    () => points && (isNamed ? pointsOfGroup(points, 'agent') : undefined),
    [points, isNamed],
  );
  const all = callsOf(props);
  const ownRuns = runsIn(props);
  const charts = [
    ...(isNamed || !points
      ? ([
          { metric: 'call_count', title: 'Runs', points: runs, counted: ownRuns },
          { metric: 'latency_ms', title: 'Latency of runs', points: runs, counted: ownRuns },
        ] as const)
      : ([{ metric: 'call_count', title: 'Calls', points, counted: all }] as const)),
    { metric: 'error_count', title: 'Errors', points, counted: all },
    { metric: 'total_tokens', title: 'Tokens', points, counted: all },
    { metric: 'total_cost', title: 'Cost', points, counted: all },
  ] as const;
  return (
    <>
      <QueryStatus queries={[query]} />
      <div className="charts">
        {charts.map(({ metric, title, points: own, counted }) =>
          own ? (
            <FigureChart
              key={metric}
              metric={metric}
              title={title}
              project={scope.project}
              counted={counted}
              points={own}
              granularity={period.granularity}
              split={false}
              whole
              getText={same}
              canAlert={counted !== undefined}
              onZoom={onZoom}
            />
          ) : query.error ? null : (
            <ChartSkeleton key={metric} title={title} />
          ),
        )}
        <Since scope={scope} agent={agent} period={period} row={row} />
      </div>
    </>
  );
};

const numeric = 'numeric' as const;

/** The calls of a version, of the shown time and the one before it. */
const callsOfVersion = (
  calls: TracesSearch,
  { areReleases }: AgentRow,
  version: string,
  { before, end }: Period,
): TracesSearch => {
  const { where = [], ...of } = callsIn(calls, { start: before.start, end });
  return { ...of, where: [...where, is(areReleases ? releasePath : versionPath, version)] };
};

/** What became worse since the version before. */
const Since = (props: RowProps) => {
  const { scope, period, row } = props;
  const { versions, areReleases, worse } = row;
  const word = areReleases ? 'release' : 'version';
  const [newest, before] = versions ?? [];
  return (
    <section className="card metric" aria-label={`Since the ${word} before`}>
      <h2>Since the {word} before</h2>
      {newest && before ? (
        <p className="hint">
          {newest.name}, compared with {before.name}: p95 and cost of runs, and the share of calls that
          failed.
        </p>
      ) : (
        <p className="muted">
          {versions ? `There is no other ${word} in this time and the one before it.` : '…'}
        </p>
      )}
      {worse?.length === 0 ? (
        <p className="muted">Nothing got worse, or one of them has fewer than five runs.</p>
      ) : null}
      <WorseList
        project={scope.project}
        changes={worse ?? []}
        getText={({ group }) => group}
        getLink={({ worse: way, group }) => {
          const calls = (way === 'faultier' ? callsOf(props) : undefined) ?? runsIn(props);
          return {
            ...callsOfVersion(calls, row, group, period),
            ...(way === 'faultier' && { status: ['error'] }),
            ...(way === 'slower' && { sort: '-summary.svc.latency_ms' }),
          };
        }}
      />
    </section>
  );
};

/** All versions of the time. */
const Versions = (props: RowProps) => {
  const { scope, period, row } = props;
  const { versions, areReleases } = row;
  const costText = useCostText(scope.project);
  if (!versions) return <Skeleton label="" rows={3} />;
  if (versions.length === 0)
    return (
      <p className="muted">
        Its calls name no version, by <code>attributes.agent.version</code> or <code>attributes.release</code>
        . With one, it shows here what the next version changed.
      </p>
    );
  const columns: readonly TableColumn<VersionFigures>[] = [
    {
      title: areReleases ? 'Release' : 'Version',
      className: 'break',
      cell: ({ name }) => (
        <Link to="/traces" search={callsOfVersion(runsIn(props), row, name, period)}>
          {name}
        </Link>
      ),
    },
    { title: 'Runs', className: numeric, cell: ({ runs }) => countText(runs.calls) },
    {
      title: 'Errors',
      className: numeric,
      cell: ({ calls }) => errorsCell(calls),
    },
    { title: 'p95', className: numeric, cell: ({ runs }) => latencyText(runs.p95 ?? Number.NaN) },
    {
      title: 'Cost',
      className: numeric,
      cell: ({ calls }) => (calls.cost === undefined ? '' : costText(calls.cost)),
    },
    {
      title: 'Cost per run',
      className: numeric,
      cell: ({ calls, runs }) =>
        calls.cost === undefined || runs.calls === 0 ? '' : costText(calls.cost / runs.calls),
    },
    {
      title: 'Cached',
      className: numeric,
      cell: ({ calls }) => {
        const share = cachedShare(calls);
        return share === undefined ? '' : percentText(share);
      },
    },
  ];
  return (
    <>
      <ScrollTable label="By version" columns={columns} rows={versions} getKey={({ name }) => name} />
      <p className="hint">
        In this time and the one before it, the newest {areReleases ? 'release' : 'version'} first.
      </p>
    </>
  );
};

/** What an agent sees of a tool. */
interface UsedTool {
  readonly name: string;
  readonly figures: UsedFigures;
}

/** The tools that the agent calls, with what their results cost it afterwards. */
const ToolsOf = ({ scope, agent, period, search, row }: RowProps & { readonly search: AgentsSearch }) => {
  const { tools, tooMany, error } = useTools(scope, period);
  const shares = useResultShares(scope, agent, period);
  const costText = useCostText(scope.project);
  const used = useMemo(
    () =>
      tools
        ?.flatMap(({ name, agents }): UsedTool[] =>
          agents.flatMap(([own, figures]) => (own === agent ? [{ name, figures }] : [])),
        )
        .sort((a, b) => b.figures.calls - a.figures.calls),
    [tools, agent],
  );
  if (tooMany !== undefined || error) return null;
  if (!used) return <Skeleton label="" rows={4} />;
  if (used.length === 0) return <p className="muted">It called no tool in this time.</p>;
  const { inputCost } = row.calls;
  const columns: TableColumn<UsedTool>[] = [
    {
      title: 'Tool',
      className: 'break',
      cell: ({ name }) => (
        <Link to="/tools" search={changed<ToolsSearch>(sameTime(search), { tool: name })}>
          {name}
        </Link>
      ),
    },
    { title: 'Calls', className: numeric, cell: ({ figures }) => countText(figures.calls) },
    {
      title: 'Errors',
      className: numeric,
      cell: ({ figures }) => errorsCell(figures),
    },
    { title: 'p50', className: numeric, cell: ({ figures }) => latencyText(figures.p50 ?? Number.NaN) },
    { title: 'p95', className: numeric, cell: ({ figures }) => latencyText(figures.p95 ?? Number.NaN) },
  ];
  const hasShares = shares.data !== undefined && shares.data.size > 0;
  if (hasShares)
    columns.push({
      title: 'Results in later requests',
      className: numeric,
      cell: ({ name }) => {
        const share = shares.data?.get(name);
        if (share === undefined) return '';
        const cost = inputCost === undefined ? '' : ` · ≈ ${costText(inputCost * share)}`;
        return `≈ ${percentText(share)}${cost}`;
      },
    });
  return (
    <>
      <ScrollTable label="By tool" columns={columns} rows={used} getKey={({ name }) => name} />
      {hasShares ? (
        <p className="hint">
          What results of tools are of the input of later requests, and of its cost: estimated from the
          context of at most {sampledRequests} requests of this time.
        </p>
      ) : null}
    </>
  );
};

/** The versions of prompts that its requests are made of. */
const PromptsOf = ({ scope, period, row }: RowProps) => {
  const { query, prompts } = usePromptsOf(scope, row, period);
  const costText = useCostText(scope.project);
  const named = prompts ?? [];
  const columns: readonly TableColumn<PromptRow>[] = [
    {
      title: 'Prompt',
      className: 'break',
      cell: ({ name, version }) => (
        <Link
          to="/prompts"
          search={{ project: scope.project, prompt: name, ...(version !== null && { version }) }}
        >
          {name} {version === null ? '' : versionText(version)}
        </Link>
      ),
    },
    { title: 'Calls', className: numeric, cell: ({ figures }) => countText(figures.calls) },
    {
      title: 'Errors',
      className: numeric,
      cell: ({ figures }) => errorsCell(figures),
    },
    { title: 'p95', className: numeric, cell: ({ figures }) => latencyText(figures.p95 ?? Number.NaN) },
    {
      title: 'Cost',
      className: numeric,
      cell: ({ figures: { cost } }) => (cost === undefined ? '' : costText(cost)),
    },
  ];
  return (
    <>
      <QueryStatus queries={[query]} />
      {prompts ? null : query.error ? null : <Skeleton label="" rows={3} />}
      {prompts && named.length === 0 ? (
        <p className="muted">
          Its calls name no prompt, by <code>attributes.prompt.name</code>.
        </p>
      ) : null}
      {named.length > 0 ? (
        <ScrollTable
          label="By prompt"
          columns={columns}
          rows={named}
          getKey={({ name, version }) => `${name} ${version}`}
        />
      ) : null}
    </>
  );
};

/** Its slowest and dearest runs, and what fails most often. */
const Examples = (props: RowProps) => {
  const { scope, agent, period, row } = props;
  const runs = runsIn(props);
  const slowest = useSlowest(runs, period);
  const dearest = useDearest(runs, agent, period);
  const { isComplete } = row;
  const named = useErrors(ofAgent(scope, agent, true), period, isComplete);
  const below = useErrorsBelow(runs, agent, period, !isComplete);
  const costText = useCostText(scope.project);
  const costs = new Map(dearest.data?.map(({ call, cost }) => [call.id, cost]));
  const calls = useMemo(() => dearest.data?.map(({ call }) => call), [dearest.data]);
  return (
    <div className="charts">
      <Calls title="Slowest runs" query={slowest} />
      <Calls
        title="Most expensive traces"
        query={{ ...dearest, data: calls } as typeof slowest}
        getFact={({ id }: CallRow) => costText(costs.get(id) ?? 0)}
        hint={`What this agent cost in each, among the traces of its latest ${sampledRuns} runs.`}
      />
      <Errors
        query={isComplete ? named : below}
        hint={isComplete ? undefined : `In the traces of its latest ${sampledRuns} runs.`}
      />
    </div>
  );
};

interface AgentPageProps extends AgentProps {
  /** Undefined if it did nothing, and while nobody knows. */
  readonly row: AgentRow | undefined;
  readonly isReading: boolean;
  readonly search: AgentsSearch;
  /** How often agents went in circles, by name, once that is known. @default - nobody knows of this source */
  readonly loops: { readonly counts: ReadonlyMap<string, number> | undefined } | undefined;
  readonly onZoom: (from: number, to: number) => void;
}

/** An agent: its figures over time, its versions, tools and prompts, and calls to look at. */
export const AgentPage = ({ row, isReading, search, loops, onZoom, ...of }: AgentPageProps) => {
  if (isReading)
    return (
      <>
        <Skeleton label="Counting what it did…" rows={6} className="tiles" />
        <Skeleton label="" rows={5} className="charts" />
      </>
    );
  if (!row)
    return (
      <Notice
        kind="info"
        action={
          <Link to="/agents" search={{ project: of.scope.project }}>
            All agents
          </Link>
        }
      >
        No call of this time is one of {of.agent}. Choose a longer one.
      </Notice>
    );
  const sections = [
    ['Versions', <Versions key="versions" {...of} row={row} />],
    ['Tools', <ToolsOf key="tools" {...of} row={row} search={search} />],
    ['Prompts', <PromptsOf key="prompts" {...of} row={row} />],
  ] as const;
  return (
    <div className="stack agent-page">
      <Headline {...of} row={row} search={search} loops={loops} />
      <Series {...of} row={row} onZoom={onZoom} />
      {sections.map(([title, content]) => (
        <section key={title} className="card stack" aria-label={title}>
          <h2>{title}</h2>
          <WhenSeen fallback={<Skeleton label="" rows={4} />}>{content}</WhenSeen>
        </section>
      ))}
      <WhenSeen fallback={<Skeleton label="" rows={3} className="charts" />}>
        <Examples {...of} row={row} />
      </WhenSeen>
    </div>
  );
};
