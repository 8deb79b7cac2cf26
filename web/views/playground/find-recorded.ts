import { type CallRow, fromWire } from '../../api/calls.ts';
import type { Client } from '../../api/client.ts';
import type { CallsQueryReq } from '../../api/types.ts';

/** What is known of a request that the service records. */
interface Recorded {
  readonly project: string;
  readonly requestId: string;
  /** When it was answered by the service's clock, in ms since 1970. */
  readonly serverTime: number;
}

/** The call is written once the answer has gone out: pauses before each look for it, in ms. */
const pauses = [250, 500, 1000, 2000, 4000];

/** How long before its answer a request may have come, in ms: as long as the service waits. */
const maxWaitMs = 15 * 60_000;

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

const requestFor = ({ project, requestId, serverTime }: Recorded): CallsQueryReq => ({
  project_id: project,
  filter: { trace_roots_only: true },
  query: {
    $expr: {
      $and: [
        {
          $gte: [{ $getField: 'started_at' }, { $literal: new Date(serverTime - maxWaitMs).toISOString() }],
        },
        { $eq: [{ $getField: 'attributes.inference.request_id' }, { $literal: requestId }] },
      ],
    },
  },
  sort_by: [{ field: 'started_at', direction: 'desc' }],
  limit: 1,
  columns: ['ended_at'],
});

/** The call that the service made of a request; null if it is not there after some seconds. */
export const findRecorded = async (
  client: Client,
  service: string,
  recorded: Recorded,
): Promise<CallRow | null> => {
  for (const pause of pauses) {
    await sleep(pause);
    try {
      for await (const batch of client.stream('POST /calls/stream_query', requestFor(recorded)))
        for (const row of batch) return fromWire(row, service);
    } catch {
      // The next look may succeed; without it the answer is there all the same.
    }
  }
  return null;
};
