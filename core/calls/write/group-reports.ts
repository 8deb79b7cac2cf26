import { idOf, newId, type ProjectId } from '../../wire/index.ts';
import type { CallEnd, CallReport, CallStart } from '../model.ts';

/** The start and end that one request reports of a call. The last of several counts. */
export interface ReportedCall {
  readonly projectId: ProjectId;
  readonly id: string;
  /** Whether the client chose the id. A call with a new id is not stored yet. */
  readonly hasClientId: boolean;
  start: CallStart | null;
  end: CallEnd | null;
}

/** Identifies a call among all projects. Neither field can contain the line break between them. */
export const qualifiedId = (projectId: ProjectId, id: string): string => `${projectId}\n${id}`;

/** The distinct calls of a request, and the call of each report in order. */
export interface GroupedReports {
  readonly calls: ReportedCall[];
  readonly callOfReport: ReportedCall[];
}

/** Groups the reports of one request by call. Starts without an id get one. */
export const groupReports = (reports: readonly CallReport[]): GroupedReports => {
  const byId = new Map<string, ReportedCall>();
  const callOfReport = reports.map((report) => {
    const { projectId, id } = report.kind === 'start' ? report.start : report.end;
    const callId = id ?? newId();
    const name = qualifiedId(projectId, callId);
    const call = byId.get(name) ?? {
      projectId,
      id: callId,
      hasClientId: id !== null,
      start: null,
      end: null,
    };
    byId.set(name, call);
    if (report.kind === 'start') call.start = report.start;
    else call.end = report.end;
    return call;
  });
  return { calls: [...byId.values()], callOfReport };
};

/**
 * Resolves the trace of every start in the request. It is the start's own, else the one that it was
 * stored with, else its parent's from the request or storage, else a new one. A new one derives
 * from the first ancestor's project, id and start, so that concurrent copies of a request agree.
 *
 * @param storedTraces the traces of stored starts, by {@link qualifiedId}
 * @returns the traces by {@link qualifiedId}
 */
export const resolveTraces = (
  calls: readonly ReportedCall[],
  storedTraces: ReadonlyMap<string, string>,
): Map<string, string> => {
  const starts = new Map(
    calls.flatMap((call) => (call.start ? [[qualifiedId(call.projectId, call.id), call.start]] : [])),
  );
  const traces = new Map<string, string>();
  const resolve = (firstName: string): void => {
    // Follows the parents until a trace is known; a cycle ends the walk too.
    const chain = new Map<string, CallStart>();
    let name = firstName;
    let trace: string | undefined;
    for (;;) {
      const start = starts.get(name);
      trace = traces.get(name) ?? start?.traceId ?? storedTraces.get(name);
      if (trace !== undefined || start === undefined || chain.has(name)) break;
      chain.set(name, start);
      if (start.parentId === null) break;
      name = qualifiedId(start.projectId, start.parentId);
    }
    const [ancestor, start] = [...chain].at(-1) ?? [];
    if (trace === undefined && ancestor !== undefined && start) trace = idOf(start.startedAt, ancestor);
    for (const member of [firstName, ...chain.keys()]) if (trace !== undefined) traces.set(member, trace);
  };
  for (const name of starts.keys()) resolve(name);
  return traces;
};
