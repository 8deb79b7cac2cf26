import { deliver } from '../../core/workers/events/index.ts';
import { streamHandler } from '../common/streams/batch.ts';
import { delivery } from '../common/streams/delivery.ts';

/** Puts what the streams of calls and feedback tell on the event bus: docs/events.md. */
export const handler = streamHandler('events', async (records, budget) => {
  const { sent, failedFrom } = await deliver(delivery, records, budget);
  return { rows: sent, failedFrom };
});
