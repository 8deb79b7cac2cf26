import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { tables } from '../core/storage/tables.ts';
import type { Config } from './config.ts';
import { makeTable } from './table.ts';

/**
 * Where calls, objects, prices and feedback are kept: a table for each, and a bucket for what is
 * too big for an item.
 */
export class Storage extends Construct {
  readonly calls: Table;
  readonly objects: Table;
  readonly costs: Table;
  readonly feedback: Table;
  readonly payloads: Bucket;

  constructor(scope: Construct, id: string, config: Config) {
    super(scope, id);
    this.calls = makeTable(this, tables.calls, config);
    this.objects = makeTable(this, tables.objects, config);
    this.payloads = this.#payloadsBucket(config);
    this.costs = makeTable(this, tables.costs, config);
    this.feedback = makeTable(this, tables.feedback, config);
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
