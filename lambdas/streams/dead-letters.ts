import type { SQSClient } from '@aws-sdk/client-sqs';
import type { DeadLetterQueue } from '../../core/workers/streams/index.ts';
import { required } from './variable.ts';

let client: Promise<SQSClient> | undefined;

/** Loads the client when the first letter is written. Hardly any container writes one. */
const lazyClient = async (): Promise<SQSClient> => {
  const { SQSClient } = await import('@aws-sdk/client-sqs');
  return new SQSClient({ maxAttempts: 3 });
};

/** The queue that DEAD_LETTERS names by its URL. */
export const deadLetters: DeadLetterQueue = {
  url: required('DEAD_LETTERS'),
  client: () => {
    client ??= lazyClient();
    return client;
  },
};
