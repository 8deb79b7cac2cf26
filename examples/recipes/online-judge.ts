/*
 * A model that scores a sample of turns as they end, within a budget.
 *
 *   new OnlineJudge(stack, 'Judge', {
 *     bus: tracing.eventBus, apiUrl: tracing.apiUrl, keySecret, model: 'gpt-4o-mini',
 *     judgeProject: 'acme/judge', share: 0.1, dollarsADay: 2,
 *   });
 *
 * The key needs `write` on the projects to judge and on the judge's own, and `inference`:
 *
 *   npm run keys -- create --user judge --grant 'acme/*:write' --grant 'acme/*:inference'
 */
import { join } from 'node:path';
import { Duration } from 'aws-cdk-lib';
import { type IEventBus, Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

/** What is judged, by whom, and what it may cost. */
export interface OnlineJudgeProps {
  readonly bus: IEventBus;
  /** The base URL of the service. */
  readonly apiUrl: string;
  /** The secret whose text is the judge's key. */
  readonly keySecret: ISecret;
  /** The model that judges, as the inference endpoint knows it. */
  readonly model: string;
  /** The project that the judge's own calls are recorded in. It is never judged. */
  readonly judgeProject: string;
  /** The share of turns to judge, 0 to 1. */
  readonly share: number;
  /** What the judge may cost in a day of UTC. */
  readonly dollarsADay: number;
}

/** Scores turns, and writes each score as feedback on its call. */
export class OnlineJudge extends Construct {
  constructor(scope: Construct, id: string, props: OnlineJudgeProps) {
    super(scope, id);
    const { bus, apiUrl, keySecret, model, judgeProject, share, dollarsADay } = props;
    const judge = new NodejsFunction(this, 'Function', {
      entry: join(import.meta.dirname, 'online-judge-handler.ts'),
      runtime: Runtime.NODEJS_24_X,
      timeout: Duration.minutes(2),
      // One budget for all: many at once would all see the same sum.
      reservedConcurrentExecutions: 2,
      environment: {
        API_URL: apiUrl,
        KEY_SECRET: keySecret.secretArn,
        JUDGE_MODEL: model,
        JUDGE_PROJECT: judgeProject,
        SHARE: String(share),
        DOLLARS_A_DAY: String(dollarsADay),
      },
    });
    keySecret.grantRead(judge);
    new Rule(this, 'Turns', {
      eventBus: bus,
      description: 'Turns for the judge',
      eventPattern: {
        source: ['pennytrace'],
        detailType: ['TurnEnded'],
        detail: { status: ['success'], project_id: [{ 'anything-but': [judgeProject] }] },
      },
      targets: [
        new LambdaFunction(judge, {
          retryAttempts: 3,
          maxEventAge: Duration.hours(1),
          deadLetterQueue: new Queue(this, 'Failed', { enforceSSL: true }),
        }),
      ],
    });
  }
}
