import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import type { Functions } from '../runtime/functions.ts';
import { localCredentials, localRegion } from '../stores/store.ts';
import type { StackSpec } from '../template/stack.ts';
import type { EventBus } from './event-bus.ts';
import { Poller, type PollerOptions } from './poller.ts';

/** What brings streams to functions. */
export interface StreamsOptions extends Pick<PollerOptions, 'from' | 'failed'> {
  readonly stack: Pick<StackSpec, 'subscriptions'>;
  /** The endpoint of DynamoDB. */
  readonly dynamodb: string;
  readonly functions: Functions;
  readonly bus: EventBus;
  /** The longest time that a batch gathers, in ms: nobody wants to wait for minutes here. */
  readonly maxWindowMs: number;
  /** Is called after each batch that a function has done. */
  readonly after: () => Promise<void>;
}

/**
 * Brings the records of tables' streams to the functions that subscribe to them. Resolves when
 * nothing that is written from then on can be missed.
 *
 * @returns ends it, after what there is has been brought
 */
export const runStreams = async (options: StreamsOptions): Promise<() => Promise<void>> => {
  const { stack, dynamodb, functions, bus, maxWindowMs, from, failed, after } = options;
  const client = { region: localRegion, credentials: localCredentials, endpoint: dynamodb };
  const tables = new DynamoDBClient(client);
  const streams = new DynamoDBStreamsClient(client);
  const pollers = stack.subscriptions.map((subscription) => {
    const target = functions.of(subscription.function);
    return new Poller({
      ...{ tables, streams, from, failed },
      subscription: { ...subscription, windowMs: Math.min(subscription.windowMs, maxWindowMs) },
      invoke: async (event, signal) => {
        const answer = await text(Readable.from(await target.invoke(event, signal)));
        await after();
        return answer;
      },
      giveUp: (note) => bus.bury(note),
    });
  });
  await Promise.all(pollers.map(({ began }) => began));
  return async () => {
    await Promise.all(pollers.map((poller) => poller.stop()));
    tables.destroy();
    streams.destroy();
  };
};
