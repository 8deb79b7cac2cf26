import { callsComplete } from '../../../api/requests.ts';
import { writeCalls } from '../../../core/records/calls/index.ts';
import { settings } from '../../http/settings.ts';
import { streamJsonEndpoint } from '../../http/stream-json.ts';

/**
 * `POST /v2/{entity}/{project}/calls/complete`: stores calls that are over. Start and end of each
 * go the way of all reports, together.
 */
export const handler = streamJsonEndpoint(
  {
    ...callsComplete(settings.names),
    projects: ({ batch }) =>
      batch.flatMap((report, i) =>
        report.kind === 'start'
          ? [{ projectId: report.start.projectId, loc: ['batch', String(i / 2), 'project_id'] }]
          : [],
      ),
  },
  ({ body: { batch, calls }, caller, budget }) => ({
    json: async () => {
      await writeCalls(settings.calls, batch, caller.user, budget);
      return '{}';
    },
    logged: () => ({ rows: calls }),
  }),
);
