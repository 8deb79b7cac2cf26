import { callsQueryStats } from '../../../api/queries.ts';
import { planSummary } from '../../../core/questions/query/index.ts';
import { countSelection } from '../../../core/questions/stats/index.ts';
import { endpoint } from '../../common/http/endpoint.ts';
import { lookupsFor } from '../../common/http/lookups.ts';
import { stores } from '../../common/http/stores.ts';

/**
 * `POST /calls/query_stats`: how many calls match, and how large they are. It is streamed, since
 * looking at all of them can take minutes.
 */
export const handler = endpoint(callsQueryStats, async ({ body, caller, budget, describe }) => {
  const { query, stats, rollups } = countSelection(stores.calls, body, budget, lookupsFor(caller));
  describe(() => {
    const { scanned, hydrated, text } = query.counts;
    return { plan: planSummary(query.plan, text), rows: 1, scanned, hydrated, rollups: rollups() };
  });
  const { count, bytes } = await stats();
  return { count, total_storage_size_bytes: body.withBytes ? bytes : null };
});
