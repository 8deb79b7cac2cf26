import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import type { Delivery } from '../../../core/workers/events/index.ts';
import { httpHandler } from '../../../foundations/storage/index.ts';
import { stores } from '../http/stores.ts';
import { deadLetters } from './batch.ts';
import { costsOfProject } from './costs.ts';
import { required } from './queues.ts';

/** How long the bus may take for one request, in milliseconds. */
const busTimeoutMs = 5000;

/** What delivering takes, by the environment. Made once per container, while it starts. */
export const delivery: Delivery = {
  calls: stores.calls,
  feedback: stores.feedback,
  costs: costsOfProject,
  payloads: process.env.EVENT_PAYLOADS === 'true',
  bus: {
    client: new EventBridgeClient({ maxAttempts: 2, requestHandler: httpHandler(busTimeoutMs) }),
    name: required('EVENT_BUS'),
  },
  deadLetters,
};
