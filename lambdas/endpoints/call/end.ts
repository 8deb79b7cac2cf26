import { callEnd } from '../../../api/calls.ts';
import { writeCalls } from '../../../core/records/calls/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/** `POST /call/end`: stores the end of one call, even before its start. */
export const handler = endpoint(callEnd, async ({ body: { end }, caller, addsOnly, budget }) => {
  await writeCalls(stores.calls, [{ kind: 'end', end }], caller.user, budget, {
    addsOnly,
    getPlace: () => ['end'],
  });
  return {};
});
