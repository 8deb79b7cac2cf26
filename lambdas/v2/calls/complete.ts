import { writeCalls } from '../../../core/records/calls/index.ts';
import { callsComplete } from '../../../weave/api/calls.ts';
import { endpoint } from '../../http/endpoint.ts';
import { settings } from '../../http/settings.ts';

/**
 * `POST /v2/{entity}/{project}/calls/complete`: stores calls that are over. Start and end of each
 * go the way of all reports, together.
 */
export const handler = endpoint(callsComplete, async ({ body, caller, budget, describe }) => {
  const { batch, calls } = body;
  describe(() => ({ rows: calls }));
  await writeCalls(settings.calls, batch, caller.user, budget, {
    // Each call is a start and an end.
    placeOf: (i) => ['batch', String(Math.floor(i / 2))],
  });
  return {};
});
