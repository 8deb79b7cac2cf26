import { Aws, Duration, Validations } from 'aws-cdk-lib';
import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { Config } from './config.ts';
import { Dashboard, Queries, Signals, type SignalsProps } from './dashboard.ts';

/** One alarm. It rings when the metric reaches the threshold in `periods` periods in a row. */
interface AlarmSpec {
  readonly id: string;
  readonly metric: IMetric;
  readonly threshold: number;
  /** A period is five minutes. */
  readonly periods: number;
  /** What it means, as the mail says it. */
  readonly description: string;
}

/** The share of its time-out at which a batch of calls is too slow. */
const slowShare = 0.8;

/**
 * The alarms. What reads the streams of tables has an alarm on its dead letters, and one on all readers;
 * settings that are on have their own. An account has ten alarm metrics for free, and an alarm on a formula
 * counts with all metrics of the formula. docs/operations.md has a section for each alarm.
 */
const specs = (signals: Signals): AlarmSpec[] => [
  {
    id: 'ServerErrors',
    metric: signals.unexpectedErrors,
    threshold: 5,
    periods: 1,
    description:
      'Requests end in a 5xx. The access log says which routes. Find a request in the logs by its x-request-id.',
  },
  {
    id: 'Failures',
    metric: signals.failures,
    threshold: 5,
    periods: 1,
    description:
      'Functions log errors, run out of time or die. Streams that broke off after a 200 count as well.',
  },
  {
    id: 'AuthorizerFailures',
    metric: signals.authorizerFailures,
    threshold: 2,
    periods: 1,
    description: 'Keys cannot be looked up. Callers whose key the gateway has not cached get a 503.',
  },
  {
    id: 'StorageThrottles',
    metric: signals.storageThrottles,
    threshold: 10,
    periods: 3,
    description:
      'DynamoDB or S3 throttles, for longer than a table needs to adapt. The dashboard says which table. If it is the calls, append to `shards`.',
  },
  {
    id: 'FunctionThrottles',
    metric: signals.functionThrottles,
    threshold: 1,
    periods: 2,
    description:
      'The functions of this account and region use up the concurrency that they share. Ask AWS for more.',
  },
  {
    id: 'IngestDuration',
    metric: signals.ingest.durationP99,
    threshold: signals.ingest.timeout.toMilliseconds() * slowShare,
    periods: 3,
    description:
      'One in a hundred batches of calls takes nearly as long as it may. Storage throttles, or batches are big.',
  },
  ...(signals.deadLetters ? [deadLetters(signals.deadLetters)] : []),
  ...(signals.streamAge ? [behind(signals.streamAge)] : []),
  ...signals.featureFailures.map(firstFailure),
];

/** Rings for the first failure of a function that a setting brings. */
const firstFailure = ({ alarmId, metric, description }: Signals['featureFailures'][number]): AlarmSpec => ({
  id: alarmId,
  metric,
  threshold: 1,
  periods: 1,
  description,
});

/** Rings for the first dead letter, and until the queue is empty. */
const deadLetters = (metric: IMetric): AlarmSpec => ({
  id: 'DeadLetters',
  metric,
  threshold: 1,
  periods: 1,
  description:
    'Events or rows for analytics could not be delivered, or calls not be judged. They wait in a queue.',
});

/**
 * How far behind a reader of streams may be. Analytics gathers for five minutes, and after half a day
 * records are given up.
 */
const mostBehind = Duration.minutes(30);

/** Rings while a reader of streams cannot keep up, or fails for the same records again and again. */
const behind = (metric: IMetric): AlarmSpec => ({
  id: 'StreamAge',
  metric,
  threshold: mostBehind.toMilliseconds(),
  periods: 3,
  description:
    'Events, analytics or evaluators are more than half an hour behind. After twelve hours records are given up, and only notes of them remain.',
});

/** The anchor of a section in docs/operations.md: `ServerErrors` → `alarm-server-errors`. */
const toAnchor = (id: string): string =>
  `alarm${id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** The alarms, and the topic that mails them. There is no topic without an address. */
class Alarms extends Construct {
  constructor(scope: Construct, id: string, { config, signals }: { config: Config; signals: Signals }) {
    super(scope, id);
    const alarms = specs(signals).map((spec) => this.#alarm(spec, config.runbookUrl));
    if (config.alarmEmail === undefined) return;
    const topic = new Topic(this, 'Topic', { enforceSSL: true });
    Validations.of(topic).acknowledge({
      id: 'Serverless-SNSRedrivePolicy',
      reason: 'A mail that cannot be delivered helps nobody in a queue. The alarm still shows in CloudWatch.',
    });
    // `enforceSSL` gives the topic a policy of its own. It replaces the default one, which lets the
    // alarms of the account publish.
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
      alarmDescription: `${description} What to do: ${runbook}#${toAnchor(id)}`,
    });
  }
}

/** The services that the stack is made of, by their names on the bill. */
const services = [
  'Amazon API Gateway',
  'Amazon DynamoDB',
  'Amazon Simple Storage Service',
  'AmazonCloudWatch',
  'AWS Lambda',
  'AWS X-Ray',
  'CloudWatch Events',
  'Amazon Simple Queue Service',
  'Amazon Simple Notification Service',
  'Amazon Athena',
  'AWS Glue',
  'AWS WAF',
  'AWS Secrets Manager',
  'AWS Data Transfer',
];

/** When the budget notifies: of what is spent or of the month's forecast, at which percentage. */
const notices = [
  ['ACTUAL', 80],
  ['ACTUAL', 100],
  ['FORECASTED', 100],
] as const;

/**
 * A monthly budget, in dollars, for what the account pays for the stack's services. Other uses of
 * these services count too: AWS can single out a stack's own costs only after somebody has activated
 * its tags for billing. It is free. Without the setting there is no resource.
 */
class Budget extends Construct {
  constructor(scope: Construct, id: string, { monthlyBudget, alarmEmail }: Config) {
    super(scope, id);
    if (monthlyBudget === undefined || alarmEmail === undefined) return;
    new CfnBudget(this, 'Monthly', {
      budget: {
        budgetType: 'COST',
        timeUnit: 'MONTHLY',
        budgetLimit: { amount: monthlyBudget, unit: 'USD' },
        costFilters: { Service: services },
      },
      notificationsWithSubscribers: notices.map(([notificationType, threshold]) => ({
        notification: {
          notificationType,
          threshold,
          thresholdType: 'PERCENTAGE',
          comparisonOperator: 'GREATER_THAN',
        },
        subscribers: [{ subscriptionType: 'EMAIL', address: alarmEmail }],
      })),
    });
  }
}

interface ObservabilityProps extends SignalsProps {
  readonly config: Config;
}

/**
 * Dashboard, alarms, saved queries and budget. They keep within what is free in CloudWatch: 3
 * dashboards of 50 metrics, and 10 alarm metrics.
 */
export class Observability extends Construct {
  constructor(scope: Construct, id: string, { config, ...watched }: ObservabilityProps) {
    super(scope, id);
    const { name, functions, auth, features } = watched;
    const signals = new Signals(this, 'Signals', watched);
    const own = features.flatMap(({ function: one }) => one?.logging ?? []);
    const logGroupNames = [functions, auth.function, ...own].map(({ logGroup }) => logGroup.logGroupName);
    new Alarms(this, 'Alarms', { config, signals });
    new Dashboard(this, 'Dashboard', { name, signals, logGroupNames });
    new Queries(this, 'Queries', { name, logGroupNames });
    new Budget(this, 'Budget', config);
  }
}
