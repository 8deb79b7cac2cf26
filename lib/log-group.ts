import { RemovalPolicy } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Config } from './config.ts';

/** A log group that keeps lines for as long as the settings say, and goes with the stack. */
export const makeLogGroup = (
  scope: Construct,
  id: string,
  { logRetentionDays }: Pick<Config, 'logRetentionDays'>,
): LogGroup => new LogGroup(scope, id, { retention: logRetentionDays, removalPolicy: RemovalPolicy.DESTROY });
