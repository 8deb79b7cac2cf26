import type { SQSClient } from '@aws-sdk/client-sqs';

let client: Promise<SQSClient> | undefined;

const makeClient = async (): Promise<SQSClient> => {
  const { SQSClient } = await import('@aws-sdk/client-sqs');
  return new SQSClient({ maxAttempts: 3 });
};

/** The client of SQS, loaded when the first message is sent. Many a container sends none. */
export const sqsClient = (): Promise<SQSClient> => {
  client ??= makeClient();
  return client;
};

/** An environment variable. Throws an Error if it is not set. */
export const required = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`the environment variable ${name} is not set`);
  return value;
};
