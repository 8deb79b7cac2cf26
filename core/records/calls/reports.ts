import { newId, type ProjectId } from '../../../foundations/wire/index.ts';
import { toCallKey } from './items.ts';
import type { CallEnd, CallReport, CallStart } from './model.ts';

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
interface GroupedReports {
  readonly calls: ReportedCall[];
  readonly callOfReport: ReportedCall[];
}

/** Groups the reports of one request by call. Starts without an id get one. */
export const groupReports = (reports: readonly CallReport[]): GroupedReports => {
  const byId = new Map<string, ReportedCall>();
  const callOfReport = reports.map((report) => {
    const { projectId, id } = report.kind === 'start' ? report.start : report.end;
    const callId = id ?? newId();
    const name = toCallKey({ projectId, id: callId });
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
