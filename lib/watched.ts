import { Duration } from 'aws-cdk-lib';
import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Node } from 'constructs';

/** The period of all metrics. */
export const period = Duration.minutes(5);

/** What writes a log: a function, or several that share one. */
export interface Logging {
  readonly node: Node;
  readonly logGroup: ILogGroup;
}

/** A function with a log of its own, whose failures are counted and ring an alarm. */
export interface WatchedFunction {
  readonly logging: Logging;
  /** The name of the metric that counts its failures. */
  readonly metricName: string;
  readonly alarmId: string;
  /** What the alarm means, as its mail says it. */
  readonly description: string;
}

/** Metrics that the dashboard shows together. */
export interface Graph {
  readonly title: string;
  readonly metrics: readonly IMetric[];
}

/** What alarms, dashboard and saved queries watch of a setting that is on. */
export interface Watched {
  /** @default - it has none */
  readonly function?: WatchedFunction;
  /** A graph of the dashboard. @default - there is none */
  readonly graph?: Graph;
}
