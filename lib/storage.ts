import { Duration, Validations } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { tables } from '../core/foundations/storage/tables.ts';
import type { Config } from './config.ts';
import { privateBucket } from './private-bucket.ts';
import { makeTable } from './table.ts';

/**
 * A table each for calls, objects, prices, feedback and what is derived from them, and a bucket for
 * what no item can hold.
 */
export class Storage extends Construct {
  readonly calls: Table;
  readonly objects: Table;
  readonly costs: Table;
  readonly feedback: Table;
  readonly rollups: Table;
  readonly payloads: Bucket;

  constructor(scope: Construct, id: string, config: Config) {
    super(scope, id);
    this.calls = makeTable(this, tables.calls, config);
    this.objects = makeTable(this, tables.objects, config);
    this.payloads = this.#payloadsBucket(config);
    this.costs = makeTable(this, tables.costs, config);
    this.feedback = makeTable(this, tables.feedback, config);
    this.rollups = makeTable(this, tables.rollups, config);
  }

  #payloadsBucket(config: Config): Bucket {
    const { retentionDays } = config;
    const bucket = new Bucket(this, 'Payloads', {
      ...privateBucket(config),
      lifecycleRules: [
        { id: 'uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
        ...(retentionDays === undefined
          ? []
          : [
              {
                id: 'retention',
                // Objects that were stored under another retention have another prefix, because
                // their headers expire at other times.
                prefix: `segments/expiring-${retentionDays}/`,
                // Headers go first, so that no reader finds one whose payload is gone.
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
