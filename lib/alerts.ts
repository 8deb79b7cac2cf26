import { Aws, Duration, Validations } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { EventBus, Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Alias } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { tables } from '../foundations/storage/tables.ts';
import type { Config } from './config.ts';
import { bundleOf } from './handlers.ts';
import { type Permission, readerEnvironment, storePermissions } from './permissions.ts';
import { ServiceFunction } from './service-function.ts';
import type { Storage } from './storage.ts';

interface AlertsProps {
  readonly config: Config;
  readonly settings: NonNullable<Config['alerts']>;
  /** The name of the service. */
  readonly name: string;
  readonly storage: Storage;
  readonly bundles: ReadonlyMap<string, string>;
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
    this.webhooksPrefix = `/pennytrace/${props.name}/webhooks`;
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

  #makeFunction({ config, settings, storage, bundles }: AlertsProps): ServiceFunction {
    const bus = EventBus.fromEventBusName(this, 'Bus', config.events?.bus ?? 'default');
    return new ServiceFunction(this, 'Function', {
      config,
      code: bundleOf(bundles, 'alerts'),
      description: 'Looks at alerts and tells of their changes',
      memoryMb: 512,
      timeoutSeconds,
      environment: {
        ...readerEnvironment(config, storage),
        [tables.objects.variable]: storage.objects.tableName,
        [tables.rollups.variable]: storage.rollups.tableName,
        ALERT_TOPIC: this.topic.topicArn,
        EVENT_BUS: bus.eventBusName,
        WEBHOOKS_PREFIX: this.webhooksPrefix,
        ...(settings.url !== undefined && { SERVICE_URL: settings.url }),
      },
      permissions: [
        ...storePermissions(
          {
            ...{ calls: 'query', payloads: 'read', objects: 'query', costs: 'read' },
            ...{ feedback: 'count', rollups: 'watch' },
          },
          storage,
        ),
        { actions: ['sns:Publish'], resource: this.topic.topicArn },
        { actions: ['events:PutEvents'], resource: bus.eventBusArn },
        {
          actions: ['ssm:GetParameter'],
          resource: `arn:${Aws.PARTITION}:ssm:${Aws.REGION}:${Aws.ACCOUNT_ID}:parameter${this.webhooksPrefix}/*`,
          wildcard: {
            finding: `arn:<AWS::Partition>:ssm:<AWS::Region>:<AWS::AccountId>:parameter${this.webhooksPrefix.replace(Aws.STACK_NAME, '<AWS::StackName>')}/*`,
            reason:
              'Projects and their webhooks are named later. It reads those of the project that an alert is in.',
          },
        },
      ],
      withoutQueue: 'What it did not do, the next minute does.',
    });
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

  /** What the function needs that has an alert tried. */
  get environment(): Record<string, string> {
    return { ALERTS_FUNCTION: this.function.handler.functionName };
  }

  /** What it may do. */
  get permission(): Permission {
    return { actions: ['lambda:InvokeFunction'], resource: this.function.handler.functionArn };
  }

  /**
   * Has links in messages lead to the page of an API. The stage is named by a text: a reference would
   * wait for the functions of all endpoints, of which one waits for this.
   */
  linkTo({ restApiId }: RestApi, stageName: string): void {
    const { handler } = this.function;
    const url = `https://${restApiId}.execute-api.${Aws.REGION}.${Aws.URL_SUFFIX}/${stageName}`;
    handler.addEnvironment('SERVICE_URL', url);
  }
}
