/**
 * The functions as they are deployed, each in a process of its own with the memory that it has on Lambda: what processor time a request takes from the event
 * to the end of the answer, and how much memory. docs/decisions/0143 rests on these figures.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { S3Client } from '@aws-sdk/client-s3';
import { toContext } from '../core/auth/index.ts';
import { dynamodbClient } from '../core/storage/index.ts';
import { proxyEvent } from '../local/gateway/event.ts';
import { type Match, matcher } from '../local/gateway/match.ts';
import { startEchoModel, withUpstream } from '../local/inference.ts';
import { startS3 } from '../local/s3.ts';
import { localCredentials, localRegion, storeEnvironment } from '../local/store.ts';
import { createStores } from '../local/tables.ts';
import type { FunctionSpec } from '../local/template/functions.ts';
import { readStack, type StackSpec } from '../local/template/stack.ts';
import type { Call } from './calls.ts';
import { type Figure, measured } from './figures.ts';
import type { Invocation, Invoked } from './function-process.ts';
import { type Probe, probesOf } from './function-requests.ts';
import type { BenchContext, Part } from './part.ts';

/** What Lambda's runtime for Node gives V8 of a function's memory. */
const memoryFlags = (memoryMb: number): string[] => [
  `--max-semi-space-size=${Math.floor(memoryMb * 0.05)}`,
  `--max-old-space-size=${Math.floor(memoryMb * 0.9)}`,
];

/** A function in a process, which ends with it. */
class FunctionProcess implements Disposable {
  readonly #child: ChildProcess;

  constructor(spec: FunctionSpec, memoryMb: number, environment: Readonly<Record<string, string>>) {
    this.#child = fork(new URL('./function-process.ts', import.meta.url), [`${spec.folder}/index.cjs`], {
      execArgv: memoryFlags(memoryMb),
      env: { PATH: process.env.PATH, ...environment, ...spec.environment },
      // V8 has much to say of a heap that is full.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
  }

  /** Lets it answer an event; undefined where the process ended over it. */
  async invoke(event: object): Promise<Invoked | undefined> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const ended = () => resolve(undefined);
    this.#child.once('exit', ended);
    this.#child.send({ event: JSON.stringify(event) } satisfies Invocation);
    const answered = once(this.#child, 'message').then(([message]) => message as Invoked);
    const invoked = await Promise.race([answered, promise]);
    this.#child.off('exit', ended);
    return invoked;
  }

  [Symbol.dispose](): void {
    this.#child.kill();
  }
}

/** The stack on stores of its own, with a model that echoes. */
interface Deployment {
  readonly stack: StackSpec;
  readonly functions: readonly FunctionSpec[];
  readonly environment: Readonly<Record<string, string>>;
}

const deploy = async ({ bench }: BenchContext, cleanup: AsyncDisposableStack): Promise<Deployment> => {
  const { dynamodb, assembly } = (await bench()).given;
  const [s3, model] = await Promise.all([startS3(), startEchoModel()]);
  cleanup.defer(() => s3.stop());
  cleanup.defer(() => model.stop());
  const config = { region: localRegion, credentials: localCredentials };
  const stack = readStack(assembly, `bench-${randomUUID().slice(0, 13)}`);
  const client = dynamodbClient({ ...config, endpoint: dynamodb });
  const buckets = new S3Client({ ...config, endpoint: s3.endpoint, forcePathStyle: true });
  await createStores(stack, client, buckets);
  client.destroy();
  buckets.destroy();
  return {
    stack,
    functions: withUpstream(stack, model),
    environment: storeEnvironment(dynamodb, s3.endpoint),
  };
};

const caller = toContext({
  user: 'ada',
  keyId: '0123456789abcdef',
  grants: [
    { scope: '*', role: 'write' },
    { scope: '*', role: 'inference' },
  ],
});

const eventOf = ({ api }: StackSpec, { path, body }: Probe, match: Match): object =>
  proxyEvent(
    api,
    {
      ...{ id: randomUUID(), method: 'POST', path, query: new URLSearchParams() },
      headers: [
        ['content-type', 'application/json'],
        ['openai-project', 'acme/shop'],
      ],
      ...{ sourceIp: '127.0.0.1', receivedAt: Date.now() },
    },
    match,
    { authorizer: { ...caller }, body: Buffer.from(JSON.stringify(body())) },
  );

/** How often a request is made. */
interface Rounds {
  /** Before it is measured: until then V8 has compiled what it will. */
  readonly before: number;
  readonly measured: number;
}

const roundsOf = ({ large }: Probe): Rounds =>
  large ? { before: 1, measured: 4 } : { before: 20, measured: 15 };

/** Enough for a process to hold what it ever will. */
const twice: Rounds = { before: 0, measured: 2 };

/** Lets a process answer a probe over and over; undefined where it had too little memory. */
const invokeOften = async (
  held: FunctionProcess,
  { path, name }: Probe,
  event: () => object,
  rounds: Rounds,
): Promise<Invoked[] | undefined> => {
  const all: Invoked[] = [];
  for (let i = 0; i < rounds.before + rounds.measured; i++) {
    const invoked = await held.invoke(event());
    if (!invoked) return undefined;
    const { text, log } = invoked;
    if (!log.includes('"status":200'))
      throw new Error(`${path}, ${name}: ${text.slice(0, 500)} ${log.slice(0, 500)}`);
    all.push(invoked);
  }
  return all.slice(rounds.before);
};

/** Beside its own, what a function is tried with, in MB. */
const otherSizes = [256, 512] as const;

/** A function under trial. */
interface Trial {
  /** The path of its route. */
  readonly path: string;
  readonly memoryMb: number;
  readonly probes: readonly Probe[];
  /** Starts it with so much memory. */
  readonly start: (memoryMb: number) => FunctionProcess;
  /** Lets it answer a probe over and over; undefined where it had too little memory. */
  readonly answers: (held: FunctionProcess, probe: Probe, rounds: Rounds) => Promise<Invoked[] | undefined>;
}

const trialOf = (
  { stack, functions, environment }: Deployment,
  match: Match,
  probes: readonly Probe[],
): Trial => {
  const { path, function: wanted } = match.route;
  const spec = functions.find(({ arn }) => arn === wanted.arn);
  if (!spec) throw new Error(`${path} has no function`);
  return {
    ...{ path, memoryMb: spec.memoryMb, probes },
    start: (memoryMb) => new FunctionProcess(spec, memoryMb, environment),
    answers: (held, probe, rounds) => invokeOften(held, probe, () => eventOf(stack, probe, match), rounds),
  };
};

const peakOf = (answers: readonly Invoked[] | undefined): number =>
  answers ? Math.max(...answers.map(({ peakMb }) => peakMb)) : Number.POSITIVE_INFINITY;

const memoryFigure = ({ path }: Trial, memoryMb: number, peaks: readonly number[], atMost?: number): Figure =>
  measured(`${path}: memory of ${memoryMb} MB`, 'MB at most', [Math.max(...peaks)], {
    ...(atMost !== undefined && { atMost }),
  });

/** With the memory that the function has: the processor time of its requests, and the memory that they took. */
const ownFigures = async (trial: Trial): Promise<Figure[]> => {
  const figures: Figure[] = [];
  const peaks: number[] = [];
  using held = trial.start(trial.memoryMb);
  for (const probe of trial.probes) {
    const answers = await trial.answers(held, probe, roundsOf(probe));
    if (!answers) throw new Error(`${trial.path}, ${probe.name}: ${trial.memoryMb} MB are not enough`);
    const times = answers.map(({ cpuMs }) => cpuMs);
    figures.push(measured(`${trial.path}, ${probe.name}: processor`, 'ms', times));
    peaks.push(peakOf(answers));
  }
  return [...figures, memoryFigure(trial, trial.memoryMb, peaks, trial.memoryMb)];
};

/** With less: the memory that its largest requests took. */
const figuresWithLess = async (trial: Trial): Promise<Figure[]> => {
  const large = trial.probes.filter((probe) => probe.large);
  if (large.length === 0) return [];
  const figures: Figure[] = [];
  for (const size of otherSizes.filter((other) => other < trial.memoryMb)) {
    const peaks: number[] = [];
    using held = trial.start(size);
    for (const probe of large) {
      peaks.push(peakOf(await trial.answers(held, probe, twice)));
      if (peaks.at(-1) === Number.POSITIVE_INFINITY) break;
    }
    figures.push(memoryFigure(trial, size, peaks));
  }
  return figures;
};

const run = async (context: BenchContext): Promise<Figure[]> => {
  const [first, ...more] = context.calls;
  if (!first) return [];
  await using cleanup = new AsyncDisposableStack();
  const deployment = await deploy(context, cleanup);
  const match = matcher(deployment.stack.api.routes);
  const calls: readonly [Call, ...Call[]] = [first, ...more];
  const byRoute = Map.groupBy(probesOf(calls), ({ path }) => path);
  const figures: Figure[] = [];
  for (const [path, probes] of byRoute) {
    const found = match('POST', path);
    if (!found) throw new Error(`there is no route ${path}`);
    context.progress(`  ${path}`);
    const trial = trialOf(deployment, found, probes);
    figures.push(...(await ownFigures(trial)), ...(await figuresWithLess(trial)));
  }
  return figures;
};

/** Processor time and memory of the functions. */
export const functions: Part = {
  name: 'functions',
  title:
    'The functions as deployed: processor time of a request, and the most memory that a process held (Infinity: it ran out)',
  run,
};
