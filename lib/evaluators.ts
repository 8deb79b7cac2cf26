import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Config } from './config.ts';
import { watcherHandler } from './handlers.ts';
import type { Limits } from './limits.ts';
import { combine, type Needs, storeNeeds } from './permissions.ts';
import type { Service } from './service.ts';
import { ServiceFunction } from './service-function.ts';
import { batchesOfChanges, type Streams } from './streams.ts';
import { period, type Watched } from './watched.ts';

/** The time that a batch of verdicts may take, in seconds: two questions to a judge, and some more. */
const judgeSeconds = 120;

/**
 * How long a message that was not done waits to be brought again. AWS asks for six times the time of
 * the function (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html).
 */
const visibility = Duration.seconds(6 * judgeSeconds);

/**
 * How many messages with judges one project has worked on at once: half of all, so that a project whose
 * judges are slow leaves the others as much.
 */
const leasesOfProject = (concurrency: number): number => Math.floor(concurrency / 2);

/** How often a message is brought. With the pauses between, that is for an hour. */
const maxReceives = 5;

interface EvaluationsProps {
  readonly service: Service & { readonly streams: Streams };
  /** What keeps judges within spending limits; undefined without the setting. */
  readonly limits: Limits | undefined;
}

/** What evaluators are to judge. Messages that are never done end among the dead letters. */
export class Evaluations extends Construct {
  readonly queue: Queue;
  /** What a function needs that asks for verdicts, and tries evaluators. */
  readonly scorerNeeds: Needs;
  /** What the function needs that decides which calls are judged, besides their halves and payloads. */
  readonly watcherNeeds: Needs;

  constructor(scope: Construct, id: string, { service, limits }: EvaluationsProps) {
    super(scope, id);
    const { deadLetters } = service.streams;
    this.queue = new Queue(this, 'Queue', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      visibilityTimeout: visibility,
      retentionPeriod: Duration.days(4),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: maxReceives },
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.scorerNeeds = combine([
      // It asks judges, stores their calls, and pays.
      storeNeeds({ calls: 'judge', payloads: 'change', bookkeeping: 'spend' }, service),
      service.inference.upstreams,
      limits?.needs('hold'),
      this.queueNeeds(['SendMessage']),
    ]);
    this.watcherNeeds = combine([
      storeNeeds({ objects: 'query' }, service),
      // It asks for the time from which on calls are judged.
      this.queueNeeds(['SendMessage', 'GetQueueAttributes']),
    ]);
  }

  /** What evaluators are to judge: how much waits, and for how long. */
  get watched(): Watched {
    return {
      graph: {
        title: 'What evaluators are to judge',
        metrics: [
          this.queue.metricApproximateNumberOfMessagesVisible({ period, label: 'waiting' }),
          this.queue.metricApproximateAgeOfOldestMessage({ period, label: 'age of the oldest (s)' }),
        ],
      },
    };
  }

  /** What a function needs that does this with messages of the queue. */
  queueNeeds(actions: readonly string[]): Needs {
    const { queueUrl, queueArn } = this.queue;
    return {
      environment: { EVALUATIONS_QUEUE: queueUrl },
      permissions: [{ actions: actions.map((action) => `sqs:${action}`), resource: queueArn }],
    };
  }
}

interface EvaluatorsProps extends EvaluationsProps {
  readonly settings: NonNullable<Config['evaluators']>;
  readonly evaluations: Evaluations;
}

/**
 * The function that asks judges, and the one that decides which calls they judge, unless the function
 * of events does that, too: a stream has room for two readers. docs/evaluators.md is for those who
 * use them.
 */
export class Evaluators extends Construct {
  constructor(scope: Construct, id: string, props: EvaluatorsProps) {
    super(scope, id);
    if (!props.service.config.events) this.#makeWatcher(props);
    this.#makeJudge(props);
  }

  #makeWatcher({ service, evaluations }: EvaluatorsProps): void {
    const { config, streams, logGroup } = service;
    const { calls } = service.storage;
    const watcher = new ServiceFunction(this, 'Watcher', {
      service,
      handler: watcherHandler(config),
      description: 'Decides which calls evaluators judge',
      memoryMb: 512,
      timeoutSeconds: 60,
      logGroup,
      needs: [
        storeNeeds({ calls: 'publish', payloads: 'read' }, service),
        evaluations.watcherNeeds,
        streams.needs({ calls }),
      ],
    });
    // It passes over calls from before there was the queue.
    streams.subscribe(watcher, { calls }, { ...batchesOfChanges, from: 'TRIM_HORIZON' });
  }

  #makeJudge({ service, settings, evaluations, limits }: EvaluatorsProps): void {
    const { inference, streams, logGroup } = service;
    const judge = new ServiceFunction(this, 'Judge', {
      service,
      handler: 'judge',
      description: 'Judges calls and stores the verdicts',
      memoryMb: 512,
      timeoutSeconds: judgeSeconds,
      logGroup,
      needs: [
        storeNeeds(
          {
            calls: 'judge',
            payloads: 'change',
            objects: 'read',
            costs: 'read',
            feedback: 'create',
            bookkeeping: 'judge',
          },
          service,
        ),
        limits?.judgeNeeds,
        inference.upstreams,
        // It puts back what has to wait for others of its project.
        evaluations.queueNeeds(['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes', 'SendMessage']),
        streams.deadLettersNeeds,
        {
          environment: {
            MAX_RECEIVES: String(maxReceives),
            LEASES_OF_PROJECT: String(leasesOfProject(settings.concurrency)),
          },
        },
      ],
      withoutQueue: 'The queue that wakes it has one, for messages that it fails for.',
    });
    const jobs = new EventSourceMapping(judge, 'Jobs', {
      target: judge.handler,
      eventSourceArn: evaluations.queue.queueArn,
      // A message is of one project. So an invocation is, and its time, memory and failures are that
      // project's own: docs/decisions/0250.
      batchSize: 1,
      reportBatchItemFailures: true,
      // So many messages are worked on at once, of ten calls each: an upstream has limits of its own.
      maxConcurrency: settings.concurrency,
    });
    Validations.of(jobs).acknowledge({
      id: 'Serverless-LambdaEventSourceMappingDestination',
      reason: 'Destinations are for streams. The queue has a redrive policy.',
    });
  }
}
