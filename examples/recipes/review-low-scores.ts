/*
 * A review of calls that got a low score: it waits for a person for a week, and reports what was
 * rejected.
 *
 *   new ReviewLowScores(stack, 'Review', { bus: tracing.eventBus, below: 0.5 });
 *
 * A reviewer takes a message from the queue, looks at the call, and answers with its token:
 *
 *   aws stepfunctions send-task-success --task-token … --task-output '{"verdict": "rejected"}'
 */
import { Duration } from 'aws-cdk-lib';
import { type IEventBus, Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events';
import { SfnStateMachine } from 'aws-cdk-lib/aws-events-targets';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import {
  Choice,
  Condition,
  DefinitionBody,
  IntegrationPattern,
  JsonPath,
  StateMachine,
  Succeed,
  TaskInput,
  Timeout,
} from 'aws-cdk-lib/aws-stepfunctions';
import { SnsPublish, SqsSendMessage } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import { Construct } from 'constructs';

/** What is reviewed. */
export interface ReviewLowScoresProps {
  readonly bus: IEventBus;
  /** The payload's `score` below which a person looks at it. */
  readonly below: number;
}

/** Has people look at calls that got a low score. Feedback on an object is not of a call. */
export class ReviewLowScores extends Construct {
  /** What waits for a reviewer. */
  readonly queue: Queue;
  /** Tells of what was rejected. */
  readonly rejected: Topic;

  constructor(scope: Construct, id: string, { bus, below }: ReviewLowScoresProps) {
    super(scope, id);
    this.queue = new Queue(this, 'Reviews', { enforceSSL: true, retentionPeriod: Duration.days(14) });
    this.rejected = new Topic(this, 'Rejected', { enforceSSL: true });
    const review = new SqsSendMessage(this, 'Wait for a reviewer', {
      queue: this.queue,
      integrationPattern: IntegrationPattern.WAIT_FOR_TASK_TOKEN,
      taskTimeout: Timeout.duration(Duration.days(7)),
      messageBody: TaskInput.fromObject({
        token: JsonPath.taskToken,
        call: JsonPath.stringAt('$.on_call'),
        score: JsonPath.stringAt('$.payload.score'),
        feedback: JsonPath.stringAt('$.id'),
      }),
      resultPath: '$.review',
    });
    const notify = new SnsPublish(this, 'Tell of it', {
      topic: this.rejected,
      message: TaskInput.fromJsonPathAt('$.on_call'),
    });
    const machine = new StateMachine(this, 'Machine', {
      definitionBody: DefinitionBody.fromChainable(
        review.next(
          new Choice(this, 'Rejected?')
            .when(Condition.stringEquals('$.review.verdict', 'rejected'), notify)
            .otherwise(new Succeed(this, 'Fine')),
        ),
      ),
    });
    new Rule(this, 'Low', {
      eventBus: bus,
      description: 'Feedback with a low score',
      eventPattern: {
        source: ['pennytrace'],
        detailType: ['FeedbackCreated'],
        // Every text has the empty prefix, and null has none.
        detail: { on_call: [{ prefix: '' }], payload: { score: [{ numeric: ['<', below] }] } },
      },
      targets: [new SfnStateMachine(machine, { input: RuleTargetInput.fromEventPath('$.detail') })],
    });
  }
}
