import { keepPreviousData } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { CallRow } from '../../api/calls.ts';
import { withPreviews } from '../../calls/call-link.tsx';
import { readContexts, readRows, withHeaderColumns } from '../../calls/data.ts';
import { toPoints } from '../../calls/figures/figures.ts';
import { useMayRead, useStats } from '../../calls/figures/read.ts';
import { callsIn, failuresIn, iso, type Period, type Span } from '../../calls/figures/requests.ts';
import { selectionOf } from '../../calls/list/request.ts';
import type { TracesSearch } from '../../navigation/search.ts';
import { type Reading, useRead } from '../../session/session.tsx';
import { findAgent, groupErrors } from './errors.ts';
import {
  type AgentRow,
  agentGroup,
  agentPath,
  callsWhere,
  countsRequest,
  groupsRequest,
  is,
  kindPath,
  lackVersions,
  ofAgent,
  ofTool,
  promptPath,
  promptVersionPath,
  releasePath,
  type Scope,
  selectionOfAll,
  selectionOfNamed,
  selectionOfRuns,
  sharesOfResults,
  sumLoops,
  sumsRequest,
  type ToolRow,
  toAgents,
  toolGroup,
  toolPath,
  toPrompts,
  toTools,
  versionPath,
  within,
} from './figures.ts';

/** The time that is shown and the one before it: versions of both are compared. */
const bothOf = ({ before, end }: Period): Span => ({ start: before.start, end });

const kept = { placeholderData: keepPreviousData };

type Queries = readonly { readonly error: Error | null; readonly refetch: () => unknown }[];

const failuresOf = (queries: Queries) => ({
  error: queries.find(({ error }) => error)?.error,
  retry: () => {
    for (const { error, refetch } of queries) if (error) refetch();
  },
});

/** The figures of all agents, as far as they are there. */
export const useAgents = (scope: Scope, period: Period) => {
  const all = selectionOfAll(scope);
  const both = bothOf(period);
  const read = useMayRead(all, both, true);
  const enabled = read.may;
  const figures = useStats(groupsRequest(all, period, [agentGroup]), { enabled });
  const named = useStats(countsRequest(selectionOfNamed(scope), period, [agentPath, kindPath]), { enabled });
  const useVersions = (path: typeof versionPath | typeof releasePath, isWanted: boolean) => {
    const wanted = { enabled: isWanted };
    const runs = useStats(countsRequest(selectionOfRuns(scope), both, [agentPath, path]), wanted);
    const sums = useStats(sumsRequest(all, both, [agentGroup, path], period.granularity), wanted);
    const answers = useMemo(
      () => (runs.data && sums.data ? { runs: runs.data, sums: sums.data } : undefined),
      [runs.data, sums.data],
    );
    return { queries: [runs, sums], answers };
  };
  const versions = useVersions(versionPath, enabled);
  const releases = useVersions(
    releasePath,
    enabled && versions.answers !== undefined && lackVersions(versions.answers),
  );
  const agents = useMemo(
    () =>
      figures.data &&
      named.data &&
      toAgents({
        figures: figures.data,
        named: named.data,
        versions: versions.answers,
        releases: releases.answers,
      }),
    [figures.data, named.data, versions.answers, releases.answers],
  );
  return {
    agents,
    tooMany: read.tooMany,
    ...failuresOf([read, figures, named, ...versions.queries, ...releases.queries]),
  };
};

/** The most kinds of loops whose agents are added up: the service answers no more at once. */
const maxLoops = 1000;

/**
 * How often agents went in circles, by agent, as the issues of the time tell. They are of production alone.
 *
 * @param enabled whether the list that it belongs to is there
 */
export const useLoops = ({ project, source }: Scope, { start, end }: Span, enabled: boolean) => {
  const may = source === undefined;
  const query = useRead(
    ['loops by agent', project, start, end],
    async ({ client, signal }) => {
      const request = {
        project_id: project,
        start: iso(start),
        end: iso(end),
        filter: { kinds: ['loop' as const] },
        limit: maxLoops,
      };
      const { issues } = await client.ask('/issues/query', request, signal);
      return sumLoops(issues);
    },
    { enabled: enabled && may },
  );
  return { may, loops: query.data, ...failuresOf([query]) };
};

/** The figures of all tools, as far as they are there. */
export const useTools = (scope: Scope, period: Period) => {
  const all = selectionOfAll(scope);
  const read = useMayRead(all, bothOf(period), true);
  const enabled = read.may;
  const figures = useStats(countsRequest(all, period, [toolGroup, toolPath]), { enabled });
  const before = useStats(countsRequest(all, period.before, [toolGroup]), { enabled });
  const byAgent = useStats(countsRequest(all, period, [toolGroup, agentGroup]), { enabled });
  const tools = useMemo(
    () => figures.data && toTools({ figures: figures.data, before: before.data, byAgent: byAgent.data }),
    [figures.data, before.data, byAgent.data],
  );
  return { tools, tooMany: read.tooMany, ...failuresOf([read, figures, before, byAgent]) };
};

/** The calls of an agent over time, those of each kind apart: its runs are one. */
export const useAgentSeries = (scope: Scope, agent: string, period: Period) => {
  const request = groupsRequest(selectionOfAll(scope), period, [agentGroup, kindPath], period.granularity);
  const query = useStats(request, kept);
  const points = useMemo(
    () => query.data && toPoints(within(query.data, agentGroup, agent), period, kindPath),
    [query.data, period, agent],
  );
  return { query, points };
};

/** Calls of a tool over time. */
export const useToolSeries = (scope: Scope, { name, isNamed }: ToolRow, period: Period) => {
  const selection = selectionOf(ofTool(scope, name, isNamed));
  const query = useStats(countsRequest(selection, period, [], period.granularity), kept);
  const points = useMemo(() => query.data && toPoints(query.data, period, undefined), [query.data, period]);
  return { query, points };
};

/** The prompts of an agent's calls with their figures, by version if each call names the agent. */
export const usePromptsOf = (scope: Scope, { name, isComplete }: AgentRow, period: Period) => {
  const request = isComplete
    ? groupsRequest(selectionOf(ofAgent(scope, name, true)), period, [promptPath, promptVersionPath])
    : groupsRequest(selectionOfAll(scope), period, [agentGroup, promptPath]);
  const query = useStats(request, {});
  const prompts = useMemo(
    () => query.data && toPrompts(isComplete ? query.data : within(query.data, agentGroup, name)),
    [query.data, isComplete, name],
  );
  return { query, prompts };
};

/** How many calls a list of the slowest has, and one of the dearest. */
const shownCalls = 5;

/** The slowest of some calls in a time. */
export const useSlowest = (calls: TracesSearch, period: Period) => {
  const request = {
    ...selectionOf(callsIn(calls, period)),
    sort_by: [{ field: 'summary.svc.latency_ms', direction: 'desc' as const }],
    columns: withHeaderColumns('preview'),
    limit: shownCalls,
  };
  return useRead(['slowest', request], async (reading) =>
    withPreviews(reading, calls.project, await readRows(reading, request)),
  );
};

/** Of how many runs it is told which traces cost most. */
export const sampledRuns = 100;

/** A trace, with what an agent cost in it, in US dollars. */
export interface DearTrace {
  readonly call: CallRow;
  readonly cost: number;
}

/** The latest runs of an agent: one request adds up their traces. */
const readLatest = async (reading: Reading, calls: TracesSearch, period: Period) => {
  const runs = await readRows(reading, {
    ...selectionOf(callsIn(calls, period)),
    sort_by: [{ field: 'started_at', direction: 'desc' }],
    columns: [],
    limit: sampledRuns,
  });
  return new Map(runs.map((run) => [run.trace_id, run.id]));
};

/** The traces in which an agent cost most, of its latest runs. */
export const useDearest = (calls: TracesSearch, agent: string, period: Period) => {
  const { project } = calls;
  return useRead(['dearest', calls, period.start, period.end], async (reading) => {
    const runs = await readLatest(reading, calls, period);
    if (runs.size === 0) return [];
    const request = { project_id: project, trace_ids: [...runs.keys()] };
    const { traces } = await reading.client.ask('/trace/agents', request, reading.signal);
    const costs = traces.map(({ trace_id, agents }) => ({
      id: runs.get(trace_id) ?? '',
      cost: agents.reduce((sum, { name, cost_usd }) => sum + (name === agent ? (cost_usd ?? 0) : 0), 0),
    }));
    const dearest = costs
      .filter(({ cost }) => cost > 0)
      .sort((a, b) => b.cost - a.cost)
      .slice(0, shownCalls);
    if (dearest.length === 0) return [];
    const rows = await readRows(reading, {
      project_id: project,
      filter: { call_ids: dearest.map(({ id }) => id) },
      columns: withHeaderColumns('preview'),
    });
    const byId = new Map((await withPreviews(reading, project, rows)).map((row) => [row.id, row]));
    return dearest.flatMap(({ id, cost }): DearTrace[] => {
      const call = byId.get(id);
      return call ? [{ call, cost }] : [];
    });
  });
};

/** Of how many failures it is told what they have in common. */
export const sampledErrors = 200;

const latestFirst = [{ field: 'started_at', direction: 'desc' as const }];

/** What the latest failures of some calls have in common. */
export const useErrors = (calls: TracesSearch, period: Period, enabled = true) => {
  const request = {
    ...selectionOf(failuresIn(calls, period)),
    sort_by: latestFirst,
    columns: withHeaderColumns('exception'),
    limit: sampledErrors,
  };
  return useRead(['errors of', request], async (reading) => groupErrors(await readRows(reading, request)), {
    enabled,
  });
};

/** How many levels above a failure its agent is looked for. */
const maxLevels = 12;

/** Those of some calls whose nearest agent it is. What stands above them is read, level by level. */
const readOfAgent = async (reading: Reading, project: string, calls: readonly CallRow[], agent: string) => {
  const byId = new Map(calls.map((call) => [call.id, call]));
  for (let level = 0; level < maxLevels; level++) {
    const missing = calls.flatMap((call) => {
      const found = findAgent(call, byId);
      return 'missing' in found ? [found.missing] : [];
    });
    if (missing.length === 0) break;
    const rows = await readRows(reading, {
      project_id: project,
      filter: { call_ids: [...new Set(missing)] },
      columns: withHeaderColumns(),
    });
    for (const row of rows) byId.set(row.id, row);
    if (rows.length === 0) break;
  }
  return calls.filter((call) => {
    const found = findAgent(call, byId);
    return 'agent' in found && found.agent === agent;
  });
};

/** The same for an agent that not all of its calls name: of the traces of its latest runs. */
export const useErrorsBelow = (runs: TracesSearch, agent: string, period: Period, enabled: boolean) => {
  const { project } = runs;
  return useRead(
    ['errors below', runs, agent, period.start, period.end],
    async (reading) => {
      const latest = await readLatest(reading, runs, period);
      if (latest.size === 0) return [];
      const failed = await readRows(reading, {
        ...selectionOf({ project, all: true, source: 'all', status: ['error'] }),
        filter: { trace_ids: [...latest.keys()] },
        sort_by: latestFirst,
        columns: withHeaderColumns('exception'),
        limit: sampledErrors,
      });
      return groupErrors(await readOfAgent(reading, project, failed, agent));
    },
    { enabled },
  );
};

/** Of how many requests it is told what results of tools cost, and of how many they are chosen. */
export const sampledRequests = 12;
const chosenFrom = 200;

/** The share of the input of later requests that results of each tool are, by tool: from 0 to 1. */
export const useResultShares = (scope: Scope, agent: string, period: Period) => {
  const { project, source } = scope;
  return useRead(
    ['results in context', project, source, agent, period.start, period.end],
    async (reading) => {
      const requests = await readRows(reading, {
        ...selectionOf(callsIn(callsWhere(scope, is(agentPath, agent), is(kindPath, 'model')), period)),
        sort_by: [{ field: 'started_at', direction: 'desc' }],
        columns: [],
        limit: chosenFrom,
      });
      const step = Math.max(1, requests.length / sampledRequests);
      const chosen = requests.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step));
      const ids = chosen.map(({ id }) => id);
      return sharesOfResults(await readContexts(reading, project, ids));
    },
  );
};
