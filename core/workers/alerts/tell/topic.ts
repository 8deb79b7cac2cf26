import { type AwsService, askAws } from '../../../../foundations/aws/index.ts';
import type { RequestBudget } from '../../../../foundations/storage/index.ts';
import type { Message } from '../message.ts';
import { plainText, titleText } from './text.ts';

/** A topic of SNS. */
export interface Topic {
  readonly service: AwsService;
  readonly arn: string;
}

/** SNS takes 100 printable ASCII characters as the subject of a mail. */
const toSubject = (message: Message): string =>
  `${titleText(message)} (${message.project_id})`
    .normalize('NFKD')
    .replaceAll(/[^\x20-\x7e]/g, '')
    .slice(0, 100);

/** What each kind of subscriber gets: people a text, programs the message. */
const toBodies = (message: Message): Record<string, string> => {
  const json = JSON.stringify(message);
  return { default: plainText(message), lambda: json, sqs: json, http: json, https: json, firehose: json };
};

/** What subscriptions can filter by. */
const toAttributes = ({ project_id, state, kind }: Message): readonly (readonly [string, string])[] => [
  ['project_id', project_id],
  ['state', state],
  ['kind', kind],
];

/**
 * Publishes a message to a topic (https://docs.aws.amazon.com/sns/latest/api/API_Publish.html).
 *
 * @throws AwsError if SNS refuses; Error if it does not answer in time
 */
export const publish = async (
  { service, arn }: Topic,
  message: Message,
  budget: RequestBudget,
): Promise<void> => {
  const fields = new URLSearchParams({
    Action: 'Publish',
    Version: '2010-03-31',
    TopicArn: arn,
    Subject: toSubject(message),
    MessageStructure: 'json',
    Message: JSON.stringify(toBodies(message)),
  });
  for (const [at, [name, value]] of toAttributes(message).entries()) {
    const entry = `MessageAttributes.entry.${at + 1}`;
    fields.set(`${entry}.Name`, name);
    fields.set(`${entry}.Value.DataType`, 'String');
    fields.set(`${entry}.Value.StringValue`, value);
  }
  const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
  await askAws(service, '/', headers, fields.toString(), budget);
};
