import { CfnDeletionPolicy, Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import {
  type Attribute,
  AttributeType,
  BillingMode,
  ProjectionType,
  StreamViewType,
  Table,
} from 'aws-cdk-lib/aws-dynamodb';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type BucketProps,
  type LifecycleRule,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import { CfnParameter } from 'aws-cdk-lib/aws-ssm';
import { Construct } from 'constructs';
import { maxCacheDays } from '../api/shared/headers.ts';
import { bucketDays, expiryTag, payloadGraceDays } from '../foundations/storage/retention.ts';
import { type KeyAttribute, type TableDeclaration, tables } from '../foundations/storage/tables.ts';
import type { Config } from './config.ts';

/**
 * What every bucket of the service has: encryption, TLS alone, nothing public. It has no versions:
 * what is deleted has to be gone.
 */
export const privateBucket = ({ keepData }: Pick<Config, 'keepData'>) =>
  ({
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    encryption: BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    versioned: false,
    // What a first deployment made that then failed is empty, and goes with it.
    removalPolicy: keepData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
  }) satisfies BucketProps;

const attributeTypes = { B: AttributeType.BINARY, S: AttributeType.STRING } as const;

const attribute = ({ name, type }: KeyAttribute): Attribute => ({ name, type: attributeTypes[type] });

/** Provisioned capacity of a table and of each of its indexes. */
type Capacity = NonNullable<Config['billing']>;

interface TableOptions extends Pick<Config, 'keepData' | 'pointInTimeRecovery'> {
  readonly hasStreams?: boolean;
  /** @default - it is paid per request */
  readonly capacity?: Capacity | undefined;
}

/**
 * Makes a declared table: paid per request unless it has a capacity, encrypted with a key that AWS owns
 * (free), and with `keepData` protected. It is recoverable then, too, unless a setting says otherwise. It has
 * its stream only if something reads it.
 *
 * A protected table cannot be deleted, not even by a first deployment that fails. So it is retained in any
 * case, or the failure could not be rolled back: docs/decisions/0272.
 */
export const makeTable = (
  scope: Construct,
  { construct, partition, sort, expiry, indexes, stream }: TableDeclaration,
  { keepData, pointInTimeRecovery = keepData, hasStreams = false, capacity }: TableOptions,
): Table => {
  const atFirst = capacity && { readCapacity: capacity.minUnits, writeCapacity: capacity.minUnits };
  const table = new Table(scope, construct, {
    billingMode: capacity ? BillingMode.PROVISIONED : BillingMode.PAY_PER_REQUEST,
    ...atFirst,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: pointInTimeRecovery },
    deletionProtection: keepData,
    removalPolicy: keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    partitionKey: attribute(partition),
    ...(sort && { sortKey: attribute(sort) }),
    ...(expiry !== undefined && { timeToLiveAttribute: expiry }),
    ...(stream && hasStreams && { stream: StreamViewType[stream] }),
  });
  if (keepData && !pointInTimeRecovery)
    Validations.of(table).acknowledge({
      id: 'AwsSolutions-DDB3',
      reason: 'The setting pointInTimeRecovery switches it off, which saves what it costs.',
    });
  for (const [indexName, index] of Object.entries(indexes)) {
    table.addGlobalSecondaryIndex({
      indexName,
      partitionKey: attribute(index.partition),
      sortKey: attribute(index.sort),
      projectionType: ProjectionType.INCLUDE,
      nonKeyAttributes: [...index.projects],
      ...atFirst,
    });
  }
  if (capacity) scaleTable(table, Object.keys(indexes), capacity);
  return table;
};

/**
 * Scales a table and its indexes. Each has its own capacity, and a write needs that of the table and of
 * every index: an index that runs out of it throttles the table.
 */
const scaleTable = (table: Table, indexNames: readonly string[], capacity: Capacity): void => {
  const range = { minCapacity: capacity.minUnits, maxCapacity: capacity.maxUnits };
  const scaled = [
    table.autoScaleReadCapacity(range),
    table.autoScaleWriteCapacity(range),
    ...indexNames.flatMap((name) => [
      table.autoScaleGlobalSecondaryIndexReadCapacity(name, range),
      table.autoScaleGlobalSecondaryIndexWriteCapacity(name, range),
    ]),
  ];
  for (const attribute of scaled)
    attribute.scaleOnUtilization({ targetUtilizationPercent: capacity.targetPercent });
};

/**
 * The rules of what was stored to expire after so many days. Objects that were stored under another retention
 * have another prefix, because their headers expire at other times. Headers go first, so that no reader finds
 * one whose payload is gone.
 */
const expiringPrefixes = (days: number): LifecycleRule[] =>
  ['segments', 'feedback'].map((root) => ({
    prefix: `${root}/expiring-${days}/`,
    expiration: Duration.days(days + payloadGraceDays),
  }));

interface StorageProps {
  readonly config: Config;
  /** Whether something reads the streams of tables. */
  readonly hasStreams: boolean;
}

/**
 * A table each for calls, objects, prices, feedback, what is derived from them and the audit trail, and a bucket
 * for what no item can hold.
 */
export class Storage extends Construct {
  readonly calls: Table;
  readonly objects: Table;
  readonly costs: Table;
  readonly feedback: Table;
  readonly bookkeeping: Table;
  readonly audit: Table;
  readonly payloads: Bucket;

  constructor(scope: Construct, id: string, { config, hasStreams }: StorageProps) {
    super(scope, id);
    const { keepData, pointInTimeRecovery, billing } = config;
    const options = { keepData, pointInTimeRecovery, hasStreams };
    this.calls = makeTable(this, tables.calls, { ...options, capacity: billing });
    this.objects = makeTable(this, tables.objects, options);
    this.payloads = this.#payloadsBucket(config);
    this.costs = makeTable(this, tables.costs, options);
    this.feedback = makeTable(this, tables.feedback, options);
    this.bookkeeping = makeTable(this, tables.bookkeeping, options);
    this.audit = makeTable(this, tables.audit, options);
  }

  #payloadsBucket(config: Config): Bucket {
    const { retentionDays } = config;
    const bucket = new Bucket(this, 'Payloads', {
      ...privateBucket(config),
      lifecycleRules: [
        { id: 'uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
        {
          id: 'answers',
          prefix: 'answers/',
          expiration: Duration.days(Math.min(maxCacheDays, retentionDays ?? maxCacheDays)),
        },
        ...(retentionDays === undefined ? [] : expiringPrefixes(retentionDays)),
        ...bucketDays.flatMap((days) => [
          ...(days === retentionDays ? [] : expiringPrefixes(days)),
          // What was stored before its project's retention.
          { tagFilters: { [expiryTag]: String(days) }, expiration: Duration.days(days + payloadGraceDays) },
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

interface ShardHistoryProps {
  readonly config: Pick<Config, 'shards' | 'keepData'>;
  /** The table whose items lie in the shards. */
  readonly table: Table;
}

/**
 * Lets the setting `shards` only ever be appended to: CloudFormation refuses a deployment that
 * takes a count away or replaces one. The parameters are free, and nothing reads them. See
 * docs/decisions/0171.
 *
 * A name has a place in the history, a logical id has all counts up to that place. Another count
 * at a place is another resource under a name that is taken. The parameter `end` outlives its place
 * as the last one, so that place cannot become the last one again.
 */
export class ShardHistory extends Construct {
  constructor(scope: Construct, id: string, { config, table }: ShardHistoryProps) {
    super(scope, id);
    const { shards, keepData } = config;
    const names = `/pennytrace/${table.tableName}/shards-can-only-be-appended-to`;
    const parameter = (id: string, name: string, value: string): CfnParameter =>
      new CfnParameter(this, id, { type: 'String', name: `${names}/${name}`, value });
    for (const [i] of shards.entries()) {
      const counts = shards.slice(0, i + 1);
      parameter(`Upto${counts.join('x')}`, String(i + 1), counts.join(','));
    }
    const end = parameter(`End${shards.join('x')}`, `${shards.length}/end`, shards.join(','));
    if (!keepData) return;
    end.cfnOptions.deletionPolicy = CfnDeletionPolicy.RETAIN_EXCEPT_ON_CREATE;
    end.cfnOptions.updateReplacePolicy = CfnDeletionPolicy.RETAIN;
  }
}
