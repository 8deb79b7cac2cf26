import * as z from 'zod/mini';
import type { Tell } from '../../../core/workers/alerts/message.ts';
import type { TellIssue } from '../../../core/workers/alerts/new-issues.ts';
import {
  type FindWebhook,
  type ListWebhooks,
  makeSend,
  webhookNamesIn,
  webhookSecret,
  webhooksIn,
} from '../../../core/workers/alerts/tell/index.ts';
import { putEvent } from '../../../foundations/aws/index.ts';
import { required } from './queues.ts';

const {
  AWS_REGION: region = '',
  AWS_ENDPOINT_URL_SNS: snsEndpoint,
  AWS_ENDPOINT_URL_SSM: ssmEndpoint,
  WEBHOOKS,
} = process.env;

interface Webhooks {
  readonly find: FindWebhook;
  readonly list: ListWebhooks;
}

/** The webhooks of the local service, the same for all projects. */
const localWebhooks = (text: string): Webhooks => {
  const known = z.parse(z.record(z.string(), webhookSecret), JSON.parse(text));
  return {
    find: async (_projectId, name) => (Object.hasOwn(known, name) ? known[name] : undefined),
    list: async () => Object.keys(known).toSorted(),
  };
};

/** Those in Systems Manager, below a prefix. */
const keptWebhooks = (prefix: string): Webhooks => {
  const service = { service: 'ssm', region, endpoint: ssmEndpoint };
  return { find: webhooksIn(service, prefix), list: webhookNamesIn(service, prefix) };
};

const webhooks = WEBHOOKS ? localWebhooks(WEBHOOKS) : keptWebhooks(required('WEBHOOKS_PREFIX'));

/** Lists the names of a project's webhooks, by the environment. */
export const listWebhooks = webhooks.list;

const bus = required('EVENT_BUS');

/** Puts the event of a new issue on the bus, by the environment. */
export const tellIssue: TellIssue = (event, budget) => putEvent(bus, event, budget);

/**
 * Tells the targets of alerts, by the environment. WEBHOOKS has the webhooks of the local service, where
 * alone they may be on this machine.
 */
export const send: Tell = makeSend({
  topic: { service: { service: 'sns', region, endpoint: snsEndpoint }, arn: required('ALERT_TOPIC') },
  bus,
  webhooks: webhooks.find,
  outside: { loopback: Boolean(WEBHOOKS) },
});
