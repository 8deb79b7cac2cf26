import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { CallRow, Cost } from '../../api/calls.ts';
import { readRows } from '../../calls/data.ts';
import { costText, countedText, countText, durationText, tokensText } from '../../data/format.ts';
import { toChunks } from '../../data/values.ts';
import { useRead } from '../../session/session.tsx';
import { QueryStatus, ScrollTable, type TableColumn } from '../../ui/controls.tsx';
import {
  type AgentShare,
  agentShares,
  commandOf,
  failedCommands,
  isWriting,
  type ToolShare,
  toolShares,
  type WrittenFile,
  writtenFiles,
} from './session.ts';

const numeric = 'numeric' as const;

const costCell = (cost: Cost | undefined) => (cost === undefined ? '' : costText(cost));
const errorCell = (errors: number) =>
  errors === 0 ? '' : <span className="error-text">{countText(errors)}</span>;

const agentColumns: readonly TableColumn<AgentShare>[] = [
  {
    title: 'Agent',
    className: 'break',
    cell: ({ name }) => name ?? <span className="muted">outside of agents</span>,
  },
  { title: 'Requests', className: numeric, cell: ({ requests }) => countText(requests) },
  { title: 'Tools', className: numeric, cell: ({ tools }) => countText(tools) },
  { title: 'Errors', className: numeric, cell: ({ errors }) => errorCell(errors) },
  { title: 'Tokens', className: numeric, cell: ({ tokens }) => tokensText(tokens) },
  { title: 'Cost', className: numeric, cell: ({ cost }) => costCell(cost) },
];

const toolColumns: readonly TableColumn<ToolShare>[] = [
  { title: 'Tool', className: 'break', cell: ({ name }) => name },
  { title: 'Calls', className: numeric, cell: ({ calls }) => countText(calls) },
  { title: 'Errors', className: numeric, cell: ({ errors }) => errorCell(errors) },
  { title: 'Time', className: numeric, cell: ({ ms }) => durationText(ms) },
  {
    title: 'Waited',
    className: numeric,
    cell: ({ waitedMs }) => (waitedMs > 0 ? durationText(waitedMs) : ''),
  },
  { title: 'Cost of sub-agents', className: numeric, cell: ({ cost }) => costCell(cost) },
];

/** Lines that were added and removed. */
const Lines = ({ added, removed, isCut }: Pick<WrittenFile, 'added' | 'removed' | 'isCut'>) => (
  <span title={isCut ? 'At least: the telemetry of the agent cuts long arguments' : undefined}>
    {isCut ? '≥ ' : ''}
    <span className="better">+{countText(added)}</span> <span className="worse">−{countText(removed)}</span>
  </span>
);

const fileColumns: readonly TableColumn<WrittenFile>[] = [
  { title: 'File', className: 'break', cell: ({ path }) => <code dir="ltr">{path}</code> },
  { title: 'Edits', className: numeric, cell: ({ edits }) => countText(edits) },
  { title: 'Lines', className: numeric, cell: (file) => <Lines {...file} /> },
];

/** How many calls are asked for at once. */
const atOnce = 100;

/** What some calls took, and why they failed. */
const useArguments = (project: string, calls: readonly CallRow[]) =>
  useRead(
    ['arguments', project, calls.map(({ id, ended_at }) => [id, ended_at])],
    async (reading) => {
      const chunks = toChunks(calls, atOnce).map((chunk) =>
        readRows(reading, {
          project_id: project,
          filter: { call_ids: chunk.map(({ id }) => id) },
          columns: ['inputs', 'exception'],
        }),
      );
      const rows = new Map((await Promise.all(chunks)).flat().map((row) => [row.id, row]));
      // The header says what a call is, and whether it failed.
      return calls.map((call) => ({
        ...call,
        ...rows.get(call.id),
        summary: call.summary,
        attributes: call.attributes,
      }));
    },
    { enabled: calls.length > 0 },
  );

/** The line of a failed command that says why. */
const reasonOf = ({ exception }: CallRow): string => {
  const lines = (exception ?? '').split('\n', 50).filter((line) => line.trim() !== '');
  return lines.slice(0, 2).join(' ').trim();
};

const Commands = ({ project, calls }: SessionDetailsProps) => (
  <ul className="session-commands">
    {calls.map((call) => (
      <li key={call.id}>
        <Link to="/trace" search={{ project, trace: call.trace_id, call: call.id }}>
          <code dir="ltr">{commandOf(call)}</code>
        </Link>
        <span className="muted cut" dir="auto">
          {reasonOf(call)}
        </span>
      </li>
    ))}
  </ul>
);

interface SessionDetailsProps {
  readonly project: string;
  /** The turns of the session and all calls below them, as far as they are read. */
  readonly calls: readonly CallRow[];
}

/** What a coding agent did: by sub-agent and tool, which files it wrote, and which commands failed. */
export const SessionDetails = ({ project, calls }: SessionDetailsProps) => {
  const agents = useMemo(() => agentShares(calls), [calls]);
  const tools = useMemo(() => toolShares(calls), [calls]);
  const looked = useMemo(() => calls.filter(isWriting), [calls]);
  const query = useArguments(project, looked);
  const files = useMemo(() => query.data && writtenFiles(query.data), [query.data]);
  const failed = useMemo(() => failedCommands(query.data ?? []), [query.data]);
  const sum = {
    added: files?.reduce((all, { added }) => all + added, 0) ?? 0,
    removed: files?.reduce((all, { removed }) => all + removed, 0) ?? 0,
    isCut: files?.some(({ isCut }) => isCut) ?? false,
  };
  return (
    <div className="stack session-details">
      <ScrollTable label="By agent" columns={agentColumns} rows={agents} getKey={({ name }) => name ?? ''} />
      {tools.length > 0 ? (
        <ScrollTable label="By tool" columns={toolColumns} rows={tools} getKey={({ name }) => name} />
      ) : null}
      <QueryStatus queries={[query]} loading="Reading what it wrote…" />
      {files && files.length > 0 ? (
        <section className="stack" aria-label="Files">
          <h2>
            {countedText(files.length, 'file')} written, <Lines {...sum} /> lines
          </h2>
          <ScrollTable label="Files" columns={fileColumns} rows={files} getKey={({ path }) => path} />
        </section>
      ) : null}
      {files?.length === 0 ? <p className="muted">No file was written, as far as its calls say.</p> : null}
      {failed.length > 0 ? (
        <section className="stack" aria-label="Failed commands">
          <h2>{countedText(failed.length, 'command')} failed</h2>
          <Commands project={project} calls={failed} />
        </section>
      ) : null}
    </div>
  );
};
