import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { AttributeType, BillingMode, ProjectionType, Table, type TableProps } from 'aws-cdk-lib/aws-dynamodb';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import type { Config } from './config.ts';

/**
 * What every table has in common: paid per request, encrypted with a key that AWS owns (free),
 * recoverable.
 */
export const tableDefaults = ({ keepData }: Config) =>
  ({
    billingMode: BillingMode.PAY_PER_REQUEST,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: keepData },
    deletionProtection: keepData,
    removalPolicy: keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  }) satisfies Partial<TableProps>;

/** The indexes of the calls table and their keys, all binary; each holds headers (`h`) alone. */
const indexes = {
  by_time: ['tk', 'ts'],
  by_trace: ['rk', 'ts'],
  by_thread: ['hk', 'hs'],
} as const;

/**
 * The partition keys of the indexes of the feedback table, all sorted by the time of creation
 * (`t`).
 */
const feedbackIndexes = { by_time: 'tk', by_ref: 'rk', by_type: 'yk' } as const;

/**
 * Where calls, objects, prices and feedback are kept: a table for each, and a bucket for what is
 * too big for an item.
 */
export class Storage extends Construct {
  readonly calls: Table;
  /** Heads and versions of objects, with small values. */
  readonly objects: Table;
  /** The projects' own prices of models. */
  readonly costs: Table;
  readonly feedback: Table;
  readonly payloads: Bucket;

  constructor(scope: Construct, id: string, config: Config) {
    super(scope, id);
    this.calls = this.#callsTable(config);
    this.objects = this.#objectsTable(config);
    this.payloads = this.#payloadsBucket(config);
    this.costs = new Table(this, 'Costs', {
      ...tableDefaults(config),
      partitionKey: { name: 'k', type: AttributeType.BINARY },
      sortKey: { name: 'p', type: AttributeType.BINARY },
    });
    this.feedback = this.#feedbackTable(config);
  }

  #callsTable(config: Config): Table {
    const table = new Table(this, 'Calls', {
      ...tableDefaults(config),
      partitionKey: { name: 'k', type: AttributeType.BINARY },
      sortKey: { name: 'p', type: AttributeType.STRING },
      timeToLiveAttribute: 'x',
    });
    for (const [indexName, [partition, sort]] of Object.entries(indexes)) {
      table.addGlobalSecondaryIndex({
        indexName,
        partitionKey: { name: partition, type: AttributeType.BINARY },
        sortKey: { name: sort, type: AttributeType.BINARY },
        projectionType: ProjectionType.INCLUDE,
        nonKeyAttributes: ['h'],
      });
    }
    return table;
  }

  #objectsTable(config: Config): Table {
    return new Table(this, 'Objects', {
      ...tableDefaults(config),
      partitionKey: { name: 'k', type: AttributeType.BINARY },
      sortKey: { name: 's', type: AttributeType.BINARY },
    });
  }

  #feedbackTable(config: Config): Table {
    const table = new Table(this, 'Feedback', {
      ...tableDefaults(config),
      partitionKey: { name: 'k', type: AttributeType.BINARY },
      timeToLiveAttribute: 'x',
    });
    for (const [indexName, partition] of Object.entries(feedbackIndexes)) {
      table.addGlobalSecondaryIndex({
        indexName,
        partitionKey: { name: partition, type: AttributeType.BINARY },
        sortKey: { name: 't', type: AttributeType.BINARY },
        projectionType: ProjectionType.INCLUDE,
        // Heads, with small payloads, and what links a record to those in whose place it came.
        nonKeyAttributes: ['h', 'f', 'r'],
      });
    }
    return table;
  }

  #payloadsBucket({ keepData, retentionDays }: Config): Bucket {
    const bucket = new Bucket(this, 'Payloads', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      // A payload that was deleted has to be gone, not a version behind.
      versioned: false,
      removalPolicy: keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      lifecycleRules: [
        { id: 'uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
        ...(retentionDays === undefined
          ? []
          : [
              {
                id: 'retention',
                // What was stored under another retention, or none, is elsewhere: its headers have
                // other expiries.
                prefix: `segments/expiring-${retentionDays}/`,
                // The headers go first: no reader may find one whose payload is gone.
                expiration: Duration.days(retentionDays + 3),
              },
              {
                id: 'feedback-retention',
                prefix: `feedback/expiring-${retentionDays}/`,
                expiration: Duration.days(retentionDays + 3),
              },
            ]),
      ],
    });
    Validations.of(bucket).acknowledge({
      id: 'AwsSolutions-S1',
      reason:
        'Access logs need a second bucket, paid for and kept; only the functions read and write this one.',
    });
    return bucket;
  }
}
