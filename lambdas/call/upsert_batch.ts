import { callUpsertBatch } from '../../api/requests.ts';
import { type CallReport, reportCalls } from '../../core/records/calls/index.ts';
import { settings } from '../http/settings.ts';
import { streamJsonEndpoint } from '../http/stream-json.ts';

const projectOf = (report: CallReport, i: number) => {
  const { projectId } = report.kind === 'start' ? report.start : report.end;
  return { projectId, loc: ['batch', String(i), 'req', report.kind, 'project_id'] };
};

/**
 * `POST /call/upsert_batch`: stores starts and ends of calls. The batch is checked whole before
 * anything is written. There is one answer for each item, in order. The answers to many tiny starts
 * can be larger than a buffered answer, so they are streamed.
 */
export const handler = streamJsonEndpoint(
  {
    ...callUpsertBatch(settings.names),
    projects: ({ batch }) => batch.map(projectOf),
  },
  ({ body: { batch }, caller, budget }) => ({
    json: async () => {
      const answers = await reportCalls(settings.calls, batch, caller.user, budget);
      return JSON.stringify({
        res: answers.map((answer) => (answer ? { id: answer.id, trace_id: answer.traceId } : {})),
      });
    },
    logged: () => ({ rows: batch.length }),
  }),
);
