import { threadsStreamQuery } from '../../../api/threads.ts';
import { planSummary, queryThreads } from '../../../core/questions/threads/index.ts';
import { endpoint, streamRecords } from '../../common/http/endpoint.ts';
import { stores } from '../../common/http/stores.ts';

/** `POST /threads/stream_query`: the threads of a project, with statistics over their turns. */
export const handler = endpoint(threadsStreamQuery, ({ body, budget, describe }) => {
  const answer = queryThreads(stores.calls, body, budget);
  // The rows here are those of turns.
  describe(() => ({
    plan: planSummary(answer.plan),
    rows: answer.counts.sent,
    scanned: answer.counts.rows,
  }));
  return streamRecords(answer, body.offset);
});
