import { idOf, newId, type ProjectId } from '../../wire/index.ts';
import type { CallEnd, CallReport, CallStart } from '../model.ts';

/** What one request says of one call: a start, an end or both; of several, the last. */
export interface ReportedCall {
  readonly projectId: ProjectId;
  readonly id: string;
  /** Whether the id is the client's: a call whose id was just made is not stored yet. */
  readonly known: boolean;
  start: CallStart | null;
  end: CallEnd | null;
}

/** Names a call among all projects: neither part can hold the line break between them. */
export const callName = (projectId: ProjectId, id: string): string => `${projectId}\n${id}`;

/** The calls of a request, each once, and for each report the call that it is of. */
export interface GroupedReports {
  readonly calls: ReportedCall[];
  readonly ofReport: ReportedCall[];
}

/** Gathers the reports of one request by call, making ids where starts have none. */
export const groupReports = (reports: readonly CallReport[]): GroupedReports => {
  const byName = new Map<string, ReportedCall>();
  const ofReport = reports.map((report) => {
    const { projectId, id } = report.kind === 'start' ? report.start : report.end;
    const callId = id ?? newId();
    const name = callName(projectId, callId);
    const call = byName.get(name) ?? { projectId, id: callId, known: id !== null, start: null, end: null };
    byName.set(name, call);
    if (report.kind === 'start') call.start = report.start;
    else call.end = report.end;
    return call;
  });
  return { calls: [...byName.values()], ofReport };
};

/**
 * Gives every start of the request its trace: its own, the one that it was stored with, its
 * parent's as far as that is known from the request or from storage, or a new one. A new one is
 * made of the first ancestor's project, id and start, so that the same request, sent twice at once,
 * makes the same.
 *
 * @param storedTraces the traces of stored starts, by {@link callName}
 * @returns the traces by {@link callName}
 */
export const resolveTraces = (
  calls: readonly ReportedCall[],
  storedTraces: ReadonlyMap<string, string>,
): Map<string, string> => {
  const starts = new Map(
    calls.flatMap((call) => (call.start ? [[callName(call.projectId, call.id), call.start]] : [])),
  );
  const traces = new Map<string, string>();
  const settle = (firstName: string): void => {
    // Up the parents until a trace is known; a chain that bites its own tail ends there too.
    const chain = new Map<string, CallStart>();
    let name = firstName;
    let trace: string | undefined;
    for (;;) {
      const start = starts.get(name);
      trace = traces.get(name) ?? start?.traceId ?? storedTraces.get(name);
      if (trace !== undefined || start === undefined || chain.has(name)) break;
      chain.set(name, start);
      if (start.parentId === null) break;
      name = callName(start.projectId, start.parentId);
    }
    const [ancestor, start] = [...chain].at(-1) ?? [];
    if (trace === undefined && ancestor !== undefined && start) trace = idOf(start.startedAt, ancestor);
    for (const member of [firstName, ...chain.keys()]) if (trace !== undefined) traces.set(member, trace);
  };
  for (const name of starts.keys()) settle(name);
  return traces;
};
