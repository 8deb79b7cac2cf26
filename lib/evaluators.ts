import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { tables } from '../foundations/storage/tables.ts';
import type { Config } from './config.ts';
import { bundleOf } from './handlers.ts';
import type { Inference } from './inference.ts';
import { limitsNeeds, nearlyReachedNeeds } from './limits.ts';
import { type Needs, readerEnvironment, storePermissions } from './permissions.ts';
import type { Redaction } from './redaction.ts';
import { ServiceFunction } from './service-function.ts';
import type { Storage } from './storage.ts';
import { batchesOfChanges, type Streams } from './streams.ts';

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

interface ScorerProps {
  readonly config: Config;
  readonly storage: Storage;
  readonly inference: Inference;
}

/** What evaluators are to judge. Messages that are never done end among the dead letters. */
export class Evaluations extends Construct {
  readonly queue: Queue;

  constructor(scope: Construct, id: string, { deadLetters }: Pick<Streams, 'deadLetters'>) {
    super(scope, id);
    this.queue = new Queue(this, 'Queue', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      visibilityTimeout: visibility,
      retentionPeriod: Duration.days(4),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: maxReceives },
      removalPolicy: RemovalPolicy.DESTROY,
    });
  }

  /** What a function needs that asks for verdicts, and tries evaluators. */
  scorer({ config, storage, inference }: ScorerProps): Needs {
    const limits = limitsNeeds('hold', config, storage);
    return {
      environment: {
        ...this.queueEnvironment,
        [tables.rollups.variable]: storage.rollups.tableName,
        ...inference.upstreams.environment,
        ...limits.environment,
      },
      permissions: [
        // It asks judges, stores their calls, and pays.
        ...storePermissions({ calls: 'judge', payloads: 'change', rollups: 'spend' }, storage),
        ...inference.upstreams.permissions,
        ...limits.permissions,
        { actions: ['sqs:SendMessage'], resource: this.queue.queueArn },
      ],
    };
  }

  /** Names the queue to a function. */
  get queueEnvironment(): Record<string, string> {
    return { EVALUATIONS_QUEUE: this.queue.queueUrl };
  }

  /**
   * What the function needs that decides which calls are judged.
   *
   * @param isReader whether it has what readers of streams have already
   */
  watcher(storage: Storage, isReader: boolean): Needs {
    const reads = isReader ? {} : ({ calls: 'publish', payloads: 'read' } as const);
    return {
      environment: { ...this.queueEnvironment, [tables.objects.variable]: storage.objects.tableName },
      permissions: [
        ...storePermissions({ ...reads, objects: 'query' }, storage),
        // It asks for the time from which on calls are judged.
        { actions: ['sqs:SendMessage', 'sqs:GetQueueAttributes'], resource: this.queue.queueArn },
      ],
    };
  }
}

interface EvaluatorsProps {
  readonly config: Config;
  readonly settings: NonNullable<Config['evaluators']>;
  readonly storage: Storage;
  readonly streams: Streams;
  readonly evaluations: Evaluations;
  readonly inference: Inference;
  /** What redacts what judges say and are asked; undefined without the setting. */
  readonly redaction: Redaction | undefined;
  /** Where the functions log. */
  readonly logGroup: ILogGroup;
  readonly bundles: ReadonlyMap<string, string>;
}

/**
 * The function that asks judges, and the one that decides which calls they judge, unless the function
 * of events does that, too: a stream has room for two readers. docs/evaluators.md is for those who
 * use them.
 */
export class Evaluators extends Construct {
  constructor(scope: Construct, id: string, props: EvaluatorsProps) {
    super(scope, id);
    if (!props.config.events) this.#makeWatcher(props);
    this.#makeJudge(props);
  }

  #makeWatcher({ config, storage, streams, evaluations, logGroup, bundles }: EvaluatorsProps): void {
    const { environment, permissions } = evaluations.watcher(storage, false);
    const made = new ServiceFunction(this, 'Watcher', {
      config,
      code: bundleOf(bundles, 'evaluators'),
      description: 'Decides which calls evaluators judge',
      memoryMb: 512,
      timeoutSeconds: 60,
      logGroup,
      environment: {
        ...readerEnvironment(config, storage),
        ...environment,
        DEAD_LETTERS: streams.deadLetters.queueUrl,
      },
      permissions: [...permissions, ...streams.permissions([storage.calls])],
    });
    streams.subscribe(made, { calls: storage.calls }, batchesOfChanges);
  }

  #makeJudge(props: EvaluatorsProps): void {
    const { config, settings, storage, streams, evaluations, inference, redaction, logGroup, bundles } =
      props;
    const { queue } = evaluations;
    const nearly = nearlyReachedNeeds(config);
    const made = new ServiceFunction(this, 'Judge', {
      config,
      code: redaction?.code('judge') ?? bundleOf(bundles, 'judge'),
      description: 'Judges calls and stores the verdicts',
      memoryMb: 512,
      timeoutSeconds: judgeSeconds,
      logGroup,
      environment: {
        ...readerEnvironment(config, storage),
        [tables.objects.variable]: storage.objects.tableName,
        [tables.rollups.variable]: storage.rollups.tableName,
        ...(config.limits && { LIMITS: config.limits.unpriced }),
        ...nearly.environment,
        ...inference.upstreams.environment,
        ...redaction?.environment,
        DEAD_LETTERS: streams.deadLetters.queueUrl,
        MAX_RECEIVES: String(maxReceives),
        LEASES_OF_PROJECT: String(leasesOfProject(settings.concurrency)),
        ...evaluations.queueEnvironment,
      },
      permissions: [
        ...storePermissions(
          {
            ...{ calls: 'judge', payloads: 'change', objects: 'read', costs: 'read' },
            ...{ feedback: 'create', rollups: 'judge' },
          },
          storage,
        ),
        ...(config.limits ? [{ actions: ['dynamodb:Query'], resource: storage.objects.tableArn }] : []),
        ...nearly.permissions,
        ...inference.upstreams.permissions,
        {
          // It puts back what has to wait for others of its project.
          actions: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:SendMessage'],
          resource: queue.queueArn,
        },
        { actions: ['sqs:SendMessage'], resource: streams.deadLetters.queueArn },
      ],
      withoutQueue: 'The queue that wakes it has one, for messages that it fails for.',
    });
    const jobs = new EventSourceMapping(made, 'Jobs', {
      target: made.handler,
      eventSourceArn: queue.queueArn,
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
