import { putEvent } from '../../../../foundations/aws/index.ts';
import { parseProjectId } from '../../../../foundations/wire/index.ts';
import type { Message, Tell } from '../message.ts';
import { type Outside, postOutside, Undelivered } from './post.ts';
import type { FindWebhook } from './secrets.ts';
import { signatureHeaders } from './sign.ts';
import { slackMessage } from './slack.ts';
import { publish, type Topic } from './topic.ts';

export { type Outside, Undelivered, urlProblem } from './post.ts';
export {
  type FindWebhook,
  isWebhookName,
  type ListWebhooks,
  parameterName,
  type WebhookSecret,
  webhookNameRule,
  webhookNamesIn,
  webhookSecret,
  webhooksIn,
} from './secrets.ts';
export { makeSigningKey } from './sign.ts';

/** Where messages go. */
export interface Targets {
  readonly topic: Topic;
  /** The name of the event bus. */
  readonly bus: string;
  readonly webhooks: FindWebhook;
  readonly outside: Outside;
}

const toBody = (message: Message, format: 'slack' | 'json' | null | undefined): string =>
  JSON.stringify(format === 'slack' ? slackMessage(message) : message);

/** The event of a message. Whoever gets it twice knows it by its `event_id`, the message's id. */
const toEvent = (message: Message) => ({
  kind: 'AlertChanged',
  detail: { event_id: message.id, ...message },
  time: Date.parse(message.at),
});

/**
 * Makes what tells a target: the topic, the event bus, or a webhook of the message's own project.
 * Errors say what failed, and never show a webhook's URL.
 */
export const makeSend = ({ topic, bus, webhooks, outside }: Targets): Tell => {
  const tellWebhook: Tell = async (message, { webhook, format }, budget) => {
    const projectId = parseProjectId(message.project_id);
    const name = webhook ?? '';
    const found = projectId && (await webhooks(projectId, name, budget));
    if (!found)
      throw new Undelivered(
        `${message.project_id} has no webhook ${name}: make it with npm run webhooks -- create`,
      );
    const body = toBody(message, format);
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'pennytrace',
      ...signatureHeaders(message.id, body, found.key, Date.now()),
    };
    await postOutside(found.url, headers, body, outside, budget);
  };
  return async (message, target, budget) => {
    if (typeof target.webhook === 'string') return tellWebhook(message, target, budget);
    if (target.sns) return publish(topic, message, budget);
    return putEvent(bus, toEvent(message), budget);
  };
};
