import { setTimeout as sleep } from 'node:timers/promises';
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type Shard,
  type _Record as StreamsRecord,
} from '@aws-sdk/client-dynamodb-streams';
import type { AttributeValue, DynamoDBRecord } from 'aws-lambda';
import type { Credentials } from 'aws-stand-in';
import { collect } from '../gateway/answer.ts';
import type { Functions } from '../runtime/functions.ts';
import { localRegion } from '../template/cloudformation.ts';
import type { StackSpec, SubscriptionSpec } from '../template/stack.ts';
import { type EventBus, fitsPattern } from './event-bus.ts';
import { failuresIn } from './queues.ts';

/** Bytes become base64, as in JSON; all else stays. */
const toJson = (value: unknown): unknown => {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toJson(inner)]));
};

type Image = Record<string, AttributeValue>;

/** A record of DynamoDB Streams as Lambda brings it to a function. */
export const lambdaRecord = (
  { eventID, eventName, userIdentity, dynamodb = {} }: StreamsRecord,
  streamArn: string,
): DynamoDBRecord => {
  const { ApproximateCreationDateTime: at, SequenceNumber, Keys, NewImage, OldImage } = dynamodb;
  return {
    ...(eventID !== undefined && { eventID }),
    ...(eventName !== undefined && { eventName }),
    eventSource: 'aws:dynamodb',
    eventSourceARN: streamArn,
    awsRegion: localRegion,
    ...(userIdentity && { userIdentity: toJson(userIdentity) }),
    dynamodb: {
      ...(at && { ApproximateCreationDateTime: Math.floor(at.getTime() / 1000) }),
      ...(SequenceNumber !== undefined && { SequenceNumber }),
      ...(Keys && { Keys: toJson(Keys) as Image }),
      ...(NewImage && { NewImage: toJson(NewImage) as Image }),
      ...(OldImage && { OldImage: toJson(OldImage) as Image }),
    },
  };
};

/** Invokes a function with an event. Event and answer are JSON. */
export type Invoke = (event: string, signal: AbortSignal) => Promise<string>;

interface InvokerOptions {
  readonly invoke: Invoke;
  /** After how long a record is given up, in ms. */
  readonly maxAgeMs: number;
  /** Takes a note of a batch that was given up. */
  readonly giveUp: (note: string) => void;
}

/** The pauses between two tries, in ms. */
const firstPauseMs = 50;
const maxPauseMs = 1000;

const getSequence = (record: DynamoDBRecord | undefined): string => record?.dynamodb?.SequenceNumber ?? '';

/** What is left of a batch. After an error that is all of it. */
const tryOnce = async (
  { invoke }: InvokerOptions,
  records: readonly DynamoDBRecord[],
  signal: AbortSignal,
): Promise<{ readonly left: readonly DynamoDBRecord[]; readonly threw: boolean }> => {
  try {
    const failed = failuresIn(await invoke(JSON.stringify({ Records: records }), signal));
    if (failed.size === 0) return { left: [], threw: false };
    const from = records.findIndex((record) => failed.has(getSequence(record)));
    // A number that the batch does not have fails all of it.
    return { left: records.slice(Math.max(0, from)), threw: false };
  } catch {
    return { left: records, threw: true };
  }
};

/**
 * Brings a batch to a function until all of it is done or too old, as Lambda does for a stream. It
 * goes on from the first record that the function reports on, and by halves if it throws.
 */
const deliver = async (
  options: InvokerOptions,
  records: readonly DynamoDBRecord[],
  signal: AbortSignal,
): Promise<void> => {
  const startedAt = Date.now();
  let left = records;
  for (let pauseMs = firstPauseMs; left.length > 0; pauseMs = Math.min(maxPauseMs, pauseMs * 2)) {
    if (signal.aborted) return;
    const result = await tryOnce(options, left, signal);
    left = result.left;
    if (left.length === 0) return;
    if (Date.now() - startedAt > options.maxAgeMs) {
      const [first, last] = [left[0], left.at(-1)].map(getSequence);
      options.giveUp(JSON.stringify({ DDBStreamBatchInfo: { first, last, batchSize: left.length } }));
      return;
    }
    if (result.threw && left.length > 1) {
      const middle = left.length >> 1;
      await deliver(options, left.slice(0, middle), signal);
      left = left.slice(middle);
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
};

interface PollerOptions extends Omit<InvokerOptions, 'maxAgeMs'> {
  readonly tables: DynamoDBClient;
  readonly streams: DynamoDBStreamsClient;
  readonly subscription: SubscriptionSpec;
  /** Where to begin: with all that the stream has, or with what comes from now on. */
  readonly from: 'TRIM_HORIZON' | 'LATEST';
  /** Takes what went wrong with the stream. */
  readonly failed: (error: unknown) => void;
}

/** How long to wait for records, in ms, when there were none. */
const idleMs = 100;
/** How long a poller that is to stop goes on with what there is, in ms. */
const drainMs = 3000;

/** DynamoDB Local says of an empty shard that its oldest record has been read past. */
const isStale = (error: unknown): boolean =>
  error instanceof Error && ['TrimmedDataAccessException', 'ExpiredIteratorException'].includes(error.name);

/** Brings the records of one table's stream to one function, as Lambda does. */
class Poller {
  readonly #options: PollerOptions;
  readonly #ending = new AbortController();
  readonly #seen = new Set<string>();
  readonly #done = new Set<string>();
  #draining = false;
  readonly #running: Promise<void>;
  readonly #started = Promise.withResolvers<void>();

  constructor(options: PollerOptions) {
    this.#options = options;
    this.#running = this.#run()
      .catch((error: unknown) => {
        if (!this.#ending.signal.aborted) options.failed(error);
      })
      .finally(() => this.#started.resolve());
  }

  /** Resolves when nothing that is written from then on can be missed. */
  get started(): Promise<void> {
    return this.#started.promise;
  }

  /** Brings what there is, for a moment at most, and ends. */
  async stop(): Promise<void> {
    this.#draining = true;
    const timer = setTimeout(() => this.#ending.abort(), drainMs);
    await this.#running;
    clearTimeout(timer);
  }

  async #run(): Promise<void> {
    const { tables, subscription } = this.#options;
    const { Table } = await tables.send(new DescribeTableCommand({ TableName: subscription.table }));
    const arn = Table?.LatestStreamArn;
    if (arn === undefined) throw new Error(`the table ${subscription.table} has no stream`);
    let first = true;
    for (;;) {
      const shards = await this.#newShards(arn);
      if (shards.length === 0 && this.#draining) return;
      const from = first ? this.#options.from : 'TRIM_HORIZON';
      await Promise.all(shards.map((shard) => this.#readShard(arn, shard, from)));
      if (this.#ending.signal.aborted) return;
      first = false;
      await this.#pause();
    }
  }

  /** The shards that have not been read yet and whose parents have. */
  async #newShards(arn: string): Promise<string[]> {
    const { StreamDescription } = await this.#options.streams.send(
      new DescribeStreamCommand({ StreamArn: arn }),
    );
    const shards = StreamDescription?.Shards ?? [];
    const known = new Set(shards.map(({ ShardId }) => ShardId));
    const isReady = ({ ParentShardId: parent }: Shard) =>
      parent === undefined || !known.has(parent) || this.#done.has(parent);
    return shards.flatMap((shard) =>
      shard.ShardId !== undefined && !this.#seen.has(shard.ShardId) && isReady(shard) ? [shard.ShardId] : [],
    );
  }

  async #readShard(arn: string, shard: string, from: PollerOptions['from']): Promise<void> {
    this.#seen.add(shard);
    const { streams, subscription } = this.#options;
    const { signal } = this.#ending;
    let last: string | undefined;
    let iterator = await this.#iterator(arn, shard, from);
    this.#started.resolve();
    let pending: DynamoDBRecord[] = [];
    let since = Date.now();
    while (!signal.aborted) {
      const page = await streams
        .send(new GetRecordsCommand({ ShardIterator: iterator }))
        .catch(async (error: unknown) => {
          if (signal.aborted) throw error;
          if (!isStale(error)) this.#options.failed(error);
          await this.#pause();
          // A shard of which nothing was read has nothing yet: all that comes is new.
          return { Records: [], NextShardIterator: await this.#iterator(arn, shard, last ?? 'TRIM_HORIZON') };
        });
      const found = page.Records ?? [];
      iterator = page.NextShardIterator;
      last = found.at(-1)?.dynamodb?.SequenceNumber ?? last;
      if (pending.length === 0) since = Date.now();
      pending.push(
        ...found.map((record) => lambdaRecord(record, arn)).filter((record) => this.#fits(record)),
      );
      const isDue = Date.now() - since >= subscription.windowMs || this.#draining || !iterator;
      while (pending.length >= subscription.batchSize || (isDue && pending.length > 0)) {
        await this.#deliver(pending.slice(0, subscription.batchSize));
        pending = pending.slice(subscription.batchSize);
      }
      if (!iterator) break;
      if (found.length === 0 && this.#draining) return;
      if (found.length === 0) await this.#pause();
    }
    this.#done.add(shard);
  }

  /** An iterator from the beginning, from now, or behind a record. */
  async #iterator(arn: string, shard: string, from: string): Promise<string | undefined> {
    const place =
      from === 'TRIM_HORIZON' || from === 'LATEST'
        ? ({ ShardIteratorType: from } as const)
        : ({ ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: from } as const);
    const { ShardIterator } = await this.#options.streams.send(
      new GetShardIteratorCommand({ StreamArn: arn, ShardId: shard, ...place }),
    );
    return ShardIterator;
  }

  #fits(record: DynamoDBRecord): boolean {
    const { filters } = this.#options.subscription;
    return filters.length === 0 || filters.some((pattern) => fitsPattern(pattern, record));
  }

  #deliver(records: readonly DynamoDBRecord[]): Promise<void> {
    const { maxAgeMs } = this.#options.subscription;
    return deliver({ ...this.#options, maxAgeMs }, records, this.#ending.signal);
  }

  async #pause(): Promise<void> {
    await sleep(idleMs, undefined, { signal: this.#ending.signal }).catch(() => {});
  }
}

interface StreamsOptions extends Pick<PollerOptions, 'from' | 'failed'> {
  readonly stack: Pick<StackSpec, 'subscriptions'>;
  /** The endpoint of DynamoDB. */
  readonly dynamodb: string;
  readonly credentials: Credentials;
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
  const { stack, dynamodb, credentials, functions, bus, maxWindowMs, from, failed, after } = options;
  const client = { region: localRegion, credentials, endpoint: dynamodb };
  const tables = new DynamoDBClient(client);
  const streams = new DynamoDBStreamsClient(client);
  const pollers = stack.subscriptions.map((subscription) => {
    const target = functions.getFunction(subscription.function);
    return new Poller({
      tables,
      streams,
      from,
      failed,
      subscription: { ...subscription, windowMs: Math.min(subscription.windowMs, maxWindowMs) },
      invoke: async (event, signal) => {
        const answer = await collect(await target.invoke(event, signal));
        await after();
        return answer;
      },
      giveUp: (note) => bus.addDeadLetter(note),
    });
  });
  await Promise.all(pollers.map(({ started }) => started));
  return async () => {
    await Promise.all(pollers.map((poller) => poller.stop()));
    tables.destroy();
    streams.destroy();
  };
};
