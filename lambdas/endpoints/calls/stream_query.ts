import { callsStreamQuery } from '../../../api/queries.ts';
import { planSummary, queryCalls } from '../../../core/questions/query/index.ts';
import { endpoint, streamRecords } from '../../common/http/endpoint.ts';
import { lookupsFor } from '../../common/http/lookups.ts';
import { stores } from '../../common/http/stores.ts';

/** `POST /calls/stream_query`: the calls of a project that match, each as soon as it is known. */
export const handler = endpoint(callsStreamQuery, ({ body, caller, budget, describe, door }) => {
  const answer = queryCalls(stores.calls, body, budget, lookupsFor(caller), door.names);
  describe(() => {
    const { scanned, hydrated, sent } = answer.counts;
    return { plan: planSummary(answer.plan), rows: sent, scanned, hydrated };
  });
  return streamRecords(answer, body.offset);
});
