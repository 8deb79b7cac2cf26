import { Aws, Validations } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { Config } from './config.ts';
import type { Signals } from './signals.ts';

/**
 * One alarm: it rings when the metric reaches the threshold in as many five-minute periods in a
 * row.
 */
interface AlarmSpec {
  readonly id: string;
  readonly metric: IMetric;
  readonly threshold: number;
  readonly periods: number;
  /** What it means and what to do, as the mail says it. */
  readonly description: string;
}

/** The share of its time-out that a batch of calls may take before it is too much. */
const slowShare = 0.8;

/**
 * The alarms, each on one metric: the ten that are free in an account are counted in metrics, not
 * in alarms, so an alarm on a formula over every function would cost something each month.
 * docs/operations.md has a section for each.
 */
const specs = (signals: Signals): AlarmSpec[] => [
  {
    id: 'ServerErrors',
    metric: signals.serverErrors,
    threshold: 5,
    periods: 1,
    description:
      'Requests end in a 5xx. The access log says which routes; x-request-id leads to the log of the function.',
  },
  {
    id: 'Failures',
    metric: signals.failures,
    threshold: 5,
    periods: 1,
    description:
      'Functions log errors, run out of time or die: streams that broke off are among them, whose status was a 200.',
  },
  {
    id: 'AuthorizerFailures',
    metric: signals.authorizerFailures,
    threshold: 2,
    periods: 1,
    description: 'Keys cannot be looked up: whoever is not in the cache of the gateway gets a 503.',
  },
  {
    id: 'StorageThrottles',
    metric: signals.storageThrottles,
    threshold: 10,
    periods: 3,
    description:
      'DynamoDB or S3 throttles, longer than a table needs to adapt. The dashboard says which table; for calls, append to `shards`.',
  },
  {
    id: 'FunctionThrottles',
    metric: signals.functionThrottles,
    threshold: 1,
    periods: 2,
    description:
      'The functions of this account and region use up its concurrency, which these share: ask AWS for more.',
  },
  {
    id: 'IngestDuration',
    metric: signals.ingest.durationP99,
    threshold: signals.ingest.timeout.toMilliseconds() * slowShare,
    periods: 3,
    description:
      'One in a hundred batches of calls takes nearly as long as it may: storage throttles, or batches are big.',
  },
];

/**
 * `ServerErrors` → `alarm-server-errors`: the anchor of the alarm's section in docs/operations.md.
 */
const anchorOf = (id: string): string =>
  `alarm${id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** The alarms, and where they are told to: nowhere, unless an address is set. */
export class Alarms extends Construct {
  constructor(scope: Construct, id: string, { config, signals }: { config: Config; signals: Signals }) {
    super(scope, id);
    const alarms = specs(signals).map((spec) => this.#alarm(spec, config.runbookUrl));
    if (config.alarmEmail === undefined) return;
    const topic = new Topic(this, 'Topic', { enforceSSL: true });
    Validations.of(topic).acknowledge({
      id: 'Serverless-SNSRedrivePolicy',
      reason:
        'A mail that cannot be delivered helps nobody in a queue; the alarm stays to be seen in CloudWatch.',
    });
    // A topic with a policy of its own has lost the one that lets the alarms of its account
    // publish.
    topic.grantPublish(
      new ServicePrincipal('cloudwatch.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    );
    topic.addSubscription(new EmailSubscription(config.alarmEmail));
    for (const alarm of alarms) alarm.addAlarmAction(new SnsAction(topic));
  }

  #alarm({ id, metric, threshold, periods, description }: AlarmSpec, runbook: string): Alarm {
    return new Alarm(this, id, {
      metric,
      threshold,
      evaluationPeriods: periods,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      alarmDescription: `${description} What to do: ${runbook}#${anchorOf(id)}`,
    });
  }
}
