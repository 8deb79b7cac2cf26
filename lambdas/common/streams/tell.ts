import * as z from 'zod/mini';
import type { Tell } from '../../../core/workers/alerts/message.ts';
import {
  type FindWebhook,
  makeSend,
  webhookSecret,
  webhooksIn,
} from '../../../core/workers/alerts/tell/index.ts';
import { required } from './queues.ts';

const {
  AWS_REGION: region = '',
  AWS_ENDPOINT_URL_SNS: snsEndpoint,
  AWS_ENDPOINT_URL_SSM: ssmEndpoint,
  WEBHOOKS,
} = process.env;

/** The webhooks of the local service, the same for all projects. */
const localWebhooks = (text: string): FindWebhook => {
  const known = z.parse(z.record(z.string(), webhookSecret), JSON.parse(text));
  return async (_projectId, name) => (Object.hasOwn(known, name) ? known[name] : undefined);
};

/**
 * Tells the targets of alerts, by the environment. WEBHOOKS has the webhooks of the local service, where
 * alone they may be on this machine.
 */
export const send: Tell = makeSend({
  topic: { service: { service: 'sns', region, endpoint: snsEndpoint }, arn: required('ALERT_TOPIC') },
  bus: required('EVENT_BUS'),
  webhooks: WEBHOOKS
    ? localWebhooks(WEBHOOKS)
    : webhooksIn({ service: 'ssm', region, endpoint: ssmEndpoint }, required('WEBHOOKS_PREFIX')),
  outside: { loopback: Boolean(WEBHOOKS) },
});
