import { setTimeout as sleep } from 'node:timers/promises';
import { DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type Shard,
} from '@aws-sdk/client-dynamodb-streams';
import type { DynamoDBRecord } from 'aws-lambda';
import type { SubscriptionSpec } from '../template/subscriptions.ts';
import { bring, type InvokerOptions } from './invoker.ts';
import { lambdaRecord } from './lambda-record.ts';
import { fitsPattern } from './pattern.ts';

/** What a poller reads, and whom it brings it to. */
export interface PollerOptions extends Omit<InvokerOptions, 'maxAgeMs'> {
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
export class Poller {
  readonly #options: PollerOptions;
  readonly #ending = new AbortController();
  readonly #seen = new Set<string>();
  readonly #done = new Set<string>();
  #draining = false;
  readonly #running: Promise<void>;
  readonly #began = Promise.withResolvers<void>();

  constructor(options: PollerOptions) {
    this.#options = options;
    this.#running = this.#run()
      .catch((error: unknown) => {
        if (!this.#ending.signal.aborted) options.failed(error);
      })
      .finally(() => this.#began.resolve());
  }

  /** Resolves when nothing that is written from then on can be missed. */
  get began(): Promise<void> {
    return this.#began.promise;
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
    this.#began.resolve();
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
        await this.#bring(pending.slice(0, subscription.batchSize));
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

  #bring(records: readonly DynamoDBRecord[]): Promise<void> {
    const { maxAgeMs } = this.#options.subscription;
    return bring({ ...this.#options, maxAgeMs }, records, this.#ending.signal);
  }

  async #pause(): Promise<void> {
    await sleep(idleMs, undefined, { signal: this.#ending.signal }).catch(() => {});
  }
}
