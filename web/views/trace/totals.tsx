import { X } from 'lucide-react';
import type { Answer } from '../../api/contract.ts';
import { Tokens } from '../../calls/badges.tsx';
import { partText, splitPart } from '../../calls/trace/parts.ts';
import type { TraceState } from '../../calls/trace/trace-state.ts';
import { costText, countText, durationText } from '../../data/format.ts';
import type { Totals } from '../../navigation/search.ts';
import { useRead } from '../../session/session.tsx';
import { IconButton, QueryStatus, Table, type TableColumn } from '../../ui/controls.tsx';
import { Segments } from '../../ui/fields.tsx';
import { ContextView } from './context-view.tsx';

type TraceAgents = Answer<'/trace/agents'>['traces'][number];
type Agent = TraceAgents['agents'][number];
type Tool = TraceAgents['tools'][number];

const countOrNothing = (count: number): string => (count === 0 ? '' : countText(count));

const timeOrNothing = (ms: number): string => (ms === 0 ? '' : durationText(ms));

const errorCell = ({ errors }: { readonly errors: number }) =>
  errors === 0 ? '' : <span className="error-text">{countText(errors)}</span>;

/** Who called an agent: `from planner, 2 × from writer`; empty for one that only its program called. */
const calledBy = ({ called_by }: Agent): string =>
  called_by
    .flatMap(({ name, count }) =>
      name === null ? [] : [`${count > 1 ? `${countText(count)} × ` : ''}from ${name}`],
    )
    .join(', ');

interface PartProps {
  /** As the URL has it: `agent:planner`. */
  readonly part: string;
  readonly onPart: (part: string) => void;
}

/** The name of an agent or a tool, which narrows the trace to its calls. */
const Part = ({ part, onPart }: PartProps) => (
  <button
    type="button"
    className="as-link"
    dir="auto"
    title={`Only ${partText(part)}`}
    onClick={() => onPart(part)}
  >
    {splitPart(part)[1] || 'outside of agents'}
  </button>
);

const agentColumns = (onPart: PartProps['onPart']): TableColumn<Agent>[] => [
  {
    title: 'Agent',
    className: 'break',
    cell: (agent) => (
      <>
        <Part part={`agent:${agent.name ?? ''}`} onPart={onPart} />
        {agent.version === null ? null : <span className="hint spent"> {agent.version}</span>}
        {calledBy(agent) === '' ? null : <span className="hint spent"> {calledBy(agent)}</span>}
      </>
    ),
  },
  {
    title: 'Cost',
    className: 'numeric',
    cell: ({ cost_usd }) => (cost_usd === null ? '' : costText(cost_usd)),
  },
  {
    title: 'Tokens',
    className: 'numeric',
    cell: ({ usage }) => {
      const { input_tokens, output_tokens, cache_read_tokens: cached, reasoning_tokens: reasoning } = usage;
      const total = input_tokens + output_tokens;
      return total === 0 ? '' : <Tokens of={{ total, cached, reasoning }} inColumn />;
    },
  },
  { title: 'Calls', className: 'numeric', cell: ({ calls }) => countText(calls) },
  { title: 'Requests', className: 'numeric', cell: ({ model_requests }) => countOrNothing(model_requests) },
  { title: 'Tools', className: 'numeric', cell: ({ tool_calls }) => countOrNothing(tool_calls) },
  { title: 'Errors', className: 'numeric', cell: errorCell },
  { title: 'Own time', className: 'numeric', cell: ({ own_ms }) => timeOrNothing(own_ms) },
  { title: 'Waited', className: 'numeric', cell: ({ waited_ms }) => timeOrNothing(waited_ms) },
];

const toolColumns = (onPart: PartProps['onPart']): TableColumn<Tool>[] => [
  {
    title: 'Tool',
    className: 'break',
    cell: ({ name }) => <Part part={`tool:${name}`} onPart={onPart} />,
  },
  { title: 'Calls', className: 'numeric', cell: ({ calls }) => countText(calls) },
  { title: 'Errors', className: 'numeric', cell: errorCell },
  { title: 'Time', className: 'numeric', cell: ({ total_ms }) => timeOrNothing(total_ms) },
  {
    title: 'Time of a call',
    className: 'numeric',
    cell: ({ total_ms, calls }) => timeOrNothing(total_ms / calls),
  },
];

interface TotalsTablesProps {
  readonly project: string;
  readonly state: TraceState;
  readonly shown: 'agents' | 'tools';
  readonly onPart: (part: string) => void;
}

const byCost = (a: Agent, b: Agent): number => (b.cost_usd ?? 0) - (a.cost_usd ?? 0);

const TotalsTables = ({ project, state, shown, onPart }: TotalsTablesProps) => {
  const [root] = state.calls;
  const trace = root?.trace_id ?? '';
  const query = useRead(
    // A trace whose calls end, or that has more of them, adds up to something else.
    [
      'trace agents',
      project,
      trace,
      state.calls.length,
      state.calls.filter(({ ended_at }) => ended_at).length,
    ],
    async ({ client, signal }): Promise<TraceAgents> => {
      const request = { project_id: project, trace_ids: [trace] };
      const { traces } = await client.ask('/trace/agents', request, signal);
      return traces[0] ?? { trace_id: trace, agents: [], tools: [] };
    },
    { enabled: trace !== '' && state.query.data?.complete === true },
  );
  const { data } = query;
  return (
    <>
      <QueryStatus queries={[query]} loading="Adding up the trace…" />
      {data && shown === 'agents' ? (
        <Table
          className="as-cards"
          columns={agentColumns(onPart)}
          rows={data.agents.toSorted(byCost)}
          getKey={({ name, version }) => JSON.stringify([name, version])}
        />
      ) : null}
      {data && shown === 'tools' && data.tools.length > 0 ? (
        <Table
          className="as-cards"
          columns={toolColumns(onPart)}
          rows={data.tools.toSorted((a, b) => b.calls - a.calls)}
          getKey={({ name }) => name}
        />
      ) : null}
      {data && shown === 'tools' && data.tools.length === 0 ? (
        <p className="muted">No call of this trace says that it is of a tool.</p>
      ) : null}
    </>
  );
};

const options = [
  ['agents', 'Agents'],
  ['tools', 'Tools'],
  ['context', 'Context'],
] as const satisfies readonly (readonly [Totals, string])[];

interface TotalsPanelProps {
  readonly project: string;
  readonly state: TraceState;
  readonly shown: Totals;
  readonly onShow: (shown: Totals | undefined) => void;
  /** Narrows the trace to an agent, a tool or a model, such as `agent:planner`. */
  readonly onPart: (part: string) => void;
  readonly onCall: (call: string) => void;
}

/** What a trace adds up to, by agent and by tool, and what filled the windows of its requests to models. */
export const TotalsPanel = ({ project, state, shown, onShow, onPart, onCall }: TotalsPanelProps) => (
  <section className="totals card" aria-label="Totals of the trace">
    <div className="row-between">
      <Segments fit legend="Totals by" value={shown} options={options} onChange={onShow} />
      <IconButton icon={X} name="Close totals" onClick={() => onShow(undefined)} />
    </div>
    {shown === 'context' ? (
      <ContextView state={state} project={project} onSelect={onCall} />
    ) : (
      <div className="scroll-x">
        <TotalsTables project={project} state={state} shown={shown} onPart={onPart} />
      </div>
    )}
  </section>
);
