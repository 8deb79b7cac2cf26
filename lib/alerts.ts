import { Aws, Duration, Validations } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Alias } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { Config } from './config.ts';
import { busNeeds, type Needs, storeNeeds } from './permissions.ts';
import type { Service } from './service.ts';
import { ServiceFunction } from './service-function.ts';
import type { Watched } from './watched.ts';

interface AlertsProps {
  readonly service: Service;
  readonly settings: NonNullable<Config['alerts']>;
}

/** A look takes seconds. What is not done within a minute, the next looks go on with. */
const timeoutSeconds = 120;

/**
 * The function that looks at alerts and tells of their changes, and whom it can tell of itself: a topic
 * of its own, the event bus, and webhooks, which only it may read. docs/alerts.md is for those who use
 * them.
 */
export class Alerts extends Construct {
  readonly topic: Topic;
  readonly function: ServiceFunction;
  /** How the names of all parameters begin that have webhooks, without a slash at the end. */
  readonly webhooksPrefix: string;

  constructor(scope: Construct, id: string, props: AlertsProps) {
    super(scope, id);
    this.webhooksPrefix = `/pennytrace/${props.service.name}/webhooks`;
    this.topic = new Topic(this, 'Topic', {
      displayName: 'Alerts of Pennytrace',
      enforceSSL: true,
      masterKey: Alias.fromAliasName(this, 'Key', 'alias/aws/sns'),
    });
    Validations.of(this.topic).acknowledge({
      id: 'Serverless-SNSRedrivePolicy',
      reason: 'Whoever subscribes says in the subscription what becomes of what cannot be delivered.',
    });
    this.function = this.#makeFunction(props);
    this.#schedule();
  }

  #makeFunction({ service, settings }: AlertsProps): ServiceFunction {
    return new ServiceFunction(this, 'Function', {
      service,
      handler: 'alerts',
      description: 'Looks at alerts and tells of their changes',
      memoryMb: 512,
      timeoutSeconds,
      needs: [
        storeNeeds(
          {
            calls: 'query',
            payloads: 'read',
            objects: 'query',
            costs: 'read',
            feedback: 'count',
            bookkeeping: 'watch',
          },
          service,
        ),
        { environment: { SERVICE_URL: settings.url ?? service.url } },
        {
          environment: { ALERT_TOPIC: this.topic.topicArn },
          permissions: [{ actions: ['sns:Publish'], resource: this.topic.topicArn }],
        },
        busNeeds(service.config.events?.bus ?? 'default'),
        this.#webhooksNeeds,
      ],
      withoutQueue: 'What it did not do, the next minute does.',
    });
  }

  get #webhooksNeeds(): Needs {
    const prefix = this.webhooksPrefix;
    return {
      environment: { WEBHOOKS_PREFIX: prefix },
      permissions: [
        {
          actions: ['ssm:GetParameter', 'ssm:GetParametersByPath'],
          resource: `arn:${Aws.PARTITION}:ssm:${Aws.REGION}:${Aws.ACCOUNT_ID}:parameter${prefix}/*`,
          wildcard: {
            finding: `arn:<AWS::Partition>:ssm:<AWS::Region>:<AWS::AccountId>:parameter${prefix.replace(Aws.STACK_NAME, '<AWS::StackName>')}/*`,
            reason:
              'Projects and their webhooks are named later. It reads those of the project that an alert is in.',
          },
        },
      ],
    };
  }

  #schedule(): void {
    const { handler } = this.function;
    const rule = new Rule(this, 'Schedule', {
      description: 'Has alerts looked at',
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new LambdaFunction(handler, { retryAttempts: 0, maxEventAge: Duration.minutes(1) })],
    });
    Validations.of(rule).acknowledge({
      id: 'Serverless-EventBusDLQ',
      reason: 'A minute in which nobody looked is not worth keeping: the next one looks.',
    });
  }

  /** Rings for the first message that was not delivered, though it is tried again. */
  get watched(): Watched {
    return {
      function: {
        logging: this.function,
        alarmId: 'Alerts',
        metricName: 'AlertFailures',
        description:
          'Alerts could not be looked at, or somebody could not be told. The page of alerts says whom, the logs of alerts say why.',
      },
    };
  }

  /** What the function of a route needs that has alerts tried, or webhooks named. */
  get needs(): Needs {
    const { functionName, functionArn } = this.function.handler;
    return {
      environment: { ALERTS_FUNCTION: functionName },
      permissions: [{ actions: ['lambda:InvokeFunction'], resource: functionArn }],
    };
  }
}
