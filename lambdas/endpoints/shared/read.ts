import { sharedRead } from '../../../api/sharing.ts';
import { planSummary } from '../../../core/questions/query/index.ts';
import { readShared } from '../../../core/questions/shared.ts';
import { endpoint, streamLines } from '../../common/http/endpoint.ts';
import { lookupsFor } from '../../common/http/lookups.ts';
import { stores } from '../../common/http/stores.ts';

/**
 * `POST /shared/read`: the calls of a trace, for whoever has a public link to it. It takes no key, and looks
 * nothing up that a key would open.
 */
export const handler = endpoint(sharedRead, async ({ body, caller, budget, describe, names }) => {
  const lookups = lookupsFor(caller);
  const { projectId, answer, lines } = await readShared(
    stores.calls,
    stores.objects,
    body.token,
    lookups,
    budget,
  );
  names([projectId]);
  describe(() => {
    const { scanned, hydrated, sent } = answer.counts;
    return { plan: planSummary(answer.plan), rows: sent, scanned, hydrated };
  });
  return streamLines(lines());
});
