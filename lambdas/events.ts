import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { type Delivery, deliver } from '../core/workers/events/index.ts';
import { httpHandler } from '../foundations/storage/index.ts';
import { settings } from './http/settings.ts';
import { costsOfProject, deadLetters, required, streamHandler } from './streams/batch.ts';

/** How long the bus may take for one request, in milliseconds. */
const busTimeoutMs = 5000;

/** Made once per container, while it starts. */
const delivery: Delivery = {
  calls: settings.calls,
  feedback: settings.feedback,
  costs: costsOfProject,
  payloads: process.env.EVENT_PAYLOADS === 'true',
  bus: {
    client: new EventBridgeClient({ maxAttempts: 2, requestHandler: httpHandler(busTimeoutMs) }),
    name: required('EVENT_BUS'),
  },
  deadLetters,
};

/** Puts what the streams of calls and feedback tell on the event bus: docs/events.md. */
export const handler = streamHandler('events', async (records, budget) => {
  const { sent, failedFrom } = await deliver(delivery, records, budget);
  return { rows: sent, failedFrom };
});
