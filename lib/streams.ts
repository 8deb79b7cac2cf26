import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import {
  EventSourceMapping,
  type Function as LambdaFunction,
  StartingPosition,
} from 'aws-cdk-lib/aws-lambda';
import { SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { TableName } from '../foundations/storage/tables.ts';
import type { Config } from './config.ts';
import { combine, type Needs, tableNeeds } from './permissions.ts';
import type { ServiceFunction } from './service-function.ts';

/** How a function gets the changes of tables. */
interface Batches {
  /**
   * Where a new reader begins: with what the stream still has of the last day, or with what comes from
   * then on. Another beginning is another reader, which Lambda refuses while there is the old one.
   */
  readonly from: 'TRIM_HORIZON' | 'LATEST';
  /** How many batches of a shard are worked on at once, from 1 to 10. An item's records stay in order. */
  readonly lanes: number;
  /** Whether it gets deletions, too. */
  readonly deletions: boolean;
  /** The most records of a batch. */
  readonly batchSize: number;
  /** How long a batch gathers. */
  readonly window: Duration;
}

/**
 * A batch of a thousand ends takes some two seconds; five make a batch of a trickle. A shard has up to a
 * thousand records a second, as many as its partition takes writes. See docs/decisions/0271.
 */
export const batchesOfChanges: Omit<Batches, 'from'> = {
  lanes: 4,
  deletions: false,
  batchSize: 1000,
  window: Duration.seconds(5),
};

/** Half a day of tries. The stream keeps a record for a day, so that it can then be looked at. */
const maxRecordAge = Duration.hours(12);

/**
 * What the readers of the tables' streams share: a queue of dead letters. Lambda polls streams for
 * nothing and drops for nothing what no filter lets through
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CostOptimization_StreamsUsage.html).
 */
export class Streams extends Construct {
  /**
   * What could not be delivered: letters that the functions write, and Lambda's notes of batches
   * that failed for half a day.
   */
  readonly deadLetters: Queue;
  /** The functions that read streams, once each. */
  readonly readers: ReadonlySet<LambdaFunction>;
  readonly #readers = new Set<LambdaFunction>();
  readonly #isRead: boolean;

  constructor(scope: Construct, id: string, { readStreams }: Pick<Config, 'readStreams'>) {
    super(scope, id);
    this.#isRead = readStreams;
    this.readers = this.#readers;
    this.deadLetters = new Queue(this, 'DeadLetters', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
      removalPolicy: RemovalPolicy.DESTROY,
    });
    for (const rule of ['AwsSolutions-SQS3', 'Serverless-SQSRedrivePolicy'])
      Validations.of(this.deadLetters).acknowledge({ id: rule, reason: 'It is the queue of dead letters.' });
  }

  /** What a function needs to read the streams of tables, whose names it is told. */
  needs(read: Readonly<Partial<Record<TableName, Table>>>): Needs {
    const actions = ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'];
    const named = Object.entries(read) as [TableName, Table][];
    return combine([
      ...named.map(([name, table]) => tableNeeds(name, table)),
      {
        permissions: [
          ...(this.#isRead ? named.map(([, table]) => ({ actions, resource: getStreamArn(table) })) : []),
          {
            actions: ['dynamodb:ListStreams'],
            resource: '*',
            wildcard: {
              finding: '*',
              reason:
                'ListStreams takes no narrower resource; Lambda needs it to find the shards of a stream.',
            },
          },
        ],
      },
      this.deadLettersNeeds,
    ]);
  }

  /** What a function needs to send dead letters. */
  get deadLettersNeeds(): Needs {
    const { queueUrl, queueArn } = this.deadLetters;
    return {
      environment: { DEAD_LETTERS: queueUrl },
      permissions: [{ actions: ['sqs:SendMessage'], resource: queueArn }],
    };
  }

  /** Has Lambda bring the changes of tables to a function, unless the settings say that streams are not read. */
  subscribe(
    target: ServiceFunction,
    { calls, feedback }: { readonly calls: Table; readonly feedback?: Table },
    batches: Batches,
  ): void {
    this.#readers.add(target.handler);
    if (!this.#isRead) return;
    this.#subscribe(target, 'Calls', calls, changesOfCalls(batches), batches);
    if (feedback) this.#subscribe(target, 'Feedback', feedback, changesOfFeedback(batches), batches);
  }

  /** @param filters patterns of records, of which one has to fit */
  #subscribe(
    target: ServiceFunction,
    id: string,
    table: Table,
    filters: readonly Filter[],
    { from, lanes, batchSize, window }: Batches,
  ): void {
    new EventSourceMapping(target, id, {
      target: target.handler,
      eventSourceArn: getStreamArn(table),
      startingPosition: StartingPosition[from],
      parallelizationFactor: lanes,
      batchSize,
      maxBatchingWindow: window,
      filters: filters.map((pattern) => ({ pattern: JSON.stringify(pattern) })),
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      maxRecordAge,
      onFailure: new SqsDlq(this.deadLetters),
    });
  }
}

/** The ARN of a table's stream. Throws an Error if it has none. */
const getStreamArn = ({ tableStreamArn, node }: Table): string => {
  if (tableStreamArn === undefined) throw new Error(`${node.path} has no stream`);
  return tableStreamArn;
};

/*
 * Which records of the streams of tables wake a function. A record that no filter lets through
 * costs nothing. The patterns are those of EventBridge:
 * https://docs.aws.amazon.com/lambda/latest/dg/with-ddb-filtering.html
 */

type Filter = Readonly<Record<string, unknown>>;

const written = ['INSERT', 'MODIFY'];

/** Only DynamoDB itself signs its deletions, those of items whose time is up. */
const notExpired = { userIdentity: { principalId: [{ exists: false }] } };

/** Starts and ends, but not the payloads of many calls, whose items have another sort key. */
const startsAndEnds = { Keys: { p: { S: ['S', 'E'] } } };

/** Items with a head are records: neither tombstones nor what is left of a purge. */
const records = { NewImage: { h: { B: [{ exists: true }] } } };

/** Changes of calls. Nothing in an item but its packed header says whether its call has ended. */
export const changesOfCalls = ({ deletions }: Pick<Batches, 'deletions'>): Filter[] => [
  { eventName: written, dynamodb: startsAndEnds },
  ...(deletions ? [{ eventName: ['REMOVE'], dynamodb: startsAndEnds, ...notExpired }] : []),
];

/** Changes of feedback; with `deletions`, whatever becomes of a record. */
export const changesOfFeedback = ({ deletions }: Pick<Batches, 'deletions'>): Filter[] =>
  deletions
    ? [{ eventName: written }, { eventName: ['REMOVE'], ...notExpired }]
    : [{ eventName: written, dynamodb: records }];
