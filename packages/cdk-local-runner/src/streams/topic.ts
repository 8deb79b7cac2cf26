import { randomUUID } from 'node:crypto';
import { z } from 'zod';

/** A message that was published to a topic, as its subscribers get it. */
export interface Notice {
  readonly topic: string;
  /** What a mail has. */
  readonly subject: string;
  readonly text: string;
  /** What a program gets. */
  readonly message: unknown;
  readonly attributes: Readonly<Record<string, string>>;
}

const fields = z.object({
  Action: z.literal('Publish'),
  TopicArn: z.string(),
  // https://docs.aws.amazon.com/sns/latest/api/API_Publish.html: printable ASCII.
  Subject: z.string().regex(/^[\x20-\x7e]{1,100}$/),
  MessageStructure: z.literal('json'),
  Message: z.string(),
});

const bodies = z.object({ default: z.string(), sqs: z.string() });

/** SNS's bound on all of a message, in bytes. */
const maxBytes = 256 * 1024;

const attributesIn = (form: URLSearchParams): Record<string, string> =>
  Object.fromEntries(
    [...form]
      .filter(([name]) => name.endsWith('.Name'))
      .map(([name, value]) => [value, form.get(name.replace(/Name$/, 'Value.StringValue')) ?? '']),
  );

/**
 * A stand-in for SNS: it takes messages with a text for mail and one for queues.
 *
 * @param body the form of a request
 * @returns the notice, and SNS's answer in XML
 * @throws Error for what SNS would refuse, too
 */
export const publishLocally = (body: string): { readonly notice: Notice; readonly answer: string } => {
  if (Buffer.byteLength(body) > 2 * maxBytes) throw new Error('InvalidParameter: the message is too long');
  const form = new URLSearchParams(body);
  const { TopicArn, Subject, Message } = fields.parse(Object.fromEntries(form));
  const { default: text, sqs } = bodies.parse(JSON.parse(Message));
  return {
    notice: {
      topic: TopicArn,
      subject: Subject,
      text,
      message: JSON.parse(sqs),
      attributes: attributesIn(form),
    },
    answer: `<PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult><MessageId>${randomUUID()}</MessageId></PublishResult></PublishResponse>`,
  };
};
