import { idOf, newId, type ProjectId, qualifiedId } from '../../../foundations/wire/index.ts';
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
 * stored with, else its parent's from the request or storage. Else it is the one that earlier calls
 * reserved for an unknown parent, or for the start or its topmost ancestor. Else it is a new one. A
 * new one derives from the first ancestor's project, id and start, so that concurrent copies of a
 * request agree.
 *
 * @param storedTraces the traces of stored starts, by {@link qualifiedId}
 * @param reservedTraces the traces that are reserved for calls without a stored start, likewise
 * @returns the traces of all starts, and of their unknown parents, by {@link qualifiedId}
 */
export const resolveTraces = (
  calls: readonly ReportedCall[],
  storedTraces: ReadonlyMap<string, string>,
  reservedTraces: ReadonlyMap<string, string> = new Map(),
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
      if (start === undefined) trace ??= reservedTraces.get(name);
      if (trace !== undefined || start === undefined || chain.has(name)) break;
      chain.set(name, start);
      if (start.parentId === null) break;
      name = qualifiedId(start.projectId, start.parentId);
    }
    const [ancestor, start] = [...chain].at(-1) ?? [];
    const reserved = [...chain.keys()].findLast((member) => reservedTraces.has(member));
    trace ??= reserved === undefined ? undefined : reservedTraces.get(reserved);
    if (trace === undefined && ancestor !== undefined && start) trace = idOf(start.startedAt, ancestor);
    // The last name is the one whose trace was taken, or an unknown parent: its children share one.
    for (const member of [firstName, ...chain.keys(), name])
      if (trace !== undefined) traces.set(member, trace);
  };
  for (const name of starts.keys()) resolve(name);
  return traces;
};
