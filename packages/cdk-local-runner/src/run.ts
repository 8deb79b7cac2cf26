import type { RequestListener } from 'node:http';
import type { Credentials, Signing } from 'aws-stand-in';
import { collect, gateway } from './gateway/index.ts';
import {
  type Concurrency,
  type Functions,
  makeFunctions,
  type PoolLimits,
  type StartContainer,
} from './runtime/index.ts';
import {
  busEnvironment,
  type EntryFate,
  type EventBus,
  runQueues,
  runSchedules,
  runStreams,
  startEventBus,
} from './streams/index.ts';
import { type FunctionSpec, queueUrls, type StackSpec } from './template/index.ts';

/**
 * Names the source of a function's lines: its route, or `authorizer`; the function's name
 * otherwise.
 */
export const sourceNames = ({ api }: Pick<StackSpec, 'api'>): ((name: string) => string) => {
  // Of routes that share a function, the first.
  const sources = new Map(api.routes.toReversed().map(({ function: { name }, path }) => [name, path]));
  for (const { authorizer } of api.routes)
    if (authorizer) sources.set(authorizer.function.name, 'authorizer');
  return (name) => sources.get(name) ?? name;
};

/** How to run a stack. */
export interface RunOptions {
  readonly stack: StackSpec;
  /** Variables of every function, beside its own: where its stores are, and with which credentials. */
  readonly environment: Readonly<Record<string, string>>;
  /** The endpoint of the DynamoDB whose streams wake functions. */
  readonly dynamodb: string;
  /** What requests for its streams are signed with. */
  readonly credentials: Credentials;
  /** The functions in place of the stack's, by their ARNs. @default - as the stack declares them */
  readonly functions?: readonly FunctionSpec[];
  /** What requests to queues, topics and the event bus have to be signed with. @default - any signature will do */
  readonly signing?: Signing;
  /** Which of a stream's records come: all that it has, or those from now on. @default 'TRIM_HORIZON' */
  readonly from?: 'TRIM_HORIZON' | 'LATEST';
  /** Is called after each batch of a stream that a function has done. @default - nothing is */
  readonly afterBatch?: () => Promise<void>;
  /** The longest time that a batch of a stream gathers, in ms. @default - as deployed */
  readonly maxWindowMs?: number;
  /** What delays of messages are multiplied by. @default 1 */
  readonly delayFactor?: number;
  /** The longest time until a message that was not done comes again, in ms. @default - as deployed */
  readonly maxVisibilityMs?: number;
  /** The longest time between two invocations by a schedule, in ms. @default - as deployed */
  readonly maxScheduleMs?: number;
  /** Says which events the bus does not take. @default - it takes all */
  readonly eventFate?: EntryFate;
  readonly concurrency?: Concurrency;
  /** The bounds on the workers of all functions together. @default - for ordinary use */
  readonly poolLimits?: PoolLimits;
  /** What runs the functions. @default - threads */
  readonly startContainer?: StartContainer;
  /**
   * Takes each line of the functions, the gateway, streams and schedules, with its source.
   * @default - lines are dropped
   */
  readonly log?: (source: string, line: string) => void;
}

/** A stack that runs. */
export interface RunningStack {
  /** Answers requests as the stage of its REST API does. */
  readonly listener: RequestListener;
  readonly functions: Functions;
  /** Its queues, topics and event bus. */
  readonly bus: EventBus;
  /**
   * Brings what streams and queues have, for a moment at most, and ends. What serves the listener should
   * have ended before.
   */
  stop(): Promise<void>;
}

/** Has variables lead to the queues here: the client of SQS sends to where a queue's URL leads. */
const withQueuesAt = (endpoint: string, functions: readonly FunctionSpec[], { account }: StackSpec['api']) =>
  functions.map((spec) => ({
    ...spec,
    environment: Object.fromEntries(
      Object.entries(spec.environment).map(([name, value]) => [
        name,
        value.startsWith(queueUrls) ? `${endpoint}/${account}/${value.slice(queueUrls.length)}` : value,
      ]),
    ),
  }));

/**
 * Runs the functions of a stack: its API invokes them, and so do its streams, queues and schedules. The
 * stores have to be there, with the stack's tables and buckets. If it fails, nothing is left running.
 *
 * @throws Error if a table has no stream that should have one
 */
export const runStack = async ({
  stack,
  environment,
  dynamodb,
  credentials,
  functions: specs = stack.functions,
  signing,
  from = 'TRIM_HORIZON',
  afterBatch = async () => {},
  maxWindowMs = Number.POSITIVE_INFINITY,
  delayFactor = 1,
  maxVisibilityMs = Number.POSITIVE_INFINITY,
  maxScheduleMs = Number.POSITIVE_INFINITY,
  eventFate,
  concurrency,
  poolLimits,
  startContainer,
  log = () => {},
}: RunOptions): Promise<RunningStack> => {
  await using cleanup = new AsyncDisposableStack();
  const bus = await startEventBus(eventFate, delayFactor, signing);
  cleanup.defer(() => bus.stop());
  const sourceName = sourceNames(stack);
  const functions = makeFunctions({
    specs: withQueuesAt(bus.endpoint, specs, stack.api),
    environment: { ...environment, ...busEnvironment(bus) },
    log: (name, line) => log(sourceName(name), line),
    ...(concurrency && { concurrency }),
    ...(poolLimits && { poolLimits }),
    ...(startContainer && { startContainer }),
  });
  bus.invokeBy(async (name, event) => {
    const spec = stack.functions.find((candidate) => candidate.name === name);
    if (!spec) throw new Error(`there is no function ${name}`);
    return collect(await functions.getFunction(spec).invoke(event, new AbortController().signal));
  });
  cleanup.defer(() => functions.kill());
  cleanup.defer(() => functions.waitUntilIdle());
  cleanup.defer(
    runQueues({
      stack,
      functions,
      getQueue: bus.getQueue,
      giveUp: bus.addDeadLetter,
      maxVisibilityMs,
    }),
  );
  cleanup.defer(
    runSchedules({
      stack,
      functions,
      maxPauseMs: maxScheduleMs,
      failed: (error) => log('schedules', String(error)),
    }),
  );
  cleanup.defer(
    await runStreams({
      stack,
      dynamodb,
      credentials,
      functions,
      bus,
      maxWindowMs,
      from,
      after: afterBatch,
      failed: (error) => log('streams', String(error)),
    }),
  );
  const listener = gateway({ api: stack.api, functions, log: (line) => log('gateway', line) });
  const owned = cleanup.move();
  return { listener, functions, bus, stop: () => owned.disposeAsync() };
};
