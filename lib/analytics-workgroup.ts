import { CfnNamedQuery, CfnWorkGroup } from 'aws-cdk-lib/aws-athena';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { analyticsQueries } from './analytics-queries.ts';

export interface AnalyticsWorkgroupProps {
  readonly name: string;
  readonly bucket: Bucket;
  readonly database: string;
  /** The most that one query may read, in GB. */
  readonly scanLimitGb: number;
}

const gigabyte = 1_000_000_000;

/** Where queries are asked: Athena ends one that reads too much, and keeps results for a week. */
export class AnalyticsWorkgroup extends Construct {
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
