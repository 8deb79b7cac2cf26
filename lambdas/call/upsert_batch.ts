import { type CallReport, callBatchBody, writeCalls } from '../../core/calls/index.ts';
import { jsonEndpoint } from '../http/endpoint.ts';
import { settings } from '../http/settings.ts';

const projectOf = (report: CallReport, i: number) => {
  const { projectId } = report.kind === 'start' ? report.start : report.end;
  return { projectId, loc: ['batch', String(i), 'req', report.kind, 'project_id'] };
};

/** `POST /call/upsert_batch`: stores starts and ends of calls, checked whole before any is written; one answer for each, in order. */
export const handler = jsonEndpoint(
  {
    path: '/call/upsert_batch',
    body: callBatchBody(settings.names),
    projects: ({ batch }) => batch.map(projectOf),
  },
  async ({ body: { batch }, caller, effort }) => {
    const answers = await writeCalls(settings.calls, batch, caller.user, effort);
    return { res: answers.map((answer) => (answer ? { id: answer.id, trace_id: answer.traceId } : {})) };
  },
);
