import { decide } from '../../core/workers/evaluators/index.ts';
import { deliver } from '../../core/workers/events/index.ts';
import { streamHandler } from '../common/streams/batch.ts';
import { delivery } from '../common/streams/delivery.ts';
import { createWatch } from '../common/streams/evaluators.ts';

/** Made once per container, while it starts. */
const watch = createWatch();

/**
 * Does what `events` and `evaluators` do: a stream has room for two readers, of which the other is for
 * analytics.
 */
export const handler = streamHandler('events', async (records, budget) => {
  const jobs = await decide(watch, records, budget);
  const { sent, failedFrom } = await deliver(delivery, records, budget);
  return { rows: jobs + sent, failedFrom };
});
