import { writeCalls } from '../../../core/records/calls/index.ts';
import { callEndV2 } from '../../../weave/api/calls.ts';
import { endpoint } from '../../http/endpoint.ts';
import { settings } from '../../http/settings.ts';

/** `POST /v2/{entity}/{project}/call/end`: as `/call/end`, with the project in the path. */
export const handler = endpoint(callEndV2, async ({ body: { end }, caller, budget }) => {
  await writeCalls(settings.calls, [{ kind: 'end', end }], caller.user, budget, {
    placeOf: () => ['end'],
  });
  return {};
});
