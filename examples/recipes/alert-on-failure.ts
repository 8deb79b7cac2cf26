/*
 * Mail, and Slack through AWS Chatbot or a webhook, for calls that fail.
 *
 *   new AlertOnFailure(stack, 'Alert', { bus: tracing.eventBus, mail: 'ops@example.com' });
 */
import { EventField, type IEventBus, Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events';
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription, UrlSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';

/** Who is notified of what. */
export interface AlertOnFailureProps {
  /** Where the service's events go. */
  readonly bus: IEventBus;
  /** Whom to mail. AWS asks the address to confirm. @default - nobody */
  readonly mail?: string;
  /** An https address that takes SNS messages and posts them to Slack. @default - none */
  readonly webhook?: string;
  /** The projects to look at. @default - all */
  readonly projects?: readonly string[];
}

/** A field of the event's detail. */
const detailField = (field: string): string => EventField.fromPath(`$.detail.${field}`);

/** Tells of each call that ends with an exception. */
export class AlertOnFailure extends Construct {
  readonly topic: Topic;

  constructor(scope: Construct, id: string, { bus, mail, webhook, projects }: AlertOnFailureProps) {
    super(scope, id);
    this.topic = new Topic(this, 'Topic', { enforceSSL: true });
    if (mail !== undefined) this.topic.addSubscription(new EmailSubscription(mail));
    if (webhook !== undefined) this.topic.addSubscription(new UrlSubscription(webhook));
    new Rule(this, 'Failed', {
      eventBus: bus,
      description: 'Calls that failed',
      eventPattern: {
        source: ['pennytrace'],
        detailType: ['CallFailed'],
        ...(projects && { detail: { project_id: [...projects] } }),
      },
      targets: [
        new SnsTopic(this.topic, {
          message: RuleTargetInput.fromText(
            `A call failed in ${detailField('project_id')}: ${detailField('trace_name')}, after ${detailField('latency_ms')} ms\n${detailField('call_ref')}`,
          ),
        }),
      ],
    });
  }
}
