import { Duration, Names, Validations } from 'aws-cdk-lib';
import { CfnNamedQuery, CfnWorkGroup } from 'aws-cdk-lib/aws-athena';
import { AnyPrincipal, Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Bucket, BucketPolicy, type IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { type AnalyticsBucket, AnalyticsCatalog, analyticsQueries } from './analytics-catalog.ts';
import type { Config } from './config.ts';
import { type Permission, storeNeeds, toFinding } from './permissions.ts';
import type { Service } from './service.ts';
import { ServiceFunction } from './service-function.ts';
import { privateBucket } from './storage.ts';
import type { Streams } from './streams.ts';

interface AnalyticsWorkgroupProps {
  readonly name: string;
  readonly bucket: AnalyticsBucket;
  readonly database: string;
  /** The most that one query may read, in GB. */
  readonly scanLimitGb: number;
}

const gigabyte = 1_000_000_000;

/** Where queries are asked: Athena ends one that reads too much, and keeps results for a week. */
class AnalyticsWorkgroup extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { name, bucket, database, scanLimitGb }: AnalyticsWorkgroupProps,
  ) {
    super(scope, id);
    const group = new CfnWorkGroup(this, 'Group', {
      name,
      description: 'Queries over calls and feedback',
      recursiveDeleteOption: true,
      workGroupConfiguration: {
        bytesScannedCutoffPerQuery: scanLimitGb * gigabyte,
        enforceWorkGroupConfiguration: true,
        // CloudWatch would charge for its metrics.
        publishCloudWatchMetricsEnabled: false,
        resultConfiguration: {
          outputLocation: `s3://${bucket.bucketName}/results/`,
          encryptionConfiguration: { encryptionOption: 'SSE_S3' },
        },
      },
    });
    for (const [title, { about, sql }] of Object.entries(analyticsQueries)) {
      const query = new CfnNamedQuery(this, title.replaceAll(' ', ''), {
        name: title,
        description: about,
        database,
        queryString: sql,
        workGroup: name,
      });
      query.addResourceDependency(group);
    }
  }
}

interface AnalyticsProps {
  readonly service: Service & { readonly streams: Streams };
  readonly settings: NonNullable<Config['analytics']>;
}

/** Rows stay three days longer than what they are about, so that no query finds the newer gone. */
const graceDays = 3;

/** How long the results of queries are kept. */
const resultDays = 7;

/**
 * Calls and feedback as Parquet files in a bucket, with tables, views and queries over them.
 * docs/analytics.md is for those who ask.
 */
export class Analytics extends Construct {
  readonly function: ServiceFunction;
  /** Where the files are. */
  readonly bucket: AnalyticsBucket;
  /** The name of the Glue database. */
  readonly database: string;

  constructor(scope: Construct, id: string, props: AnalyticsProps) {
    super(scope, id);
    const { settings } = props;
    // Names are of the whole account and region, so they are made of the stack's.
    const name = Names.uniqueResourceName(this, { maxLength: 100, separator: '_' }).toLowerCase();
    const former = settings.bucket;
    this.bucket = former === undefined ? this.#makeBucket(props) : this.#formerBucket(former);
    const catalog = new AnalyticsCatalog(this, 'Catalog', { name, bucket: this.bucket });
    this.database = catalog.database;
    new AnalyticsWorkgroup(this, 'Athena', {
      name,
      bucket: this.bucket,
      database: catalog.database,
      scanLimitGb: settings.scanLimitGb,
    });
    this.function = this.#makeFunction(props);
  }

  /** The bucket of analytics that were switched off. Its policy went with them, but its rules did not. */
  #formerBucket(name: string): IBucket {
    const bucket = Bucket.fromBucketName(this, 'Former', name);
    const policy = new BucketPolicy(this, 'FormerPolicy', { bucket });
    policy.document.addStatements(
      new PolicyStatement({
        effect: Effect.DENY,
        principals: [new AnyPrincipal()],
        actions: ['s3:*'],
        resources: [bucket.bucketArn, bucket.arnForObjects('*')],
        conditions: { Bool: { 'aws:SecureTransport': 'false' } },
      }),
    );
    return bucket;
  }

  #makeBucket({ service: { config }, settings }: AnalyticsProps): Bucket {
    const { retentionDays } = config;
    const days = settings.keepDays ?? (retentionDays === undefined ? undefined : retentionDays + graceDays);
    const bucket = new Bucket(this, 'Files', {
      ...privateBucket(config),
      lifecycleRules: [
        { id: 'uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
        { id: 'results', prefix: 'results/', expiration: Duration.days(resultDays) },
        ...(days === undefined
          ? []
          : ['calls', 'feedback'].map((dataset) => ({
              id: dataset,
              prefix: `${dataset}/`,
              expiration: Duration.days(days),
            }))),
      ],
    });
    Validations.of(bucket).acknowledge({
      id: 'AwsSolutions-S1',
      reason: 'Access logs need another bucket, paid for and kept.',
    });
    return bucket;
  }

  #makeFunction({ service }: AnalyticsProps): ServiceFunction {
    const { storage, streams, logGroup } = service;
    const { calls, feedback } = storage;
    const analyticsFunction = new ServiceFunction(this, 'Analytics', {
      service,
      handler: 'analytics',
      description: 'Writes calls and feedback as Parquet files',
      memoryMb: 1024,
      timeoutSeconds: 120,
      logGroup,
      needs: [
        // Records have all of feedback that is read.
        storeNeeds({ calls: 'copy', payloads: 'read', costs: 'read' }, service),
        streams.needs({ calls, feedback }),
        {
          environment: { ANALYTICS_BUCKET: this.bucket.bucketName },
          permissions: ['calls', 'feedback'].map((dataset) => objectPermission(this.bucket, `${dataset}/*`)),
        },
      ],
    });
    // Lambda ends a batch at 6 MB, some two thousand records. Fewer files are read faster.
    // One lane takes more records a second than a shard has, and each further one writes files of its own.
    const batches = {
      from: 'TRIM_HORIZON',
      lanes: 1,
      deletions: true,
      batchSize: 10_000,
      window: Duration.minutes(5),
    } as const;
    streams.subscribe(analyticsFunction, { calls, feedback }, batches);
    return analyticsFunction;
  }
}

const objectPermission = (bucket: AnalyticsBucket, path: string): Permission => ({
  actions: ['s3:PutObject'],
  resource: bucket.arnForObjects(path),
  wildcard: {
    finding: bucket.node.defaultChild
      ? toFinding(bucket, `/${path}`)
      : `arn:<AWS::Partition>:s3:::${bucket.bucketName}/${path}`,
    reason: 'Files are named after projects, days and records; the function only ever puts them.',
  },
});
